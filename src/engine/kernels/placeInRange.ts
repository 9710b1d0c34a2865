// Where a value stands between the extremes of a moving window.
import { blockExtremes, extremeCells, extremeRows, LARGEST, SMALLEST } from './rollingExtremes.ts';
import { memoryUnderOwned } from './simd/ownedColumns.ts';
import { columnKernels } from './simd/rolling.ts';
import { simdMemory } from './simd/simdMemory.ts';

const NUMBER_BYTES = 8;
/** How many rows the kernel that places values writes at once. */
const ROWS_AT_ONCE = 2;

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
  const [lowest, copied] = [cells * NUMBER_BYTES, 2 * cells * NUMBER_BYTES];
  const owned = memoryUnderOwned(out);
  for (let start = first; start + length <= n; start += block) {
    const rows = Math.min(block, n - length + 1 - start);
    const last = start + length - 1;
    blockExtremes(LARGEST, high, start, 0, rows, length);
    blockExtremes(SMALLEST, low, start, cells, rows, length);
    const { memory, address } = columnKernels.read(close, last, last + rows, 1);
    const size = rows * NUMBER_BYTES;
    if (owned !== undefined && rows % ROWS_AT_ONCE === 0) {
      const to = out.byteOffset + last * NUMBER_BYTES;
      columnKernels.on(memory, owned).stochastic(0, lowest, address, to, size, epsilon);
    } else {
      columnKernels.on(memory).stochastic(0, lowest, address, copied, size, epsilon);
      out.set(values.subarray(2 * cells, 2 * cells + rows), last);
    }
  }
}
