// The SIMD kernels: loops over blocks of rows in a memory of their own, two rows or more per instruction. V8 does not
// vectorize TypeScript, and a minimum or maximum of real prices costs it a mispredicted branch: these loops take a
// tenth of the time (bench/patterns.ts). Columns are copied in and out, a block at a time, which the first cache bears.
import { SIMD_WASM } from './wasm.ts';

/** Addresses and sizes are in bytes; a size of values is a multiple of 16 (`simd.wat`). */
export interface SimdKernels {
  /**
   * Writes the largest of four columns over the first of them, the latest of equals; each begins later in memory than
   * the one before, and the size is a multiple of 64.
   */
  largestOfFour(a: number, b: number, c: number, d: number, size: number): void;
  /** The smallest of four columns, likewise. */
  smallestOfFour(a: number, b: number, c: number, d: number, size: number): void;
  /** Runs the steps at [first, end), one after the other, over one block of rows. */
  runSteps(first: number, end: number, valueSize: number, wordSize: number): void;
}

/** One step of `runSteps`: an operation on two columns of a block. What a step does not use is 0. */
export interface SimdStep {
  readonly op: (typeof OPERATIONS)[number];
  readonly a: number;
  /** A second column; for `and`, `or` and `copy`: how many rows later a is read; for `keep`: the size of the block. */
  readonly b?: number;
  readonly out?: number;
  readonly factor?: number;
  /** Rows of a mean. */
  readonly period?: number;
  /** Where a mean's first row is in the first block; at least a period from its beginning. */
  readonly skip?: number;
}

/** In the order of the numbers by which simd.wat knows them. */
const OPERATIONS = [
  'keep',
  'subtract',
  'add',
  'distance',
  'larger',
  'smaller',
  'scale',
  'meanBefore',
  'greater',
  'atLeast',
  'and',
  'or',
  'not',
  'copy',
  // This one and the next three, which are means too.
  'fourMeans',
] as const;
const STEP_BYTES = 40;

/** The steps as `runSteps` reads them; they hold its running sums, so that each run begins with a copy. */
export function encodeSteps(steps: readonly SimdStep[]): Uint8Array {
  const bytes = new Uint8Array(steps.length * STEP_BYTES);
  const view = new DataView(bytes.buffer);
  steps.forEach(({ op, a, b = 0, out = 0, factor = 0, period = 0, skip = 0 }, index) => {
    const at = index * STEP_BYTES;
    [OPERATIONS.indexOf(op), a, b, out].forEach((value, field) => view.setInt32(at + 4 * field, value, true));
    view.setFloat64(at + 16, factor, true);
    view.setInt32(at + 32, period, true);
    view.setInt32(at + 36, skip, true);
  });
  return bytes;
}

export interface SimdMemory {
  readonly bytes: Uint8Array;
  readonly values: Float64Array;
  readonly words: Uint32Array;
}

const viewsOf = (buffer: ArrayBuffer): SimdMemory => ({
  bytes: new Uint8Array(buffer),
  values: new Float64Array(buffer),
  words: new Uint32Array(buffer),
});

/** How much of a block `keep` keeps, in front of the next. */
export const KEPT_BYTES = 128;

const PAGE_BYTES = 65_536;
const memory = new WebAssembly.Memory({ initial: 16 });
const bytes = Uint8Array.from(atob(SIMD_WASM), (character) => character.charCodeAt(0));
const instance = new WebAssembly.Instance(new WebAssembly.Module(bytes), { host: { memory } });

/** One per thread; the exports of simd.wat. */
export const simd = instance.exports as unknown as SimdKernels;

let views = viewsOf(memory.buffer);

/**
 * The memory of the kernels, of at least `size` bytes. A kernel's caller runs to its end before
 * another begins, so that each may use all of it.
 */
export function simdMemory(size: number): SimdMemory {
  const missing = size - memory.buffer.byteLength;
  if (missing > 0) {
    memory.grow(Math.ceil(missing / PAGE_BYTES));
    // Growth detaches the buffer.
    views = viewsOf(memory.buffer);
  }
  return views;
}
