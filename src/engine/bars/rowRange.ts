// Rows of a range of time (semantics §1.12).
import { lowerBound } from '../kernels/search.ts';
import type { Bars } from './bars.ts';
import { longestMs, openOf } from './timeframes.ts';

type TimedBars = Pick<Bars, 'time' | 'timeframe' | 'length'>;

/** Rows [first, end): from the first bar that opens in the range to the last that closes in it; a null end is open. */
export function rowsInRange(
  bars: TimedBars,
  { start, end }: { readonly start: number | null; readonly end: number | null },
): { readonly first: number; readonly end: number } {
  const first = start === null ? 0 : lowerBound(bars.time, start);
  const afterLast = end === null ? bars.length : rowsClosedBy(bars, end);
  return { first, end: Math.max(first, afterLast) };
}

/** How many bars have closed by a time. */
export function rowsClosedBy({ time, timeframe }: Pick<TimedBars, 'time' | 'timeframe'>, by: number): number {
  // Months that open before the month of `by` have closed.
  if (timeframe === '1M') return lowerBound(time, openOf(timeframe, by));
  return lowerBound(time, by - longestMs(timeframe) + 1);
}
