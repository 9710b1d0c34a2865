// Alignment: which bar of another series is known at the close of a base bar.
import { TIMEFRAME_MS } from './bars.ts';
import type { Bars } from './bars.ts';

/**
 * For each base bar the row of `other` that is known at its close, -1 where there is none. The same instrument: the
 * last bar closed at or before the base close (semantics §1.6), however old. Another instrument (semantics §1.7), which
 * is never filled forward: the same timeframe, the bar closing exactly then; a coarser one, the bar of the bucket that
 * ended last, that is, closed less than one of its bars ago; else missing.
 */
export function alignRows(base: Bars, other: Bars): Int32Array {
  const baseMs = TIMEFRAME_MS[base.timeframe];
  const otherMs = TIMEFRAME_MS[other.timeframe];
  // When children straddle the end of a bucket, the resampled bar is known only once the last child has closed.
  const knownAfterMs = otherMs + (other.overhangMs ?? 0);
  const oldestMs = base.symbol === other.symbol ? Infinity : baseMs === otherMs ? 1 : otherMs;
  const rows = new Int32Array(base.length);
  const { time } = other;
  let next = 0;
  for (let row = 0; row < base.length; row++) {
    const close = base.time[row] + baseMs;
    while (next < other.length && time[next] + knownAfterMs <= close) next++;
    const last = next - 1;
    rows[row] = last >= 0 && close - (time[last] + knownAfterMs) < oldestMs ? last : -1;
  }
  return rows;
}
