// Where a value stands between the extremes of a moving window, by kernels: blocks of extremes go from one to the next
// without a column between them.
import { memoryUnderOwned } from '../../kernels/ownedColumns.ts';
import { simdMemory } from '../../kernels/simdMemory.ts';
import { blockExtremes, extremeCells, extremeRows } from '../extremes/blockExtremes.ts';
import { columnKernels } from './columnKernels.ts';

const NUMBER_BYTES = 8;
/** How many rows the kernel that places values writes at once. */
const ROWS_AT_ONCE = 2;

/** See `placeInRange`. */
export function writePlaces(
  high: Float64Array,
  low: Float64Array,
  close: Float64Array,
  first: number,
  length: number,
  epsilon: number,
  out: Float64Array,
): true {
  const n = close.length;
  const block = extremeRows(length);
  const cells = extremeCells(length);
  const { values } = simdMemory(3 * cells * NUMBER_BYTES);
  const [lowest, copied] = [cells * NUMBER_BYTES, 2 * cells * NUMBER_BYTES];
  const owned = memoryUnderOwned(out);
  for (let start = first; start + length <= n; start += block) {
    const rows = Math.min(block, n - length + 1 - start);
    const last = start + length - 1;
    blockExtremes('largest', high, start, 0, rows, length);
    blockExtremes('smallest', low, start, cells, rows, length);
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
  return true;
}
