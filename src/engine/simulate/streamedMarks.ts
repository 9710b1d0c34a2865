// Streamed marks: the equity of a long run, block by block. Each block is read while it is in the L1 cache; a column of
// all marks would be written to fresh or distant memory, and read from there again.
import { FallSearch, type Falls } from '../kernels/falls.ts';
import type { Ledger } from './ledger.ts';

/**
 * The rows whose marks are read one by one, each list ascending: the last row of each day, and the rows of the preview.
 */
export interface StreamedRows {
  readonly days: Int32Array;
  readonly preview: Int32Array;
}

/** What is known of the marks when the run has ended. */
export interface StreamedEquity {
  readonly falls: Falls;
  readonly days: Float64Array;
  readonly preview: Float64Array;
}

/** Marks per block: the L1 cache holds them. */
const BLOCK_MARKS = 4096;

/** Marks of every row, with the methods of `Marks`. */
export class StreamedMarks {
  /** The block that is being marked, and the row of its first mark. */
  readonly #block = new Float64Array(BLOCK_MARKS);
  #first: number;
  readonly #falls: FallSearch;
  readonly #closes: Float64Array;
  readonly #days: RowsToRead;
  readonly #preview: RowsToRead;

  constructor(start: number, closes: Float64Array, rows: StreamedRows, initialBalance: number) {
    this.#first = start;
    this.#closes = closes;
    this.#days = new RowsToRead(rows.days);
    this.#preview = new RowsToRead(rows.preview);
    this.#falls = new FallSearch(initialBalance);
  }

  /** Marks the next row, or marks the last one again. */
  at(row: number, equity: number): void {
    this.#endOfBlock(row);
    this.#block[row - this.#first] = equity;
  }

  /** Marks rows [from, to) on which nothing is open. */
  flat(from: number, to: number, balance: number): void {
    const block = this.#block;
    for (let row = from; row < to;) {
      const end = Math.min(to, this.#endOfBlock(row));
      const first = this.#first;
      // fill() is faster only for long gaps, as in `Marks`.
      if (end - row > 256) block.fill(balance, row - first, end - first);
      else for (let at = row - first; at < end - first; at++) block[at] = balance;
      row = end;
    }
  }

  /** Marks rows [from, to), through which the open positions were held. */
  held(from: number, to: number, { cashBase, netQuantity }: Ledger): void {
    const block = this.#block;
    const closes = this.#closes;
    for (let row = from; row < to;) {
      const end = Math.min(to, this.#endOfBlock(row));
      const first = this.#first;
      for (; row < end; row++) block[row - first] = cashBase + netQuantity * closes[row];
    }
  }

  /** The row after the block of `row`. The block before is read only now, because its last row may be marked twice. */
  #endOfBlock(row: number): number {
    if (row === this.#first + BLOCK_MARKS) this.#read(row);
    return this.#first + BLOCK_MARKS;
  }

  #read(end: number): void {
    this.#days.read(this.#block, this.#first, end);
    this.#preview.read(this.#block, this.#first, end);
    this.#falls.add(this.#block, end - this.#first);
    this.#first = end;
  }

  /** @param end the row after the last, which is marked */
  finish(end: number): StreamedEquity {
    this.#read(end);
    return { falls: this.#falls.falls(), days: this.#days.marks, preview: this.#preview.marks };
  }
}

/** The marks of some rows, picked out of one block after the other. */
class RowsToRead {
  readonly marks: Float64Array;
  readonly #rows: Int32Array;
  #next = 0;

  constructor(rows: Int32Array) {
    this.marks = new Float64Array(rows.length);
    this.#rows = rows;
  }

  /** Reads the rows before `end` from a block whose first mark is that of row `first`. */
  read(block: Float64Array, first: number, end: number): void {
    const { marks } = this;
    const rows = this.#rows;
    let next = this.#next;
    for (; next < rows.length && rows[next] < end; next++) marks[next] = block[rows[next] - first];
    this.#next = next;
  }
}
