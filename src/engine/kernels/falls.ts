// Falls of a series of marks from its highest mark so far, found in one pass.
import { lostIn } from './compensatedSum.ts';

export interface Falls {
  /** The highest mark, or the first peak if that is higher. */
  readonly peak: number;
  /** Σ marks, compensated. */
  readonly total: number;
  /** The depth of the fall that has not recovered, as a fraction of its peak. */
  readonly depth: number;
  /** Σ depths of the falls that have recovered, and their number. */
  readonly depthSum: number;
  readonly recoveries: number;
  /** The largest fall in money. */
  readonly money: number;
  /** The depth of the deepest fall; 0: there is none. */
  readonly deepest: number;
  /** The index of its peak (-1: the first one), of its lowest mark and of its recovery (-1: none). */
  readonly peakIndex: number;
  readonly troughIndex: number;
  readonly recoveredIndex: number;
  /** Marks below a peak, and the most of them in a row. */
  readonly belowCount: number;
  readonly longestBelow: number;
}

/** @param firstPeak counts as a mark before the first */
export function fallsOf(marks: Float64Array, firstPeak: number): Falls {
  const search = new FallSearch(firstPeak);
  search.add(marks, marks.length);
  return search.falls();
}

/** For marks that are added a block at a time. */
export class FallSearch {
  /** How many marks have been added. */
  #count = 0;
  #total = 0;
  #lost = 0;
  #peak: number;
  #peakIndex = -1;
  /** The lowest mark since the peak: only a lower one can deepen the fall. */
  #lowest: number;
  #depth = 0;
  #money = 0;
  #depthSum = 0;
  #recoveries = 0;
  readonly #deepest = { depth: 0, peakIndex: 0, troughIndex: 0, recoveredIndex: 0 };
  #belowCount = 0;
  #longestBelow = 0;

  /** @param firstPeak counts as a mark before the first */
  constructor(firstPeak: number) {
    this.#peak = firstPeak;
    this.#lowest = firstPeak;
  }

  /** Adds the first `count` of `marks`. */
  add(marks: Float64Array, count: number): void {
    let [total, lost, peak, lowest] = [this.#total, this.#lost, this.#peak, this.#lowest];
    for (let at = 0; at < count; at++) {
      const mark = marks[at];
      const next = total + mark;
      lost += lostIn(total, mark, next);
      total = next;
      if (mark >= peak) {
        this.#recover(this.#count + at);
        peak = lowest = mark;
      } else if (mark < lowest) {
        lowest = mark;
        this.#deepen(this.#count + at, mark, peak);
      }
    }
    this.#count += count;
    [this.#total, this.#lost, this.#peak, this.#lowest] = [total, lost, peak, lowest];
  }

  /** A mark at or above the peak. */
  #recover(index: number): void {
    this.#addBelow(index - this.#peakIndex - 1);
    if (this.#depth > 0) {
      this.#depthSum += this.#depth;
      this.#recoveries++;
      const deepest = this.#deepest;
      if (deepest.peakIndex === this.#peakIndex && deepest.recoveredIndex < 0) deepest.recoveredIndex = index;
      this.#depth = 0;
    }
    this.#peakIndex = index;
  }

  /** A mark below all since the peak. */
  #deepen(index: number, mark: number, peak: number): void {
    this.#money = Math.max(this.#money, peak - mark);
    this.#depth = Math.max(this.#depth, 1 - mark / peak);
    const deepest = this.#deepest;
    if (this.#depth <= deepest.depth) return;
    deepest.depth = this.#depth;
    deepest.peakIndex = this.#peakIndex;
    deepest.troughIndex = index;
    deepest.recoveredIndex = -1;
  }

  #addBelow(marks: number): void {
    this.#belowCount += marks;
    this.#longestBelow = Math.max(this.#longestBelow, marks);
  }

  /** The falls of the marks so far. */
  falls(): Falls {
    const { depth, ...places } = this.#deepest;
    const below = this.#count - this.#peakIndex - 1;
    return {
      peak: this.#peak,
      total: this.#total + this.#lost,
      depth: this.#depth,
      depthSum: this.#depthSum,
      recoveries: this.#recoveries,
      money: this.#money,
      deepest: depth,
      ...places,
      belowCount: this.#belowCount + below,
      longestBelow: Math.max(this.#longestBelow, below),
    };
  }
}
