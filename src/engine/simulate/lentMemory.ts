// Lent memory: what one run after the other writes on, because fresh pages cost more than what is written on them.
import { wordCount } from '../kernels/bits.ts';
import type { Scratch } from './simulation.ts';
import type { StreamedRows } from './streamedMarks.ts';
import { TRADE_WIDTH, TradeLog } from './tradeLog.ts';

/** A longer log is not kept: 5 MB. */
const MOST_KEPT_TRADES = 32_768;

export class LentMemory {
  readonly #mostRows: number;
  #scratch: Scratch = { equity: new Float64Array(0), inPosition: new Uint32Array(0), trades: new TradeLog() };

  /** @param mostRows a longer run that writes its equity gets memory of its own, which is not kept. */
  constructor(mostRows: number) {
    this.#mostRows = mostRows;
  }

  /**
   * Memory for a run over this many rows. What the run writes to it is valid until the next call.
   * @param streamed what is read of its equity; null: every row
   */
  lend(rows: number, streamed: StreamedRows | null = null): Scratch | undefined {
    const marks = streamed === null ? rows : 0;
    if (marks > this.#mostRows) return undefined;
    let { equity, inPosition } = this.#scratch;
    if (equity.length < marks) equity = new Float64Array(marks);
    if (inPosition.length < wordCount(rows)) inPosition = new Uint32Array(wordCount(rows));
    const { trades } = this.#scratch;
    this.#scratch = { equity, inPosition, trades, streamed };
    return this.#scratch;
  }

  /** Leaves a long log to the run that has written it. */
  trim(): void {
    const { numbers } = this.#scratch.trades;
    if (numbers.length > MOST_KEPT_TRADES * TRADE_WIDTH) this.#scratch = { ...this.#scratch, trades: new TradeLog() };
  }
}
