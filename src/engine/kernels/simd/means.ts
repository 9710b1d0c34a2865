// Means of single windows of a column in shared memory (means.wat).
import { ColumnModule } from './columnMemory.ts';
import { compileModule, simdMemory } from './simdMemory.ts';
import { memoryUnder } from './sharedMemory.ts';
import { MEANS_WASM } from './wasm.ts';

interface MeanKernels {
  readonly meansAt: (column: number, begins: number, end: number, out: number, size: number) => void;
}

const module = new ColumnModule<MeanKernels>(compileModule(MEANS_WASM));

const NUMBER_BYTES = 8;
const INTEGER_BYTES = 4;
/** How many windows the kernel sums at once. */
const WINDOWS = 4;

/**
 * Writes to out[i] the mean of the window that ends with row rows[i], with the bits of `meansAt` (comparedMeans.ts). A
 * row too early to have a window gets the mean of the first one.
 * @param length of a window in rows, at least 2
 * @returns false, with nothing written: the column is shorter than a window, or not in memory that kernels can read
 */
export function meansOfWindows(source: Float64Array, rows: Int32Array, length: number, out: Float64Array): boolean {
  const columns = memoryUnder(source);
  if (columns === undefined || source.length < length || rows.length === 0) return false;
  const count = Math.ceil(rows.length / WINDOWS) * WINDOWS;
  const begins = count * NUMBER_BYTES;
  const { values, integers } = simdMemory(begins + count * INTEGER_BYTES);
  const at = begins / INTEGER_BYTES;
  for (let index = 0; index < rows.length; index++)
    integers[at + index] = Math.max(0, rows[index] - length + 1) * NUMBER_BYTES;
  integers.fill(0, at + rows.length, at + count);
  const end = begins + count * INTEGER_BYTES;
  module.on(columns).meansAt(source.byteOffset, begins, end, 0, length * NUMBER_BYTES);
  out.set(values.subarray(0, rows.length));
  return true;
}
