// Comparisons of columns, written as words of 32 rows: missing cells are NaN, which no comparison holds for.
import { leadingOnes, NOTHING_UNKNOWN, wordCount, type ConditionColumn, type ValueColumn } from '../column.ts';

/**
 * One loop an operator and shape, so that V8 compiles each for one kind of comparison; the inner loop of 32 keeps the word in a
 * register. Replaces `for (row) if (a[row] > b[row]) out[row >>> 5] |= 1 << (row & 31)` (bench/conditions.ts).
 */
export function greaterThan(a: Float64Array, b: Float64Array, out: Uint32Array): void {
  const n = a.length;
  for (let w = 0, row = 0; row < n; w++) {
    const end = row + 32 < n ? row + 32 : n;
    let word = 0;
    for (let bit = 0; row < end; bit++, row++) word |= (a[row] > b[row] ? 1 : 0) << bit;
    out[w] = word;
  }
}
export function greaterOrEqual(a: Float64Array, b: Float64Array, out: Uint32Array): void {
  const n = a.length;
  for (let w = 0, row = 0; row < n; w++) {
    const end = row + 32 < n ? row + 32 : n;
    let word = 0;
    for (let bit = 0; row < end; bit++, row++) word |= (a[row] >= b[row] ? 1 : 0) << bit;
    out[w] = word;
  }
}
/** |a - b| <= tolerance; equal infinities cannot occur, values are finite or NaN. */
export function within(a: Float64Array, b: Float64Array, tolerance: number, out: Uint32Array): void {
  const n = a.length;
  for (let w = 0, row = 0; row < n; w++) {
    const end = row + 32 < n ? row + 32 : n;
    let word = 0;
    for (let bit = 0; row < end; bit++, row++) word |= (Math.abs(a[row] - b[row]) <= tolerance ? 1 : 0) << bit;
    out[w] = word;
  }
}
export function greaterThanNumber(a: Float64Array, b: number, out: Uint32Array): void {
  const n = a.length;
  for (let w = 0, row = 0; row < n; w++) {
    const end = row + 32 < n ? row + 32 : n;
    let word = 0;
    for (let bit = 0; row < end; bit++, row++) word |= (a[row] > b ? 1 : 0) << bit;
    out[w] = word;
  }
}
export function greaterOrEqualNumber(a: Float64Array, b: number, out: Uint32Array): void {
  const n = a.length;
  for (let w = 0, row = 0; row < n; w++) {
    const end = row + 32 < n ? row + 32 : n;
    let word = 0;
    for (let bit = 0; row < end; bit++, row++) word |= (a[row] >= b ? 1 : 0) << bit;
    out[w] = word;
  }
}
export function lessThanNumber(a: Float64Array, b: number, out: Uint32Array): void {
  const n = a.length;
  for (let w = 0, row = 0; row < n; w++) {
    const end = row + 32 < n ? row + 32 : n;
    let word = 0;
    for (let bit = 0; row < end; bit++, row++) word |= (a[row] < b ? 1 : 0) << bit;
    out[w] = word;
  }
}
export function lessOrEqualNumber(a: Float64Array, b: number, out: Uint32Array): void {
  const n = a.length;
  for (let w = 0, row = 0; row < n; w++) {
    const end = row + 32 < n ? row + 32 : n;
    let word = 0;
    for (let bit = 0; row < end; bit++, row++) word |= (a[row] <= b ? 1 : 0) << bit;
    out[w] = word;
  }
}
export function withinNumber(a: Float64Array, b: number, tolerance: number, out: Uint32Array): void {
  const n = a.length;
  for (let w = 0, row = 0; row < n; w++) {
    const end = row + 32 < n ? row + 32 : n;
    let word = 0;
    for (let bit = 0; row < end; bit++, row++) word |= (Math.abs(a[row] - b) <= tolerance ? 1 : 0) << bit;
    out[w] = word;
  }
}

/** The rows on which any of `columns` is missing, as unknown bits. */
export function missingRows(columns: readonly ValueColumn[]): Uint32Array {
  const holed = columns.filter((column) => column.hasHoles);
  const firstKnown = columns.reduce((first, column) => Math.max(first, column.firstValid), 0);
  if (holed.length === 0) return leadingOnes(firstKnown);
  const words = new Uint32Array(wordCount(holed[0].values.length));
  words.set(leadingOnes(firstKnown));
  for (const { values } of holed) addMissing(values, words);
  return trimUnknown(words);
}

function addMissing(values: Float64Array, words: Uint32Array): void {
  const n = values.length;
  for (let w = 0, row = 0; row < n; w++) {
    const end = row + 32 < n ? row + 32 : n;
    let word = 0;
    for (let bit = 0; row < end; bit++, row++) word |= (values[row] !== values[row] ? 1 : 0) << bit;
    words[w] |= word;
  }
}

/** The same unknown bits without the trailing words that hold none. */
export function trimUnknown(words: Uint32Array): Uint32Array {
  let length = words.length;
  while (length > 0 && words[length - 1] === 0) length--;
  return length === words.length ? words : length === 0 ? NOTHING_UNKNOWN : words.subarray(0, length);
}

/** Turns known-and-not-true into true: the `neq` of an `eq`, or the complement of any column (Kleene not). */
export function invert(column: ConditionColumn, rows: number, out: Uint32Array): ConditionColumn {
  const { isTrue, isUnknown } = column;
  const words = wordCount(rows);
  const unknownWords = Math.min(words, isUnknown.length);
  for (let w = 0; w < unknownWords; w++) out[w] = ~(isTrue[w] | isUnknown[w]);
  for (let w = unknownWords; w < words; w++) out[w] = ~isTrue[w];
  if ((rows & 31) !== 0 && words > 0) out[words - 1] &= (1 << (rows & 31)) - 1;
  return { isTrue: out, isUnknown };
}
