// Where a value stands between the extremes of a moving window.
import { Accelerator } from './accelerator.ts';
import { rollingMax, rollingMin } from './rollingExtremes.ts';

/** What writes `placeInRange` faster. */
export const RANGE_PLACES = new Accelerator<(...input: Parameters<typeof placeInRange>) => true>();

/**
 * out[row] = 100·(close - lowest)/(highest - lowest) of the last `length` rows, rows first+length-1 … n-1; 0 where the
 * range is at most `epsilon` of |highest| + |lowest|.
 */
export function placeInRange(
  high: Float64Array,
  low: Float64Array,
  close: Float64Array,
  first: number,
  length: number,
  epsilon: number,
  out: Float64Array,
): void {
  if (RANGE_PLACES.current?.(high, low, close, first, length, epsilon, out)) return;
  const highest = new Float64Array(close.length);
  const lowest = new Float64Array(close.length);
  rollingMax(high, first, length, highest);
  rollingMin(low, first, length, lowest);
  for (let row = first + length - 1; row < close.length; row++) {
    const [top, bottom] = [highest[row], lowest[row]];
    const range = top - bottom;
    const isFlat = Math.abs(range) <= epsilon * (Math.abs(top) + Math.abs(bottom));
    out[row] = isFlat ? 0 : (close[row] - bottom) / (range / 100);
  }
}
