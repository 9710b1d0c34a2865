// Statistics of positions (semantics §5.2). A position is the sum of the rows with one positionId.
import type { Trade } from '../simulate/simulation.ts';
import { compensatedSum } from '../kernels/compensatedSum.ts';
import { mean, percentile, standardDeviation } from './moments.ts';

export interface Position {
  readonly side: 1 | -1;
  readonly entryRule: number;
  readonly pnl: number;
  /** pnl / (quantity · entry price). */
  readonly returnPct: number;
  readonly barsHeld: number;
  /** Not above 0: the worst mark between entry and last exit, as a fraction of the entry price. */
  readonly maePct: number;
  readonly mfePct: number;
  /** pnl in units of the initial risk of the whole position; null without a stop. */
  readonly pnlR: number | null;
  /** The exit reason of the row that closed it. */
  readonly exitReason: Trade['exitReason'];
}

/** In order of their last exit. */
export function positionsOf(trades: readonly Trade[]): Position[] {
  const rows = new Map<number, Trade[]>();
  for (const trade of trades) {
    const known = rows.get(trade.positionId);
    if (known) known.push(trade);
    else rows.set(trade.positionId, [trade]);
  }
  const positions = [...rows.values()].map((parts) => ({ last: parts.at(-1)!, position: positionOf(parts) }));
  return positions.sort((a, b) => a.last.exitRow - b.last.exitRow).map(({ position }) => position);
}

function positionOf(parts: readonly Trade[]): Position {
  const last = parts.at(-1)!;
  const quantity = compensatedSum(parts.map((part) => part.quantity));
  const pnl = compensatedSum(parts.map((part) => part.pnl));
  const risk = last.initialRisk === null ? 0 : quantity * last.initialRisk;
  return {
    side: last.side,
    entryRule: last.entryRule,
    pnl,
    returnPct: pnl / (quantity * last.entryPrice),
    barsHeld: last.exitRow - last.entryRow,
    maePct: Math.min(...parts.map((part) => part.maePct)),
    mfePct: Math.max(...parts.map((part) => part.mfePct)),
    pnlR: risk > 0 ? pnl / risk : null,
    exitReason: last.exitReason,
  };
}

export interface PositionStatistics {
  readonly totalPositions: number;
  readonly longPositions: number;
  readonly shortPositions: number;
  /** Share with pnl > 0. */
  readonly winRate: number | null;
  /** Σwin / |Σloss| in money; null without a loss. */
  readonly profitFactor: number | null;
  /** Mean pnl, quote units. */
  readonly expectancy: number | null;
  /** Mean pnl in units of initial risk, over positions with a stop. */
  readonly expectancyR: number | null;
  readonly avgTradePct: number | null;
  readonly medianTradePct: number | null;
  readonly avgWin: number | null;
  /** Negative. */
  readonly avgLoss: number | null;
  readonly winLossRatio: number | null;
  readonly bestTradePct: number | null;
  readonly worstTradePct: number | null;
  readonly maxConsecutiveWins: number;
  readonly maxConsecutiveLosses: number;
  readonly avgBarsHeld: number | null;
  readonly avgMaePct: number | null;
  readonly avgMfePct: number | null;
  /** √n·mean/sd(ddof 1) of pnl (Van Tharp). */
  readonly systemQualityNumber: number | null;
  /** W - (1 - W)/(avgWin/|avgLoss|). */
  readonly kellyFraction: number | null;
}

export function positionStatistics(positions: readonly Position[]): PositionStatistics {
  const pnls = positions.map((position) => position.pnl);
  const wins = pnls.filter((pnl) => pnl > 0);
  const losses = pnls.filter((pnl) => pnl < 0);
  const returns = positions.map((position) => position.returnPct);
  const ascending = Float64Array.from(returns).sort();
  const [expectancy, avgWin, avgLoss, deviation] = [mean(pnls), mean(wins), mean(losses), standardDeviation(pnls)];
  const winRate = positions.length === 0 ? null : wins.length / positions.length;
  const winLossRatio = avgWin === null || avgLoss === null ? null : avgWin / -avgLoss;
  return {
    totalPositions: positions.length,
    longPositions: positions.filter((position) => position.side === 1).length,
    shortPositions: positions.filter((position) => position.side === -1).length,
    winRate,
    profitFactor: losses.length === 0 ? null : compensatedSum(wins) / -compensatedSum(losses),
    expectancy,
    expectancyR: mean(positions.flatMap((position) => position.pnlR ?? [])),
    avgTradePct: mean(returns),
    medianTradePct: percentile(ascending, 50),
    avgWin,
    avgLoss,
    winLossRatio,
    bestTradePct: ascending.at(-1) ?? null,
    worstTradePct: ascending[0] ?? null,
    maxConsecutiveWins: longestRun(pnls, 1),
    maxConsecutiveLosses: longestRun(pnls, -1),
    avgBarsHeld: mean(positions.map((position) => position.barsHeld)),
    avgMaePct: mean(positions.map((position) => position.maePct)),
    avgMfePct: mean(positions.map((position) => position.mfePct)),
    systemQualityNumber:
      deviation === null || deviation === 0 ? null : (Math.sqrt(pnls.length) * expectancy!) / deviation,
    kellyFraction: winRate === null || winLossRatio === null ? null : winRate - (1 - winRate) / winLossRatio,
  };
}

/** A pnl of zero is neither a win nor a loss and does not break a streak. */
function longestRun(pnls: readonly number[], sign: 1 | -1): number {
  let run = 0;
  let longest = 0;
  for (const pnl of pnls) {
    if (pnl * sign > 0) longest = Math.max(longest, ++run);
    else if (pnl !== 0) run = 0;
  }
  return longest;
}
