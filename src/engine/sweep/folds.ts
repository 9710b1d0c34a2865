// Folds of a walk-forward: consecutive windows of time for training and testing.
import type { Bars } from '../bars/bars.ts';
import { TIMEFRAME_MS } from '../bars/bars.ts';
import { rowsInRange } from '../bars/rowRange.ts';
import { resolveConfig } from '../config.ts';
import type { MarketOf } from './sweepJob.ts';
import type { SweepSpec } from './sweepRequest.ts';

/** [start, end) in ms, as in `config.range`. */
interface Window {
  readonly start: number;
  readonly end: number;
}
export interface Fold {
  readonly train: Window;
  readonly test: Window;
}

/**
 * Divides the range of the base market: the first `trainFraction` of its bars, then `folds` test windows of equal
 * length. An anchored fold trains from the first bar on, a rolling one on as many bars as the first fold. The purged
 * and the embargoed bars lie between training and test.
 */
export function foldsOf(spec: SweepSpec, marketOf: MarketOf): Fold[] {
  if (spec.walkForward === undefined) return [];
  const { config } = spec;
  const bars = marketOf(config.signalInstrument.symbol, config.timeframe)?.base;
  if (bars === undefined) return [];
  const { first, end } = rowsInRange(bars, resolveConfig(config).range);
  return cutFolds(spec.walkForward, first, end).map(({ train, test }) => ({
    train: windowOf(bars, train),
    test: windowOf(bars, test),
  }));
}

type Rows = readonly [from: number, to: number];

/** Divides rows [first, last) into folds, as `foldsOf` describes; rows are [from, to). */
export function cutFolds(
  { kind, folds, trainFraction, purgeBars, embargoBars }: NonNullable<SweepSpec['walkForward']>,
  first: number,
  last: number,
): { train: Rows; test: Rows }[] {
  const training = Math.floor((last - first) * trainFraction);
  const testing = last - first - training;
  return Array.from({ length: folds }, (_, fold) => {
    const testFrom = first + training + Math.floor((testing * fold) / folds);
    const testTo = first + training + Math.floor((testing * (fold + 1)) / folds);
    const trainFrom = kind === 'anchored' ? first : testFrom - training;
    return {
      train: [trainFrom, Math.max(trainFrom, testFrom - purgeBars)],
      test: [Math.min(testTo, testFrom + embargoBars), testTo],
    };
  });
}

/** The window of some rows; an empty one ends where it begins. */
function windowOf(bars: Bars, [from, to]: Rows): Window {
  const openOf = (row: number): number =>
    row < bars.length ? bars.time[row] : bars.time[bars.length - 1] + TIMEFRAME_MS[bars.timeframe];
  return { start: openOf(from), end: to > from ? bars.time[to - 1] + TIMEFRAME_MS[bars.timeframe] : openOf(from) };
}
