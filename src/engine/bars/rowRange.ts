// Rows of a range of time (semantics §1.12).
import { lowerBound } from '../kernels/search.ts';
import { TIMEFRAME_MS, type Bars } from './bars.ts';

/** Rows [first, end): from the first bar that opens in the range to the last that closes in it; a null end is open. */
export function rowsInRange(
  bars: Pick<Bars, 'time' | 'timeframe' | 'length'>,
  { start, end }: { readonly start: number | null; readonly end: number | null },
): { readonly first: number; readonly end: number } {
  const first = start === null ? 0 : lowerBound(bars.time, start);
  const afterLast = end === null ? bars.length : lowerBound(bars.time, end - TIMEFRAME_MS[bars.timeframe] + 1);
  return { first, end: Math.max(first, afterLast) };
}
