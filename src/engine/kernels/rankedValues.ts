// Ranked values: how many values of a moving window are below another, and which is the n-th, in logarithmic time.
import { lowerBound } from './search.ts';

/**
 * Windows shorter than this are scanned or shifted instead, which the processor does faster than the steps of a tree
 * (measured: the two meet between 100 and 300 values).
 */
export const MIN_RANKED_PERIOD = 256;

/**
 * A multiset of values that are known in advance: the distinct ones in order, and a Fenwick tree of how many of each
 * the window holds (Fenwick 1994).
 */
class RankedValues {
  readonly sorted: Float64Array;
  readonly #counts: Int32Array;
  readonly #top: number;

  constructor(values: Float64Array) {
    this.sorted = values.slice().sort();
    this.#counts = new Int32Array(values.length + 1);
    this.#top = 2 ** Math.floor(Math.log2(values.length));
  }

  /** The rank of each of these values, the same for equal ones. */
  ranksOf(values: Float64Array): Int32Array {
    const ranks = new Int32Array(values.length);
    for (let at = 0; at < values.length; at++) ranks[at] = lowerBound(this.sorted, values[at]);
    return ranks;
  }

  add(rank: number, count: 1 | -1): void {
    const counts = this.#counts;
    for (let node = rank + 1; node < counts.length; node += node & -node) counts[node] += count;
  }

  /** How many values of the window have a lower rank. */
  below(rank: number): number {
    const counts = this.#counts;
    let count = 0;
    for (let node = rank; node > 0; node &= node - 1) count += counts[node];
    return count;
  }

  /** The value of the window that has `index` values before it. */
  nth(index: number): number {
    const counts = this.#counts;
    let node = 0;
    let left = index;
    for (let step = this.#top; step > 0; step >>>= 1) {
      const next = node + step;
      if (next < counts.length && counts[next] <= left) {
        node = next;
        left -= counts[next];
      }
    }
    return this.sorted[node];
  }
}

/**
 * Calls `answer` for every row from `length - 1` on, with the window of the `length` values up to it and the rank of
 * the row's own value. Rows are taken in blocks as long as the window, so that only twice as many values are ranked at
 * a time.
 */
export function overRankedWindows(
  source: Float64Array,
  length: number,
  answer: (row: number, window: RankedValues, rank: number) => void,
  poll?: () => void,
): void {
  for (let block = length - 1; block < source.length; block += length) {
    poll?.();
    const start = block - length + 1;
    const end = Math.min(source.length, block + length);
    const values = source.subarray(start, end);
    const window = new RankedValues(values);
    const ranks = window.ranksOf(values);
    for (let i = 0; i < length - 1; i++) window.add(ranks[i], 1);
    for (let row = block; row < end; row++) {
      const rank = ranks[row - start];
      window.add(rank, 1);
      answer(row, window, rank);
      window.add(ranks[row - start - length + 1], -1);
    }
  }
}
