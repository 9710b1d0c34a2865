// The steps of a pattern program, each a loop over one block of rows in the memory of the kernels.
import { Accelerator } from '../kernels/accelerator.ts';
import { simdMemory } from '../kernels/simdMemory.ts';

/**
 * Where the memory of the kernels has the bits of a block of up to 1,024 rows: those on which a pattern is bullish,
 * bearish, and tied. After them are the values made from them (signs.ts) that are copied out.
 */
export const SIGNS = { bullish: 0, bearish: 128, tied: 256, end: 384 } as const;
export const SIGN_VALUES = 512;
/** What is free for the steps of a program, or for a kernel. */
export const FREE = SIGN_VALUES + 1024 * 8;

/** One step of `runSteps`: an operation on two columns of a block. What a step does not use is 0. */
export interface ProgramStep {
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
export function encodeSteps(steps: readonly ProgramStep[]): Uint8Array {
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

/**
 * Runs the steps at [first, end), one after the other, over one block of rows. Addresses and sizes are in bytes; a size
 * of values is a multiple of 16.
 */
type RunSteps = (first: number, end: number, valueSize: number, wordSize: number) => void;

/** What runs the steps faster. */
export const STEPS = new Accelerator<RunSteps>();

export const runSteps: RunSteps = (first, end, valueSize, wordSize) => {
  if (STEPS.current !== null) return STEPS.current(first, end, valueSize, wordSize);
  const { integers } = simdMemory(0);
  for (let step = first; step < end; step += STEP_BYTES) {
    const [op, a, b, out] = integers.subarray(step / 4, step / 4 + 4);
    runStep(OPERATIONS[op], step, a, b, out, valueSize / NUMBER_BYTES, wordSize / WORD_BYTES);
  }
};

const NUMBER_BYTES = 8;
const WORD_BYTES = 4;

function runStep(
  op: ProgramStep['op'],
  step: number,
  a: number,
  b: number,
  out: number,
  rows: number,
  wordCount: number,
): void {
  const { bytes, values } = simdMemory(0);
  const [atA, atB, to] = [a, b, out].map((address) => address / NUMBER_BYTES);
  const each = (compute: (a: number, b: number) => number): void => {
    for (let row = 0; row < rows; row++) values[to + row] = compute(values[atA + row], values[atB + row]);
  };
  switch (op) {
    case 'keep':
      bytes.copyWithin(a - KEPT_BYTES, a + b - KEPT_BYTES, a + b);
      return;
    case 'subtract':
      return each((left, right) => left - right);
    case 'add':
      return each((left, right) => left + right);
    case 'distance':
      return each((left, right) => Math.abs(left - right));
    case 'larger':
      return each((left, right) => (left < right ? right : left));
    case 'smaller':
      return each((left, right) => (right < left ? right : left));
    case 'scale': {
      const factor = values[step / NUMBER_BYTES + 2];
      for (let row = 0; row < rows; row++) values[to + row] = factor * values[atA + row];
      return;
    }
    case 'meanBefore':
    case 'twoMeans':
      return meanBefore(step, atA, to, rows);
    case 'greater':
      return compare(atA, atB, out, wordCount, (left, right) => left > right);
    case 'atLeast':
      return compare(atA, atB, out, wordCount, (left, right) => left >= right);
    default:
      return combine(op, a, b, out, wordCount);
  }
}

/**
 * The mean of the rows before each row, times a factor; the step keeps the running sum for the next block. `skip` is
 * where the first row with a mean is, in the first block.
 */
function meanBefore(step: number, a: number, out: number, rows: number): void {
  const { integers, values } = simdMemory(0);
  const [factorAt, sumAt] = [step / NUMBER_BYTES + 2, step / NUMBER_BYTES + 3];
  const [periodAt, skipAt] = [step / WORD_BYTES + 8, step / WORD_BYTES + 9];
  const factor = values[factorAt];
  const period = integers[periodAt];
  const first = integers[skipAt] / NUMBER_BYTES;
  integers[skipAt] = 0;
  let sum = values[sumAt];
  if (first > 0) for (let row = first - period; row < first; row++) sum += values[a + row];
  for (let row = first; row < rows; row++) {
    values[out + row] = factor * (sum / period);
    sum += values[a + row] - values[a + row - period];
  }
  values[sumAt] = sum;
}

function compare(
  a: number,
  b: number,
  out: number,
  wordCount: number,
  isTrue: (left: number, right: number) => boolean,
): void {
  const { values, words } = simdMemory(0);
  for (let word = 0; word < wordCount; word++) {
    let bits = 0;
    for (let bit = 0; bit < 32; bit++) bits |= +isTrue(values[a + 32 * word + bit], values[b + 32 * word + bit]) << bit;
    words[out / WORD_BYTES + word] = bits;
  }
}

/** out = not a; or a, `out and a`, or `out or a`, where a is read `back` rows later. */
function combine(op: 'and' | 'or' | 'not' | 'copy', a: number, back: number, out: number, wordCount: number): void {
  const { words } = simdMemory(0);
  const [from, to] = [a / WORD_BYTES, out / WORD_BYTES];
  for (let word = 0; word < wordCount; word++) {
    const now = words[from + word];
    // The word before holds the older rows.
    const read = back === 0 ? now : (now << back) | (words[from + word - 1] >>> (32 - back));
    if (op === 'not') words[to + word] = ~now;
    else if (op === 'copy') words[to + word] = read;
    else if (op === 'and') words[to + word] &= read;
    else words[to + word] |= read;
  }
}
