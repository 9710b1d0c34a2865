// The values of a pattern (signs.wat), written into columns that lie in memories of their own, or into the memory of
// the kernels.
import { compileModule, kernelMemory } from './simdMemory.ts';
import { SIGNS_WASM } from './wasm.ts';

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
export function signKernels(values: WebAssembly.Memory): SignKernels {
  const known = instances.get(values);
  if (known !== undefined) return known;
  const { exports } = new WebAssembly.Instance(module, { host: { values, bits: kernelMemory } });
  const kernels = exports as unknown as SignKernels;
  instances.set(values, kernels);
  return kernels;
}
