// Comparisons of columns, written as words of 32 rows: missing cells are NaN, for which every comparison is false.
import { Accelerator } from './accelerator.ts';
import { type ConditionColumn, type ValueColumn } from './column.ts';
import { leadingOnes, NOTHING_UNKNOWN, wordCount } from './bits.ts';
import { newKeptWords } from './sharedBuffer.ts';

/** What compares faster; see `compareBlocks`. */
export const COMPARISONS = new Accelerator<(...input: Parameters<typeof compareBlocks>) => true>();

/** @param b a column, or the number on every row */
export const greaterThan = (a: Float64Array, b: Float64Array | number, out: Uint32Array): void =>
  compareBlocks(a, b, out, null);

export const lessThan = (a: Float64Array, b: Float64Array | number, out: Uint32Array): void =>
  compareBlocks(a, b, null, out);

/** Rows per call: V8 compiles a function that is called often better than a loop that runs once. */
const BLOCK_WORDS = 128;

/** Compares both ways at once, which takes as long as one of them; null: those words are not wanted. */
export function compareBlocks(
  a: Float64Array,
  b: Float64Array | number,
  greater: Uint32Array | null,
  less: Uint32Array | null,
): void {
  if (COMPARISONS.current?.(a, b, greater, less)) return;
  const words = wordCount(a.length);
  for (let from = 0; from < words; from += BLOCK_WORDS)
    compareWords(a, b, greater, less, from, Math.min(words, from + BLOCK_WORDS));
}

function compareWords(
  a: Float64Array,
  b: Float64Array | number,
  greater: Uint32Array | null,
  less: Uint32Array | null,
  from: number,
  to: number,
): void {
  for (let w = from; w < to; w++) {
    const end = Math.min(a.length, (w + 1) << 5);
    let above = 0;
    let below = 0;
    for (let row = w << 5; row < end; row++) {
      const value = a[row];
      const other = typeof b === 'number' ? b : b[row];
      above |= +(value > other) << row;
      below |= +(value < other) << row;
    }
    if (greater !== null) greater[w] = above;
    if (less !== null) less[w] = below;
  }
}

// The loops below write whole words, four comparisons per step. Each replaces
//   for (let row = 0; row < n; row++) if (Math.abs(a[row] - b[row]) <= tolerance) out[row >>> 5] |= 1 << (row & 31);
// which takes five to eight times as long (bench/conditions.ts): the word stays in a register, and no comparison
// branches.

/** |a - b| <= tolerance. Equal infinities cannot occur: values are finite or NaN. */
export function within(a: Float64Array, b: Float64Array, tolerance: number, out: Uint32Array): void {
  const whole = a.length >>> 5;
  for (let w = 0; w < whole; w++) {
    let word = 0;
    for (let bit = 0; bit < 32; bit += 4) {
      const row = (w << 5) + bit;
      word |=
        (+(Math.abs(a[row] - b[row]) <= tolerance) |
          (+(Math.abs(a[row + 1] - b[row + 1]) <= tolerance) << 1) |
          (+(Math.abs(a[row + 2] - b[row + 2]) <= tolerance) << 2) |
          (+(Math.abs(a[row + 3] - b[row + 3]) <= tolerance) << 3)) <<
        bit;
    }
    out[w] = word;
  }
  if (whole < out.length) out[whole] = tail(a.length, (row) => Math.abs(a[row] - b[row]) <= tolerance);
}

/** |a - b| <= tolerance, against one number on every row. */
export function withinNumber(a: Float64Array, b: number, tolerance: number, out: Uint32Array): void {
  const whole = a.length >>> 5;
  for (let w = 0; w < whole; w++) {
    let word = 0;
    for (let bit = 0; bit < 32; bit += 4) {
      const row = (w << 5) + bit;
      word |=
        (+(Math.abs(a[row] - b) <= tolerance) |
          (+(Math.abs(a[row + 1] - b) <= tolerance) << 1) |
          (+(Math.abs(a[row + 2] - b) <= tolerance) << 2) |
          (+(Math.abs(a[row + 3] - b) <= tolerance) << 3)) <<
        bit;
    }
    out[w] = word;
  }
  if (whole < out.length) out[whole] = tail(a.length, (row) => Math.abs(a[row] - b) <= tolerance);
}
/** The last word, of the rows after the last whole word. */
function tail(rows: number, isTrue: (row: number) => boolean): number {
  let word = 0;
  for (let row = rows & ~31; row < rows; row++) word |= +isTrue(row) << (row & 31);
  return word;
}

/** The rows on which any of `columns` is missing, as unknown bits. */
export function missingRows(columns: readonly ValueColumn[]): Uint32Array {
  const holed = columns.filter((column) => column.hasHoles);
  const firstKnown = columns.reduce((first, column) => Math.max(first, column.firstValid), 0);
  if (holed.length === 0) return leadingOnes(firstKnown);
  const words = newKeptWords(wordCount(holed[0].values.length));
  words.set(leadingOnes(firstKnown));
  for (const { values } of holed) addMissing(values, words);
  return trimUnknown(words);
}

function addMissing(values: Float64Array, words: Uint32Array): void {
  const n = values.length;
  for (let w = 0, row = 0; row < n; w++) {
    const end = row + 32 < n ? row + 32 : n;
    let word = 0;
    for (let bit = 0; row < end; bit++, row++) word |= +(values[row] !== values[row]) << bit;
    words[w] |= word;
  }
}

/** The same unknown bits without the trailing words that hold none. */
export function trimUnknown(words: Uint32Array): Uint32Array {
  let length = words.length;
  while (length > 0 && words[length - 1] === 0) length--;
  return length === words.length ? words : length === 0 ? NOTHING_UNKNOWN : words.subarray(0, length);
}

/** True on the rows that are known and not true: the `neq` of an `eq`, or the complement of any column (Kleene not). */
export function invert(column: ConditionColumn, rows: number, out: Uint32Array): ConditionColumn {
  const { isTrue, isUnknown } = column;
  const words = wordCount(rows);
  const unknownWords = Math.min(words, isUnknown.length);
  for (let w = 0; w < unknownWords; w++) out[w] = ~(isTrue[w] | isUnknown[w]);
  for (let w = unknownWords; w < words; w++) out[w] = ~isTrue[w];
  if ((rows & 31) !== 0 && words > 0) out[words - 1] &= (1 << (rows & 31)) - 1;
  return { isTrue: out, isUnknown };
}
