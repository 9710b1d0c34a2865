// Lent memory: what one run after the other writes on, because fresh pages cost more than what is written on them.
import { wordCount } from '../kernels/bits.ts';
import type { Scratch } from './simulation.ts';
import { TradeLog } from './tradeLog.ts';

export class LentMemory {
  readonly #mostRows: number;
  readonly #trades = new TradeLog();
  #scratch: Scratch = { equity: new Float64Array(0), inPosition: new Uint32Array(0), trades: this.#trades };

  /** @param mostRows a longer run gets memory of its own, which is not kept. */
  constructor(mostRows: number) {
    this.#mostRows = mostRows;
  }

  /** For a run over so many rows; what it wrote holds until the next call. */
  lend(rows: number): Scratch | undefined {
    if (rows > this.#mostRows) return undefined;
    if (this.#scratch.equity.length < rows) {
      const inPosition = new Uint32Array(wordCount(rows));
      this.#scratch = { equity: new Float64Array(rows), inPosition, trades: this.#trades };
    }
    return this.#scratch;
  }
}
