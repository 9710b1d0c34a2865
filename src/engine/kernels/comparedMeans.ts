// Two means of one column, compared block by block while they are in the L1 cache. Writing them as columns first would
// cost more than computing both.
import { wordCount } from './bits.ts';
import { writeFlatBlock } from './rollingSums.ts';
import { meansOfWindows } from './simd/means.ts';
import { compareRows } from './simd/rolling.ts';
import { simdMemory } from './simd/simdMemory.ts';
import { type BlockKernel, Blocks } from './segments.ts';

const NUMBER_BYTES = 8;
const WORD_BYTES = 4;
/** For windows up to this length, a block ends with a whole word of bits. */
export const MAX_COMPARED_LENGTH = 64;
/** A mean below this has a finite sum. */
const MOST = 1e300;

/**
 * Writes the bits of the rows on which the mean of `fast` rows is greater than that of `slow` rows, and of those on
 * which it is less, with the means of `rollingMean`. Rows without both means have neither bit. Returns false when
 * somewhere two values near each other are not both positive, or one is more than twice the other; then what was
 * written has no meaning.
 * @param fast, slow from 2 to MAX_COMPARED_LENGTH
 * @param columns where both means are written too, with NaN on the rows without one; null: nowhere. Not filled when no
 * row has both
 */
export function compareMeans(
  source: Float64Array,
  fast: number,
  slow: number,
  greater: Uint32Array,
  less: Uint32Array,
  columns: readonly [Float64Array, Float64Array] | null = null,
): boolean {
  const n = source.length;
  const a = new Means(source, fast, 0, columns && columns[0]);
  const b = new Means(source, slow, a.blocks.endCell, columns && columns[1]);
  const bitsByte = b.blocks.endCell * NUMBER_BYTES;
  const bitsBytes = WORD_BYTES * wordCount(Math.max(a.blocks.columnCells, b.blocks.columnCells));
  const { values, words } = simdMemory(bitsByte + 2 * bitsBytes);
  const firstRow = Math.min(n, Math.max(fast, slow) - 1);
  greater.fill(0, 0, wordCount(firstRow));
  less.fill(0, 0, wordCount(firstRow));
  if (firstRow === n) return true;
  for (let row = firstRow & ~31; row < n;) {
    if (!a.reach(row, values) || !b.reach(row, values)) return false;
    const end = Math.min(a.blocks.end, b.blocks.end);
    const count = (end - row + 31) >>> 5;
    const size = count * 32 * NUMBER_BYTES;
    compareRows(a.byteOf(row), b.byteOf(row), size, bitsByte, bitsByte + bitsBytes);
    copyWords(words, bitsByte / WORD_BYTES, count, greater, row >>> 5);
    copyWords(words, (bitsByte + bitsBytes) / WORD_BYTES, count, less, row >>> 5);
    row = end;
  }
  if ((n & 31) !== 0) {
    const within = (1 << (n & 31)) - 1;
    greater[n >>> 5] &= within;
    less[n >>> 5] &= within;
  }
  return true;
}

const copyWords = (from: Uint32Array, cell: number, count: number, to: Uint32Array, at: number): void =>
  to.set(from.subarray(cell, cell + count), at);

/** The means of one length, a block at a time. */
class Means {
  readonly blocks: Blocks;
  readonly #column: Float64Array | null;
  #isTight = true;

  constructor(source: Float64Array, length: number, from: number, column: Float64Array | null) {
    this.#column = column;
    column?.fill(NaN, 0, length - 1);
    const kernel: BlockKernel = {
      pair: ({ address, targets }, a, b, toA, toB, rowsA, rowsB) => {
        const { kernels, values, cell } = targets[0];
        // At least two rows, even if the second lies past the end: for a single row, the kernel does not say whether it
        // is tight.
        const size = Math.max(rowsA, rowsB, 2) * NUMBER_BYTES;
        const [inA, inB] = [address + a * NUMBER_BYTES, address + b * NUMBER_BYTES];
        const [outA, outB] = [(cell + toA) * NUMBER_BYTES, (cell + toB) * NUMBER_BYTES];
        const isTight = kernels.tightSums(inA, inB, outA, outB, length * NUMBER_BYTES, size, length) === 1;
        // The kernel does not notice a missing value, but every sum after it is missing too.
        const isPresent = values[cell + toA + rowsA - 1] < MOST && values[cell + toB + rowsB - 1] < MOST;
        this.#isTight &&= isTight && isPresent;
      },
      pairs: ({ address, targets }, at, interval, count) => {
        const { kernels, values, cell } = targets[0];
        const size = interval * NUMBER_BYTES;
        const [from, to] = [address + at * NUMBER_BYTES, (cell + at) * NUMBER_BYTES];
        const isTight = kernels.pairsOfSums(from, to, length * NUMBER_BYTES, size, count, length, 1) === 1;
        let isPresent = true;
        for (let segment = 1; segment <= 2 * count; segment++)
          isPresent &&= values[cell + at + segment * interval - 1] < MOST;
        this.#isTight &&= isTight && isPresent;
      },
      finish: (block) => writeFlatBlock(block, length),
    };
    this.blocks = new Blocks(source, 0, length, 1, kernel, from);
  }

  /** Computes blocks until one has `row`, or the rows after it. False: a sum may not be exact. */
  reach(row: number, values: Float64Array): boolean {
    const { blocks } = this;
    while (blocks.end <= row || blocks.end === blocks.start) {
      blocks.next(values);
      if (!this.#isTight) return false;
      this.#column?.set(values.subarray(blocks.out, blocks.out + blocks.end - blocks.start), blocks.start);
      // The rows before the first mean are missing: comparisons with them are false.
      if (row < blocks.start) values.fill(NaN, blocks.out - (blocks.start - row), blocks.out);
    }
    return true;
  }

  byteOf(row: number): number {
    return (this.blocks.out + row - this.blocks.start) * NUMBER_BYTES;
  }
}

/**
 * out[i] = the mean of the `length` values up to row rows[i], of a column whose sums `compareMeans` has found exact;
 * NaN where there are fewer.
 */
export function meansAt(source: Float64Array, rows: Int32Array, length: number, out: Float64Array): void {
  if (meansOfWindows(source, rows, length, out)) {
    for (let at = 0; at < rows.length; at++) if (rows[at] < length - 1) out[at] = NaN;
    return;
  }
  for (let at = 0; at < rows.length; at++) {
    const row = rows[at];
    out[at] = row < length - 1 ? NaN : meanAt(source, row - length + 1, row, length);
  }
}

/**
 * The sum of any two values is larger than a third, so that two subtractions give the rounding error of each addition
 * (Dekker's FastTwoSum).
 */
function meanAt(source: Float64Array, first: number, last: number, length: number): number {
  const larger = Math.max(source[first], source[first + 1]);
  const smaller = Math.min(source[first], source[first + 1]);
  let high = larger + smaller;
  let low = smaller - (high - larger);
  for (let cell = first + 2; cell <= last; cell++) {
    const value = source[cell];
    const sum = high + value;
    low += value - (sum - high);
    high = sum;
  }
  const value = source[last];
  let cell = last - 1;
  while (cell >= first && source[cell] === value) cell--;
  return cell < first ? value : (high + low) / length;
}
