// Words of bits: a row is bit (row & 31) of word (row >>> 5), and bits past the last row are 0.

export const wordCount = (rows: number): number => (rows + 31) >>> 5;

export const NOTHING_UNKNOWN = new Uint32Array(0);

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

/** The first row at or after `row` whose bit is set, at most `end`. Empty stretches cost one test per 32 rows. */
export function nextBit(words: Uint32Array, row: number, end: number): number {
  if (row >= end) return end;
  let index = row >>> 5;
  const last = (end - 1) >>> 5;
  let word = words[index] & (-1 << (row & 31));
  while (word === 0) {
    if (++index > last) return end;
    word = words[index];
  }
  const found = (index << 5) + trailingZeros(word);
  return found < end ? found : end;
}

/** Sets the bits of rows [from, to). */
export function setBits(words: Uint32Array, from: number, to: number): void {
  if (from >= to) return;
  const first = from >>> 5;
  const last = (to - 1) >>> 5;
  const head = -1 << (from & 31);
  const tail = -1 >>> (31 - ((to - 1) & 31));
  if (first === last) {
    words[first] |= head & tail;
    return;
  }
  words[first] |= head;
  // A loop, not fill(): most ranges are a few words, and the call costs more than they do.
  for (let i = first + 1; i < last; i++) words[i] = 0xffffffff;
  words[last] |= tail;
}

/** How many of rows [from, to) have their bit set; rows past the end of `words` do not. */
export function countBits(words: Uint32Array, from: number, to: number): number {
  const end = Math.min(to, words.length * 32);
  if (from >= end) return 0;
  const first = from >>> 5;
  const last = (end - 1) >>> 5;
  const head = -1 << (from & 31);
  const tail = -1 >>> (31 - ((end - 1) & 31));
  if (first === last) return popcount(words[first] & head & tail);
  let count = popcount(words[first] & head) + popcount(words[last] & tail);
  // `count += popcount(words[i])`, written out: V8 leaves the call where a thread has few, long runs, and then it takes
  // five times as long (bench/whole.ts).
  for (let i = first + 1; i < last; i++) {
    const word = words[i];
    const pairs = word - ((word >>> 1) & 0x55555555);
    const nibbles = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
    count += Math.imul((nibbles + (nibbles >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
  }
  return count;
}

/** How many zeros a word ends with; the word must not be 0. `word & -word` leaves its lowest set bit. */
export const trailingZeros = (word: number): number => 31 - Math.clz32(word & -word);

/** Set bits of a 32-bit word (Hacker's Delight 5-2: pairs, nibbles, bytes, then one multiply adds the bytes). */
export function popcount(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555);
  const nibbles = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((nibbles + (nibbles >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** The union of several columns of words; a single column is returned as it is. */
export function unionOf(columns: readonly Uint32Array[], words: number): Uint32Array {
  if (columns.length === 1) return columns[0];
  const union = new Uint32Array(words);
  for (const column of columns) {
    for (let i = 0; i < words; i++) union[i] |= column[i];
  }
  return union;
}
