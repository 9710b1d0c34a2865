// Folds of a walk-forward: consecutive windows of time for training and testing.
import type { Bars, Universe } from '../bars/bars.ts';
import { DAY_MS } from '../bars/bars.ts';
import { rowsInRange } from '../bars/rowRange.ts';
import { timeAxisOf } from '../bars/timeAxis.ts';
import { closeOf } from '../bars/timeframes.ts';
import { resolveConfig } from '../config.ts';
import { openedMarkets, type MarketOf, type MeasuredRows } from '../comparedRun.ts';
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
 * Divides the range of the config's market, of a portfolio the instants of its axis: the first `trainFraction` of them,
 * then `folds` test windows of equal length. An anchored fold trains from the first bar on, a rolling one on as many
 * bars as the first fold. The purged and the embargoed bars lie between training and test.
 */
export function foldsOf(spec: SweepSpec, marketOf: MarketOf): Fold[] {
  if (spec.walkForward === undefined) return [];
  const { config } = spec;
  const opened = openedMarkets(config, marketOf);
  if ('code' in opened) return [];
  const bars = 'instruments' in opened ? axisOf(opened) : opened.base;
  const { first, end } = rowsInRange(bars, resolveConfig(config).range);
  return cutFolds(spec.walkForward, first, end).map(({ train, test }) => ({
    train: windowOf(bars, train),
    test: windowOf(bars, test),
  }));
}

type AxisBars = Pick<Bars, 'time' | 'timeframe' | 'length'>;

/** A row per instant at which any instrument has a bar. */
function axisOf({ instruments }: Universe): AxisBars {
  const { time } = timeAxisOf(instruments.map(({ base }) => base));
  return { time, timeframe: instruments[0].base.timeframe, length: time.length };
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
function windowOf(bars: AxisBars, [from, to]: Rows): Window {
  const openOf = (row: number): number => (row < bars.length ? bars.time[row] : closeAt(bars, bars.length - 1));
  return { start: openOf(from), end: to > from ? closeAt(bars, to - 1) : openOf(from) };
}

/** No market that goes on pauses for longer: the longest holidays of exchanges take less than two weeks. */
const MAX_PAUSE_MS = 14 * DAY_MS;

/**
 * Whether the evaluated bars of a training window go on to about its end. A series that ended before has no bars to
 * trade in the test window. Only the training window is read.
 */
export function reachesEnd({ bars, start, end }: MeasuredRows, window: Window): boolean {
  if (end <= start) return false;
  return closeAt(bars, end - 1) >= window.end - MAX_PAUSE_MS;
}

/** The share of a window's time from the open of the first evaluated bar to the close of the last. */
export function coveredShare({ bars, start, end }: MeasuredRows, window: Window): number {
  if (end <= start || window.end <= window.start) return 0;
  return Math.min(1, (closeAt(bars, end - 1) - bars.time[start]) / (window.end - window.start));
}

const closeAt = (bars: MeasuredRows['bars'], row: number): number => closeOf(bars.timeframe, bars.time[row]);
