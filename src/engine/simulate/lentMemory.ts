// Lent memory: arrays that one run after the other writes to, because a fresh page costs more than writing to it.
import { wordCount } from '../kernels/bits.ts';
import { admittedTrades } from '../plan/estimate.ts';
import type { Scratch } from './simulation.ts';
import type { StreamedRows } from './streamedMarks.ts';
import { TRADE_WIDTH, TradeLog } from './tradeLog.ts';

/** A log of up to this many trades is always kept: 5 MB. */
const SHORT_LOG = 32_768;
/** A longer log is kept for runs that were admitted with that many trades, up to this: 44 MB. */
const LONGEST_KEPT_LOG = 262_144;
/** A row of numbers, a reason and a decision. */
const LOG_ROW_BYTES = 8 * (TRADE_WIDTH + 2);

export class LentMemory {
  readonly #mostRows: number;
  #longestLog = LONGEST_KEPT_LOG;
  #scratch: Scratch = { equity: new Float64Array(0), inPosition: new Uint32Array(0), trades: new TradeLog() };

  /** @param mostRows a longer run that writes its equity gets memory of its own, which is not kept. */
  constructor(mostRows: number) {
    this.#mostRows = mostRows;
  }

  /** From now on keeps no log of more than this many bytes, unless it is a short one. */
  limit(maxBytes: number): void {
    this.#longestLog = Math.min(LONGEST_KEPT_LOG, Math.max(SHORT_LOG, maxBytes / LOG_ROW_BYTES));
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
    let { trades } = this.#scratch;
    if (exceeds(trades, Math.max(SHORT_LOG, admittedTrades(rows)))) trades = new TradeLog();
    this.#scratch = { equity, inPosition, trades, streamed };
    return this.#scratch;
  }

  /** Gives up a log that is too long to be kept; the run that wrote it still has it. */
  trim(): void {
    if (exceeds(this.#scratch.trades, this.#longestLog)) this.#scratch = { ...this.#scratch, trades: new TradeLog() };
  }
}

/** Whether a log has memory for more trades than this. */
const exceeds = ({ numbers }: TradeLog, trades: number): boolean => numbers.length > trades * TRADE_WIDTH;
