// The best of four overlapping windows (bestOfFour.wat), written into the kernels' memory or where the results belong.
import { compileModule, kernelMemory } from './simdMemory.ts';
import { BESTOFFOUR_WASM } from './wasm.ts';

/**
 * Writes the best of four columns, the latest of equals; each begins later than the one before, `out` may be the first
 * or lie before it.
 * The size is a multiple of 64.
 */
type WriteBest = (a: number, b: number, c: number, d: number, out: number, size: number) => void;

type BestOfFour = Readonly<Record<'largestOfFour' | 'smallestOfFour', WriteBest>>;

const module = compileModule(BESTOFFOUR_WASM);
const instances = new WeakMap<WebAssembly.Memory, BestOfFour>();

/** The kernels that write to a memory. */
export function bestOfFourOn(results: WebAssembly.Memory): BestOfFour {
  const known = instances.get(results);
  if (known !== undefined) return known;
  const { exports } = new WebAssembly.Instance(module, { host: { memory: kernelMemory, results } });
  const kernels = exports as unknown as BestOfFour;
  instances.set(results, kernels);
  return kernels;
}
