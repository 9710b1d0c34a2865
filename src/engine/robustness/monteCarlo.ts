// Monte Carlo over trades: the positions of a run in another order, and drawn with replacement.
import { positionsOf } from '../report/positions.ts';
import { uniform } from '../sweep/seeded.ts';
import { distributionOf, shareOf, type Distribution } from './distribution.ts';
import type { CheckRun } from './checkRuns.ts';

const SAMPLES = 2_000;
/** The most positions that are drawn in all, about a second of work: runs with very many get fewer samples. */
const MAX_DRAWS = 40_000_000;
const MIN_SAMPLES = 100;

export interface MonteCarlo {
  readonly positions: number;
  readonly samples: number;
  /** All numbers of this analysis, those of `actual` too: the baseline's drawdown is marked at every close. */
  readonly basis: 'exits';
  /** The positions in the order in which they were closed; drawdown at exits, not inside positions. */
  readonly actual: { readonly returnPct: number; readonly maxDrawdown: number };
  /** The same positions in random order: the return is the same, the drawdown is not. */
  readonly shuffled: { readonly maxDrawdown: Distribution };
  /** As many positions drawn with replacement. */
  readonly resampled: {
    readonly returnPct: Distribution;
    readonly maxDrawdown: Distribution;
    readonly lossProbability: number | null;
  };
}

/**
 * A position earns the same fraction of the balance wherever it stands, so that the returns compound. null below two
 * positions.
 */
export function monteCarlo({ prepared, simulation }: CheckRun, seed: number): MonteCarlo | null {
  let balance = prepared.input.config.initialBalance;
  const returns: number[] = [];
  for (const pnl of positionsOf(simulation.tradeLog).pnl) {
    if (balance <= 0) break;
    returns.push(pnl / balance);
    balance += pnl;
  }
  if (returns.length < 2) return null;
  const samples = Math.max(MIN_SAMPLES, Math.min(SAMPLES, Math.floor(MAX_DRAWS / (2 * returns.length))));
  const shuffled = new Float64Array(samples);
  const resampled = { returnPct: new Float64Array(samples), maxDrawdown: new Float64Array(samples) };
  const order = Float64Array.from(returns);
  for (let sample = 0; sample < samples; sample++) {
    shuffle(order, seed, sample);
    shuffled[sample] = pathOf(order).maxDrawdown;
    const drawn = Float64Array.from(
      returns,
      (_, at) => returns[Math.floor(uniform(seed, sample, at, 1) * returns.length)],
    );
    const path = pathOf(drawn);
    resampled.returnPct[sample] = path.returnPct;
    resampled.maxDrawdown[sample] = path.maxDrawdown;
  }
  return {
    positions: returns.length,
    samples,
    basis: 'exits',
    actual: pathOf(returns),
    shuffled: { maxDrawdown: distributionOf(shuffled) },
    resampled: {
      returnPct: distributionOf(resampled.returnPct),
      maxDrawdown: distributionOf(resampled.maxDrawdown),
      lossProbability: shareOf(resampled.returnPct, (value) => value < 0),
    },
  };
}

/** Fisher and Yates, from the order of the sample before. */
function shuffle(values: Float64Array, seed: number, sample: number): void {
  for (let at = values.length - 1; at > 0; at--) {
    const other = Math.floor(uniform(seed, sample, at) * (at + 1));
    [values[at], values[other]] = [values[other], values[at]];
  }
}

/** A balance that falls to nothing stays there. */
function pathOf(returns: ArrayLike<number>): { returnPct: number; maxDrawdown: number } {
  let balance = 1;
  let peak = 1;
  let maxDrawdown = 0;
  for (let at = 0; at < returns.length && balance > 0; at++) {
    balance = Math.max(0, balance * (1 + returns[at]));
    if (balance > peak) peak = balance;
    else if (1 - balance / peak > maxDrawdown) maxDrawdown = 1 - balance / peak;
  }
  return { returnPct: balance - 1, maxDrawdown };
}
