// Marks: equity at the closes of rows, at every one or only at those that are read.
import type { Ledger } from './ledger.ts';

export class Marks {
  /** By row from `start` on; where a row is not read, whatever was there before. */
  readonly equity: Float64Array;
  readonly #start: number;
  readonly #rows: Int32Array | null;
  /** The first of #rows that is not marked yet. */
  #next = 0;

  /** @param rows the rows to mark, ascending; null: every row. */
  constructor(equity: Float64Array, start: number, rows: Int32Array | null) {
    this.equity = equity;
    this.#start = start;
    this.#rows = rows;
  }

  /** Marks one row, which may have been marked before. */
  at(row: number, equity: number): void {
    this.equity[row - this.#start] = equity;
  }

  /** Marks rows [from, to) on which nothing is open. */
  flat(from: number, to: number, balance: number): void {
    const { equity } = this;
    const rows = this.#rows;
    if (rows === null) {
      // fill() is quicker from some hundred rows on; most gaps are shorter.
      if (to - from > 256) equity.fill(balance, from - this.#start, to - this.#start);
      else for (let at = from - this.#start; at < to - this.#start; at++) equity[at] = balance;
      return;
    }
    let next = this.#nextFrom(rows, from);
    for (; next < rows.length && rows[next] < to; next++) equity[rows[next] - this.#start] = balance;
    this.#next = next;
  }

  /** Marks rows [from, to), through which what is open was held. */
  held(from: number, to: number, { cashBase, netQuantity }: Ledger, close: Float64Array): void {
    const { equity } = this;
    const start = this.#start;
    const rows = this.#rows;
    if (rows === null) {
      for (let row = from; row < to; row++) equity[row - start] = cashBase + netQuantity * close[row];
      return;
    }
    let next = this.#nextFrom(rows, from);
    for (; next < rows.length && rows[next] < to; next++) {
      equity[rows[next] - start] = cashBase + netQuantity * close[rows[next]];
    }
    this.#next = next;
  }

  #nextFrom(rows: Int32Array, from: number): number {
    let next = this.#next;
    while (next < rows.length && rows[next] < from) next++;
    return next;
  }
}
