// Where a value stands between the extremes of a moving window.
import { blockExtremes, extremeCells, extremeRows, LARGEST, SMALLEST } from './rollingExtremes.ts';
import { simdMemory } from './simd/simdMemory.ts';
import { rolling } from './simd/rolling.ts';

const NUMBER_BYTES = 8;

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
  const n = close.length;
  const block = extremeRows(length);
  const cells = extremeCells(length);
  const { values } = simdMemory(3 * cells * NUMBER_BYTES);
  for (let start = first; start + length <= n; start += block) {
    const rows = Math.min(block, n - length + 1 - start);
    const last = start + length - 1;
    values.set(close.subarray(last, last + rows), 2 * cells);
    blockExtremes(LARGEST, high, start, 0, rows, length);
    blockExtremes(SMALLEST, low, start, cells, rows, length);
    rolling.stochastic(0, cells * NUMBER_BYTES, 2 * cells * NUMBER_BYTES, rows * NUMBER_BYTES, epsilon);
    out.set(values.subarray(0, rows), last);
  }
}
