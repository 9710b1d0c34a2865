// Alignment: which bar of another series is known at the close of a base bar.
import type { Bars } from './bars.ts';
import { closesOf } from './timeframes.ts';

/**
 * For each base bar the row of `other` that is known at its close, -1 where there is none. The same instrument: the
 * last bar closed at or before the base close (semantics §1.6), however old. Another instrument (semantics §1.7), which
 * is never filled forward: the same timeframe, the bar closing exactly then; a coarser one, the bar of the bucket that
 * ended last, that is, closed less than one of its bars ago; else missing.
 */
export function alignRows(base: Bars, other: Bars): Int32Array {
  const closeOfBase = closesOf(base.timeframe);
  const closeOfOther = closesOf(other.timeframe);
  // When children straddle the end of a bucket, the resampled bar is known only once the last child has closed.
  const overhangMs = other.overhangMs ?? 0;
  const isOwn = base.symbol === other.symbol;
  const isSameTimeframe = base.timeframe === other.timeframe;
  const rows = new Int32Array(base.length);
  const { time } = other;
  let next = 0;
  let nextKnown = other.length > 0 ? closeOfOther(time[0]) + overhangMs : Infinity;
  // From then on the last known bar is too old.
  let oldFrom = -Infinity;
  for (let row = 0; row < base.length; row++) {
    const close = closeOfBase(base.time[row]);
    while (nextKnown <= close) {
      oldFrom = isOwn ? Infinity : isSameTimeframe ? nextKnown + 1 : closeOfOther(nextKnown - overhangMs) + overhangMs;
      next++;
      nextKnown = next < other.length ? closeOfOther(time[next]) + overhangMs : Infinity;
    }
    rows[row] = close < oldFrom ? next - 1 : -1;
  }
  return rows;
}
