// The memory of the kernels, in which they compute blocks of rows. It is a WebAssembly memory, so that SIMD kernels can
// work in it, two rows or more per instruction: V8 does not vectorize TypeScript, and a minimum or maximum of real
// prices costs it a mispredicted branch.
import { PAGE_BYTES } from './sharedMemory.ts';

interface SimdMemory {
  readonly bytes: Uint8Array;
  readonly values: Float64Array;
  readonly words: Uint32Array;
  readonly integers: Int32Array;
}

const viewsOf = (buffer: ArrayBuffer): SimdMemory => ({
  bytes: new Uint8Array(buffer),
  values: new Float64Array(buffer),
  words: new Uint32Array(buffer),
  integers: new Int32Array(buffer),
});

/** One per thread. */
export const kernelMemory = new WebAssembly.Memory({ initial: 16 });

let views = viewsOf(kernelMemory.buffer);

/** A module that wasm.ts has in base64. */
export const compileModule = (wasm: string): WebAssembly.Module =>
  new WebAssembly.Module(Uint8Array.from(atob(wasm), (character) => character.charCodeAt(0)));

/** The exports of a module that works in the memory of the kernels. */
export function instantiate(wasm: string): unknown {
  const { exports } = new WebAssembly.Instance(compileModule(wasm), { host: { memory: kernelMemory } });
  return exports;
}

/**
 * The memory of the kernels, of at least `size` bytes. A kernel's caller runs to its end before another begins, so that
 * each may use all of it.
 */
export function simdMemory(size: number): SimdMemory {
  const missing = size - kernelMemory.buffer.byteLength;
  if (missing > 0) {
    kernelMemory.grow(Math.ceil(missing / PAGE_BYTES));
    // Growth detaches the buffer.
    views = viewsOf(kernelMemory.buffer);
  }
  return views;
}
