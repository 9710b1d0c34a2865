// The steps of a pattern program (steps.wat), each a loop over one block of rows.
import { instantiate } from './simdMemory.ts';
import { STEPS_WASM } from './wasm.ts';

/**
 * Where the memory of the kernels has the bits of a block of up to 1,024 rows: those on which a pattern is bullish,
 * bearish, and tied. After them are the values made from them (signValues.ts) that are copied out.
 */
export const SIGNS = { bullish: 0, bearish: 128, tied: 256, end: 384 } as const;
export const SIGN_VALUES = 512;
/** What is free for the steps of a program, or for a kernel. */
export const FREE = SIGN_VALUES + 1024 * 8;

interface StepKernels {
  /**
   * Runs the steps at [first, end), one after the other, over one block of rows. Addresses and sizes are in bytes; a
   * size of values is a multiple of 16.
   */
  readonly runSteps: (first: number, end: number, valueSize: number, wordSize: number) => void;
}

export const { runSteps } = instantiate(STEPS_WASM) as StepKernels;

/** One step of `runSteps`: an operation on two columns of a block. What a step does not use is 0. */
export interface SimdStep {
  readonly op: (typeof OPERATIONS)[number];
  readonly a: number;
  /** A second column; for `and`, `or` and `copy`: how many rows later a is read; for `keep`: the size of the block. */
  readonly b?: number;
  readonly out?: number;
  readonly factor?: number;
  /** Rows of a mean. */
  readonly period?: 5 | 10;
  /** Where a mean's first row is in the first block; at least a period from its beginning. */
  readonly skip?: number;
}

/** In the order of the numbers by which steps.wat knows them. */
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
  // This one and the next, which is a mean too.
  'twoMeans',
] as const;
const STEP_BYTES = 40;

/** The steps as `runSteps` reads them; its running sums are kept in them, so that each run begins with a copy. */
export function encodeSteps(steps: readonly SimdStep[]): Uint8Array {
  const bytes = new Uint8Array(steps.length * STEP_BYTES);
  const view = new DataView(bytes.buffer);
  steps.forEach(({ op, a, b = 0, out = 0, factor = 0, period = 5, skip = 0 }, index) => {
    const at = index * STEP_BYTES;
    [OPERATIONS.indexOf(op), a, b, out].forEach((value, field) => view.setInt32(at + 4 * field, value, true));
    view.setFloat64(at + 16, factor, true);
    view.setInt32(at + 32, period, true);
    view.setInt32(at + 36, skip, true);
  });
  return bytes;
}

/** How much of a block `keep` keeps, before the start of the next. */
export const KEPT_BYTES = 128;
