// Conditions on how many of the last rows were true. Counts of 32 rows are added at once, as numbers whose binary
// digits lie in words of bits: row by row it takes seven times as long (bench/conditions.ts).
import { wordCount } from './bits.ts';
import { type ConditionColumn } from './column.ts';
import { trimUnknown } from './compare.ts';
import { throughoutRows } from './logic.ts';
import { newKeptWords } from './sharedBuffer.ts';

export type RollingWindowMode = 'any' | 'none' | 'all' | 'streak' | 'count_gt' | 'count_lt' | 'count_eq';

/**
 * Compares how many of the last `window` rows are true with `value`. That number lies between the count of true rows
 * and the count of true and unknown ones; where this leaves the answer open, it is unknown. Rows before the first are
 * unknown.
 */
export function rollingWindow(
  column: ConditionColumn,
  window: number,
  mode: RollingWindowMode,
  value: number,
  rows: number,
): ConditionColumn {
  if (mode === 'streak') return throughoutRows(column, Math.max(1, Math.ceil(value)), rows);
  const words = wordCount(rows);
  // In later words, every row of the window is known.
  const doubtful = Math.min(words, column.isUnknown.length + wordCount(window));
  const possible = column.isTrue.slice(0, doubtful);
  for (let w = 0; w < Math.min(doubtful, column.isUnknown.length); w++) possible[w] |= column.isUnknown[w];
  const least = countsOf(column.isTrue, window, 0, words);
  const most = countsOf(possible, window, 1, doubtful);

  const [from, end] = wantedCounts(mode, window, value);
  const isTrue = newKeptWords(words);
  writeBetween(least, from, least, end, isTrue);
  writeBetween(least, from, most, end, isTrue.subarray(0, doubtful));
  const isUnknown = newKeptWords(doubtful);
  writeBetween(most, from, least, end, isUnknown);
  for (let w = 0; w < doubtful; w++) isUnknown[w] &= ~isTrue[w];
  if ((rows & 31) !== 0) {
    const within = (1 << (rows & 31)) - 1;
    isTrue[words - 1] &= within;
    if (doubtful === words) isUnknown[words - 1] &= within;
  }
  return { isTrue, isUnknown: trimUnknown(isUnknown) };
}

/** The same for one row: 1 true, 0 false, 2 unknown, when the number of true rows lies in [least, most]. */
export function countAnswer(mode: CountMode, least: number, most: number, window: number, value: number): 0 | 1 | 2 {
  const [from, end] = wantedCounts(mode, window, value);
  if (least >= from && most < end) return 1;
  return most >= from && least < end ? 2 : 0;
}

type CountMode = Exclude<RollingWindowMode, 'streak'>;

/** The counts for which a condition is true: from the first on, before the second. */
function wantedCounts(mode: CountMode, window: number, value: number): readonly [from: number, end: number] {
  switch (mode) {
    case 'any':
      return [1, Infinity];
    case 'none':
      return [0, 1];
    case 'all':
      return [window, Infinity];
    case 'count_gt':
      return [Math.floor(value) + 1, Infinity];
    case 'count_lt':
      return [0, Math.ceil(value)];
    case 'count_eq':
      return [Math.ceil(value), Math.floor(value) + 1];
  }
}

/** A number per row: a word has one binary digit of 32 rows, and the first array has the lowest digits. */
type Counts = readonly Uint32Array[];

/**
 * How many of the last `window` rows are 1: the counts of 1, 2, 4, 8 … rows are computed, each from the one before, and
 * those that make up the window are added.
 * @param before what the rows before the first are
 */
function countsOf(bits: Uint32Array, window: number, before: 0 | 1, words: number): Counts {
  let counts: Counts = [];
  let covered = 0;
  let part: Counts = [bits];
  for (let span = 1; ; span *= 2) {
    if ((window & span) !== 0) {
      counts = covered === 0 ? part : addDelayed(counts, part, covered, span * before, words);
      covered += span;
    }
    if (covered === window) return counts;
    part = addDelayed(part, part, span, span * before, words);
  }
}

/** left + right, `right` as it was `by` rows ago; `rightBefore` is its count before the first row. */
function addDelayed(left: Counts, right: Counts, by: number, rightBefore: number, words: number): Counts {
  const sum: Uint32Array[] = [];
  const carry = new Uint32Array(words);
  const wordShift = by >>> 5;
  const bitShift = by & 31;
  for (let digit = 0; digit < Math.max(left.length, right.length); digit++) {
    const a = digit < left.length ? left[digit] : ZEROS;
    const b = digit < right.length ? right[digit] : ZEROS;
    const fill = (rightBefore >>> digit) & 1 ? -1 : 0;
    const out = new Uint32Array(words);
    for (let w = 0; w < words; w++) {
      const from = w - wordShift;
      const low = from < 0 ? fill : from < b.length ? b[from] : 0;
      const high = from < 1 ? fill : from <= b.length ? b[from - 1] : 0;
      const x = w < a.length ? a[w] : 0;
      const y = bitShift === 0 ? low : (low << bitShift) | (high >>> (32 - bitShift));
      const z = carry[w];
      out[w] = x ^ y ^ z;
      carry[w] = (x & y) | (z & (x ^ y));
    }
    sum.push(out);
  }
  sum.push(carry);
  return sum;
}
const ZEROS = new Uint32Array(0);

/** Writes on which rows the `low` count is at least `from` and the `high` one below `end`. */
function writeBetween(low: Counts, from: number, high: Counts, end: number, out: Uint32Array): void {
  out.fill(0xffffffff);
  if (from > 0) keepRows(low, from, true, out);
  if (end < Infinity) keepRows(high, end, false, out);
}

/** Clears all rows but those whose count is at least `least`, or, if `isReached` is false, below it. */
function keepRows(counts: Counts, least: number, isReached: boolean, out: Uint32Array): void {
  const isPossible = least < 2 ** counts.length;
  const wanted = Math.max(0, least);
  const flip = isReached ? 0 : -1;
  for (let w = 0; w < out.length; w++) {
    // From the lowest digit up: the highest that differs decides.
    let word = -1;
    for (let digit = 0; digit < counts.length; digit++) {
      const bits = counts[digit][w];
      word = (wanted >>> digit) & 1 ? word & bits : word | bits;
    }
    out[w] &= (isPossible ? word : 0) ^ flip;
  }
}
