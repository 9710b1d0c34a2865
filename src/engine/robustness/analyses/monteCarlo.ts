// Monte Carlo over trades: the positions of a run in another order, and drawn with replacement.
import { uniform } from '../../sweep/seeded.ts';
import { bound } from '../bound.ts';
import { distributionOf, shareOf, type Distribution } from '../distribution.ts';
import type { CheckRun } from '../checkRuns.ts';
import { info, percent, warning, type Finding } from '../finding.ts';
import { isRotation, profitsOf } from '../tradeUnits.ts';
import type { Analysis } from './analysis.ts';
import { distributionsOf, medianRow, runRow, wholeOf } from './partOutcomes.ts';

const SAMPLES = 2_000;
/** The most positions that are drawn in all, about a second of work: runs with very many get fewer samples. */
const MAX_DRAWS = 40_000_000;
const MIN_SAMPLES = 100;
/** More losing draws of the positions than this, one in twenty, and a few of them make the result. */
const MAX_TRADE_LOSSES = 0.05;

interface MonteCarlo {
  readonly positions: number;
  readonly samples: number;
  /**
   * Where all numbers of this analysis are measured, those of `actual` too: the baseline's drawdown is marked at every
   * close. `rebalances`: the positions are the periods between the rebalances of a rotation.
   */
  readonly basis: 'exits' | 'rebalances';
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

const PERIODS = 'periods between rebalances';
const rowNames = { exits: 'trades', rebalances: 'periods' } as const;

/** null: fewer than two positions. */
export const monteCarloAnalysis = {
  name: 'monteCarlo',
  about: 'positions in another order, and drawn again',
  partsOf: () => 1,
  runsPerPart: 1,
  runPart: (check) =>
    check.withBaseline((baseline) => ({ kind: 'whole', value: monteCarlo(baseline, check.context.spec.seed) })),
  resultOf: (ended) => wholeOf(ended) as MonteCarlo | null,
  boundsOf: (result) => [
    bound('tradeLossProbability', 'monteCarlo', result?.resampled.lossProbability, '<=', MAX_TRADE_LOSSES),
    bound('drawdownAtExits', 'monteCarlo', result?.actual.maxDrawdown, '>=', result?.shuffled.maxDrawdown.p5),
  ],
  findingsOf(result, _, failed) {
    if (result === null)
      return { remarks: [info('TOO_FEW_POSITIONS', 'Fewer than two positions: trades cannot be reordered.')] };
    const { shuffled, resampled, actual, samples, basis } = result;
    const [units, trades] = basis === 'exits' ? ['positions', 'trades'] : [PERIODS, PERIODS];
    const weaknesses: Finding[] = [];
    const losses = failed.get('tradeLossProbability');
    if (losses !== undefined)
      weaknesses.push(
        warning(
          'TRADES_LUCKY',
          `Drawn again at random, the ${units} lose money in ${percent(resampled.lossProbability)} of ` +
            `${samples} draws (at most ${percent(losses.limit)} is allowed): a few of them make the result.`,
        ),
      );
    if (failed.has('drawdownAtExits'))
      weaknesses.push(
        warning(
          'DRAWDOWN_LUCKY',
          `The order of the ${trades} was lucky: measured at ${basis}, the drawdown was ` +
            `${percent(actual.maxDrawdown)}; in another order expect ${percent(shuffled.maxDrawdown.p50)}, and ` +
            `${percent(shuffled.maxDrawdown.p95)} in one order of twenty.`,
        ),
      );
    return { weaknesses };
  },
  reportOf: (result) =>
    result === null
      ? {}
      : {
          samples: [
            runRow(`${rowNames[result.basis]} as they were, at ${result.basis}`, result.actual),
            medianRow(`${rowNames[result.basis]} drawn again, at ${result.basis}`, result.resampled),
          ],
          distributions: [
            ...distributionsOf(result.resampled, result.actual, 'drawn again'),
            ...distributionsOf(result.shuffled, result.actual, 'in another order'),
          ],
        },
} as const satisfies Analysis<MonteCarlo | null>;

/**
 * A position, or a period between rebalances, earns the same fraction of the balance wherever it stands, so that the
 * returns compound. null below two of them.
 */
export function monteCarlo(run: CheckRun, seed: number): MonteCarlo | null {
  let balance = run.input.config.initialBalance;
  const returns: number[] = [];
  for (const pnl of profitsOf(run)) {
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
    basis: isRotation(run) ? 'rebalances' : 'exits',
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
