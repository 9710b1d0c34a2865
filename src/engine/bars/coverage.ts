// Coverage: whether finer bars cover the whole of a coarser series and may stand in for it (semantics §1.13).
import type { Bars, Timeframe } from './bars.ts';
import { closeOf, isIntraday, longestMs } from './timeframes.ts';

/** What coverage is inferred from. */
export type TimedBars = Pick<Bars, 'timeframe' | 'length' | 'time'>;

/**
 * True when every bar of `coarser` holds at least one bar of `finer`. Sessions and minutes without a trade do not
 * matter, missing days do.
 */
export function coversBars(finer: TimedBars, coarser: TimedBars): boolean {
  let child = 0;
  for (let row = 0; row < coarser.length; row++) {
    const open = coarser.time[row];
    while (child < finer.length && finer.time[child] < open) child++;
    if (child === finer.length || finer.time[child] >= closeOf(coarser.timeframe, open)) return false;
  }
  return true;
}

/** What is known of a series without opening it: its timeframe and [start, end) in ms UTC. */
interface SeriesSpan {
  readonly timeframe: Timeframe;
  readonly start: number;
  readonly end: number;
}

/**
 * Whether the ends of the two series allow it. Days, weeks and months begin at midnight and the sessions inside them
 * later, so a bar of tolerance is allowed.
 */
export function coversSpan(finer: SeriesSpan, coarser: SeriesSpan): boolean {
  const toleranceMs = isIntraday(coarser.timeframe) ? 0 : longestMs(coarser.timeframe);
  return finer.start <= coarser.start + toleranceMs && finer.end >= coarser.end - toleranceMs;
}
