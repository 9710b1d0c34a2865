// Marks: equity at the closes of rows, at every one or only at those that are read.
import type { Ledger } from './ledger.ts';
import type { ResultReads } from './simulation.ts';

/** The rows on which the equity of the account is marked: those of the one instrument, or the instants of an axis. */
export interface MarkedRows {
  /** ms UTC. */
  readonly time: Float64Array;
  /** The first that is marked. */
  readonly start: number;
  /** The place in `time` of each row of the instrument; null: they are the same. */
  readonly instants: Int32Array | null;
}

export class Marks {
  /** One mark per row from `start` on. A row that is not read holds whatever was there before. */
  readonly equity: Float64Array;
  readonly #start: number;
  readonly #rows: Int32Array | null;
  readonly #closes: Float64Array;
  /** The first of #rows that is not marked yet. */
  #next = 0;

  constructor(equity: Float64Array, start: number, close: Float64Array, read: ResultReads['marks']) {
    this.equity = equity;
    this.#start = start;
    this.#rows = read === null ? null : read.rows;
    this.#closes = read === null ? close : read.closes;
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
      // fill() is faster only from a few hundred rows on; most gaps are shorter.
      if (to - from > 256) equity.fill(balance, from - this.#start, to - this.#start);
      else for (let at = from - this.#start; at < to - this.#start; at++) equity[at] = balance;
      return;
    }
    let next = this.#nextFrom(rows, from);
    for (; next < rows.length && rows[next] < to; next++) equity[rows[next] - this.#start] = balance;
    this.#next = next;
  }

  /** Marks rows [from, to), through which the open positions were held. */
  held(from: number, to: number, { cashBase, netQuantity }: Ledger): void {
    const { equity } = this;
    const start = this.#start;
    const rows = this.#rows;
    const closes = this.#closes;
    if (rows === null) {
      for (let row = from; row < to; row++) equity[row - start] = cashBase + netQuantity * closes[row];
      return;
    }
    let next = this.#nextFrom(rows, from);
    for (; next < rows.length && rows[next] < to; next++) {
      equity[rows[next] - start] = cashBase + netQuantity * closes[next];
    }
    this.#next = next;
  }

  #nextFrom(rows: Int32Array, from: number): number {
    let next = this.#next;
    while (next < rows.length && rows[next] < from) next++;
    return next;
  }
}
