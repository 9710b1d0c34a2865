// Columns: what the steps of a plan make. A value column holds numbers, a condition column holds true and unknown bits.

/** One number a bar; the cell is NaN where the value is missing (semantics §1.3). */
export interface ValueColumn {
  readonly values: Float64Array;
  /** The first row with a value; equal to the length when there is none. */
  readonly firstValid: number;
  /** True when some row after firstValid is missing too. */
  readonly hasHoles: boolean;
}

/**
 * One three-valued truth a bar (semantics §1.4): bit (row & 31) of word (row >>> 5). A row is true (T), unknown (U) or, with neither
 * bit, false; never both. Bits past the last row are 0.
 */
export interface ConditionColumn {
  /** wordCount(rows) words. */
  readonly isTrue: Uint32Array;
  /** Only as many words as reach the last unknown row, usually the warm-up; nothing past its end is unknown. */
  readonly isUnknown: Uint32Array;
}

export const NOTHING_UNKNOWN = new Uint32Array(0);

export const wordCount = (rows: number): number => (rows + 31) >>> 5;

/** Bits past the end of `words` are 0. */
export const hasBit = (words: Uint32Array, row: number): boolean =>
  row >>> 5 < words.length && ((words[row >>> 5] >>> (row & 31)) & 1) === 1;

/** Words whose first `rows` bits are 1: the unknown bits of a warm-up. */
export function leadingOnes(rows: number): Uint32Array {
  if (rows === 0) return NOTHING_UNKNOWN;
  const words = new Uint32Array(wordCount(rows)).fill(0xffffffff);
  if ((rows & 31) !== 0) words[words.length - 1] = (1 << (rows & 31)) - 1;
  return words;
}

/** How many of the bits first … end-1 are 1. */
export function countBits(words: Uint32Array, first: number, end: number): number {
  const last = Math.min(end, words.length * 32);
  if (first >= last) return 0;
  const firstWord = first >>> 5;
  const lastWord = (last - 1) >>> 5;
  let count = 0;
  for (let w = firstWord; w <= lastWord; w++) {
    let word = words[w];
    if (w === firstWord) word &= -1 << (first & 31);
    if (w === lastWord && (last & 31) !== 0) word &= (1 << (last & 31)) - 1;
    count += popcount(word);
  }
  return count;
}

/** Number of 1 bits of a 32-bit word (Hacker's Delight, figure 5-2). */
export function popcount(word: number): number {
  let v = word - ((word >>> 1) & 0x55555555);
  v = (v & 0x33333333) + ((v >>> 2) & 0x33333333);
  return Math.imul((v + (v >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** The first row with a value and whether later rows are missing, read off the cells. */
export function inspect(values: Float64Array): ValueColumn {
  const n = values.length;
  let firstValid = 0;
  while (firstValid < n && values[firstValid] !== values[firstValid]) firstValid++;
  let row = firstValid;
  while (row < n && values[row] === values[row]) row++;
  return { values, firstValid, hasHoles: row < n };
}

/** The same for a column just made: what overflowed is missing, as everywhere where there is no finite value. */
export function inspectMade(values: Float64Array): ValueColumn {
  const n = values.length;
  const isFinite = (row: number): boolean => values[row] - values[row] === 0;
  let row = 0;
  while (row < n && !isFinite(row)) row++;
  const firstFinite = row;
  while (row < n && isFinite(row)) row++;
  values.fill(NaN, 0, firstFinite);
  const hasHoles = row < n;
  for (; row < n; row++) if (!isFinite(row)) values[row] = NaN;
  return { values, firstValid: firstFinite, hasHoles };
}
