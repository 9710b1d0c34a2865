// Prefetching: reads the prices of the next rows, one per cache line, before the loop needs some of them. A fill reads
// prices far from the ones before it, and every such read waits for memory: a fifth of a run over a million bars.
import type { FlawSearch } from '../bars/flaws.ts';
import { countBits } from '../kernels/bits.ts';
import type { SimulationInput } from './simulation.ts';
import type { WatchedCloses } from './watch.ts';

/** Four columns of this length are 128 KiB, which the L2 cache holds beside what the loop writes. */
const ROWS_AHEAD = 4096;
/** Shorter columns stay in the cache. */
const MIN_ROWS = 65_536;
/** With fewer signals than one per this many rows, waiting costs less than reading everything. */
const ROWS_PER_SIGNAL = 256;
/** Prices per line of the cache. */
const LINE = 8;

export class Prefetch {
  readonly #columns: () => readonly Float64Array[];
  readonly #closes: WatchedCloses;
  readonly #flaws: FlawSearch | undefined;
  readonly #end: number;
  /** The row at which the next rows must be read. */
  nextRow: number;
  /** The sum of what was read, so that the reads are not optimized away. */
  total = 0;

  /**
   * @param columns returns the price columns that the loop reads for nearly every bar or fill; not called in short runs
   * @param closes the closes that may open a position
   */
  constructor({ start, end, flaws }: SimulationInput, columns: () => readonly Float64Array[], closes: WatchedCloses) {
    this.#columns = columns;
    this.#closes = closes;
    this.#flaws = flaws;
    this.#end = end;
    this.nextRow = end - start < MIN_ROWS ? Infinity : start;
  }

  /** Reads the prices of the rows from `row` on. */
  read(row: number): void {
    const end = Math.min(this.#end, row + ROWS_AHEAD);
    this.nextRow = end;
    // The search for flaws reads all prices of these rows, unless an earlier run has done so.
    if (this.#flaws?.readTo(end)) return;
    const { words } = this.#closes;
    let total = 0;
    if (words === null || countBits(words, row, end) * ROWS_PER_SIGNAL >= end - row)
      for (const column of this.#columns()) for (let at = row; at < end; at += LINE) total += column[at];
    this.total = total;
  }
}
