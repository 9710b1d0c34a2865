// The values of a pattern (signs.wat), written into columns that lie in memories of their own, or into the memory of
// the kernels.
import { wordCount } from '../../kernels/bits.ts';
import { memoryUnderOwned } from '../../kernels/ownedColumns.ts';
import { compileModule, kernelMemory, simdMemory } from '../../kernels/simdMemory.ts';
import { SIGN_VALUES } from '../../patterns/programSteps.ts';
import type { PatternValues } from '../../patterns/signs.ts';
import { SIGNS_WASM } from '../wasm.ts';

/**
 * Writes a value per row of the bits at SIGNS: 100 or -100, and 80 where tied.
 * @param size of the bits: two bytes for 16 rows, not 0
 */
type WriteValues = (address: number, size: number) => void;

interface SignKernels {
  readonly integers: WriteValues;
  readonly doubles: WriteValues;
}

const module = compileModule(SIGNS_WASM);
const instances = new WeakMap<WebAssembly.Memory, SignKernels>();

/** The kernels that write to a memory. */
function signKernels(values: WebAssembly.Memory): SignKernels {
  const known = instances.get(values);
  if (known !== undefined) return known;
  const { exports } = new WebAssembly.Instance(module, { host: { values, bits: kernelMemory } });
  const kernels = exports as unknown as SignKernels;
  instances.set(values, kernels);
  return kernels;
}

/** How many rows the kernels write at once. */
const ROWS_AT_ONCE = 16;

/** Writes the values of rows `from` … `end`-1 of a block that begins with row `start`. */
export function writeSignValues(out: PatternValues, start: number, from: number, end: number): true {
  // In place, nothing but these rows can be written: all of them, and a whole number of what is written at once.
  const isWhole = from === start && (end - start) % ROWS_AT_ONCE === 0;
  const memory = isWhole ? memoryUnderOwned(out) : undefined;
  const kernels = signKernels(memory ?? kernelMemory);
  const write = out instanceof Int32Array ? kernels.integers : kernels.doubles;
  if (memory !== undefined) {
    write(out.byteOffset + start * out.BYTES_PER_ELEMENT, (end - start) / 8);
    return true;
  }
  write(SIGN_VALUES, 4 * wordCount(end - start));
  const { integers, values } = simdMemory(0);
  const at = SIGN_VALUES / out.BYTES_PER_ELEMENT;
  out.set((out instanceof Int32Array ? integers : values).subarray(at + from - start, at + end - start), from);
  return true;
}
