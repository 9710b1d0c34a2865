// Statistics of positions (semantics §5.2): how many won, how much, and how long they were held.
import type { BlockValues } from '../definitions/statistics/statistics.ts';
import { lostIn } from '../kernels/compensatedSum.ts';
import { ReusedColumn } from '../kernels/reusedColumn.ts';
import { mean, percentileOf, standardDeviation } from './moments.ts';
import type { Positions } from './positions.ts';

/**
 * The most that rounding can add to the pnl of a position, as a fraction of what it traded. Prices, fees and their
 * difference are each rounded by 2^-53 of that, which makes 5e-16; the rest is headroom.
 */
const ROUNDING_OF_PNL = 1e-14;

/**
 * Statistics of closed positions (semantics §5.2); null where there are too few positions to define one.
 * @param totalNotional Σ quantity · price of all fills
 */
export function positionStatistics(positions: Positions, totalNotional: number): BlockValues<'positions'> {
  const { count, pnl, returnPct } = positions;
  const { wins, losses, won, lost, longestWins, longestLosses } = winsAndLosses(pnl);
  const [worst, best] = extremes(returnPct);
  const expectancy = mean(pnl);
  const avgWin = wins === 0 ? null : won / wins;
  const avgLoss = losses === 0 ? null : lost / losses;
  const deviation = standardDeviation(pnl, 1, expectancy);
  const winRate = count === 0 ? null : wins / count;
  const rounding = (ROUNDING_OF_PNL * totalNotional) / count;
  const hasLost = avgLoss !== null && -avgLoss > rounding;
  const winLossRatio = avgWin !== null && hasLost ? avgWin / -avgLoss : null;
  const longPositions = countSide(positions, 1);
  return {
    totalPositions: count,
    longPositions,
    shortPositions: count - longPositions,
    winRate,
    profitFactor: hasLost ? won / -lost : null,
    expectancy,
    expectancyR: meanOfPresent(positions.pnlR),
    avgTradePct: mean(returnPct),
    medianTradePct: medianOf(returnPct),
    avgWin,
    avgLoss,
    winLossRatio,
    bestTradePct: best,
    worstTradePct: worst,
    maxConsecutiveWins: longestWins,
    maxConsecutiveLosses: longestLosses,
    avgBarsHeld: mean(positions.barsHeld),
    avgMaePct: mean(positions.maePct),
    avgMfePct: mean(positions.mfePct),
    systemQualityNumber:
      deviation === null || deviation <= rounding ? null : (Math.sqrt(count) * expectancy!) / deviation,
    kellyFraction: winRate === null || winLossRatio === null ? null : winRate - (1 - winRate) / winLossRatio,
  };
}

/** A copy of the returns, since `percentileOf` reorders its argument. */
const COPIED_RETURNS = new ReusedColumn();

function medianOf(values: Float64Array): number | null {
  const copy = COPIED_RETURNS.take(values.length);
  copy.set(values);
  return percentileOf(copy, 50);
}

/** The least and the greatest value; null for an empty list. */
export function extremes(values: Float64Array): [least: number | null, greatest: number | null] {
  if (values.length === 0) return [null, null];
  let least = values[0];
  let greatest = values[0];
  for (let index = 1; index < values.length; index++) {
    if (values[index] < least) least = values[index];
    if (values[index] > greatest) greatest = values[index];
  }
  return [least, greatest];
}

function countSide({ side }: Positions, wanted: 1 | -1): number {
  let count = 0;
  for (let index = 0; index < side.length; index++) count += side[index] === wanted ? 1 : 0;
  return count;
}

/** The mean of the values that are not NaN, compensated. */
function meanOfPresent(values: Float64Array): number | null {
  let count = 0;
  let total = 0;
  let lost = 0;
  for (let index = 0; index < values.length; index++) {
    const value = values[index];
    if (value !== value) continue;
    const next = total + value;
    lost += lostIn(total, value, next);
    total = next;
    count++;
  }
  return count === 0 ? null : (total + lost) / count;
}

interface WinsAndLosses {
  readonly wins: number;
  readonly losses: number;
  /** Σ pnl of wins, and Σ pnl of losses; each is compensated. */
  readonly won: number;
  readonly lost: number;
  readonly longestWins: number;
  readonly longestLosses: number;
}

/** A pnl of zero is neither a win nor a loss and does not break a streak. */
function winsAndLosses(pnls: Float64Array): WinsAndLosses {
  let wins = 0;
  let losses = 0;
  let streak = 0;
  let longestWins = 0;
  let longestLosses = 0;
  let won = 0;
  let lowWon = 0;
  let lost = 0;
  let lowLost = 0;
  for (let index = 0; index < pnls.length; index++) {
    const pnl = pnls[index];
    if (pnl > 0) {
      wins++;
      const next = won + pnl;
      lowWon += lostIn(won, pnl, next);
      won = next;
      streak = streak > 0 ? streak + 1 : 1;
      if (streak > longestWins) longestWins = streak;
    } else if (pnl < 0) {
      losses++;
      const next = lost + pnl;
      lowLost += lostIn(lost, pnl, next);
      lost = next;
      streak = streak < 0 ? streak - 1 : -1;
      if (-streak > longestLosses) longestLosses = -streak;
    }
  }
  return { wins, losses, won: won + lowWon, lost: lost + lowLost, longestWins, longestLosses };
}
