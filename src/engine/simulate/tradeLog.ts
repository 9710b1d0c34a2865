// The trade log: the closing fills of a run as rows of numbers; objects are made only on request.
import type { Decision } from './instant.ts';
import type { ExitReason } from '../definitions/exitReasons/exitReasons.ts';
import type { Trade } from './trade.ts';
import type { TradeBudget } from './tradeBudget.ts';

/**
 * The place of each number in the row of a trade. The numbers of a row lie side by side: writing them to one column
 * each costs three times as much.
 */
export const TRADE = {
  positionId: 0,
  side: 1,
  entryRow: 2,
  exitRow: 3,
  entryDecisionRow: 4,
  exitDecisionRow: 5,
  entryPrice: 6,
  exitPrice: 7,
  quantity: 8,
  entryFee: 9,
  exitFee: 10,
  slippage: 11,
  pnl: 12,
  returnPct: 13,
  maePct: 14,
  mfePct: 15,
  entryRule: 16,
  /** -1: none. */
  exitRule: 17,
  /** NaN: none. */
  initialRisk: 18,
} as const;
/** Numbers per row. */
export const TRADE_WIDTH = 19;
const FIRST_CAPACITY = 32;

/** Trades in the order of their fills. */
export class TradeLog {
  length = 0;
  /** Row after row, see TRADE; what lies past the last row has no meaning. */
  numbers = new Float64Array(FIRST_CAPACITY * TRADE_WIDTH);
  readonly reasons: ExitReason[] = [];
  readonly decisions: Decision[] = [];
  #keepsRows = true;
  #budget: TradeBudget | null = null;
  /** Trades that the budget has handed out, and how many of those there is memory for. */
  #allowed = 0;
  #room = 0;
  #rows: Trade[] | null = null;

  /**
   * Adds a trade and returns the place in `numbers` at which the caller writes it.
   * @throws MemoryRefused
   */
  add(reason: ExitReason, decision: Decision): number {
    if (!this.#keepsRows) return 0;
    if (this.length === this.#room) this.#makeRoom();
    this.reasons[this.length] = reason;
    this.decisions[this.length] = decision;
    return this.length++ * TRADE_WIDTH;
  }

  #makeRoom(): void {
    if (this.length === this.#allowed) this.#allowed += this.#budget?.take() ?? Infinity;
    if (this.length * TRADE_WIDTH === this.numbers.length) this.#grow();
    this.#room = Math.min(this.#allowed, this.numbers.length / TRADE_WIDTH);
  }

  #grow(): void {
    const numbers = new Float64Array(2 * this.numbers.length);
    numbers.set(this.numbers);
    this.numbers = numbers;
  }

  /**
   * Forgets every trade and keeps the memory for the next run.
   * @param keepsRows false: the log stays empty, since nobody reads its rows.
   */
  clear(keepsRows: boolean, budget: TradeBudget): this {
    this.length = 0;
    this.#keepsRows = keepsRows;
    this.#budget = budget;
    this.#allowed = 0;
    this.#room = 0;
    this.#rows = null;
    return this;
  }

  /** All trades as objects, made once. */
  rows(): readonly Trade[] {
    this.#rows ??= Array.from({ length: this.length }, (_, index) => this.row(index));
    return this.#rows;
  }

  row(index: number): Trade {
    const { numbers } = this;
    const at = index * TRADE_WIDTH;
    const { method, resolution, policy, fineTime } = this.decisions[index];
    const exitRule = numbers[at + TRADE.exitRule];
    const initialRisk = numbers[at + TRADE.initialRisk];
    return {
      positionId: numbers[at + TRADE.positionId],
      side: numbers[at + TRADE.side] > 0 ? 1 : -1,
      entryRow: numbers[at + TRADE.entryRow],
      exitRow: numbers[at + TRADE.exitRow],
      entryDecisionRow: numbers[at + TRADE.entryDecisionRow],
      exitDecisionRow: numbers[at + TRADE.exitDecisionRow],
      entryPrice: numbers[at + TRADE.entryPrice],
      exitPrice: numbers[at + TRADE.exitPrice],
      quantity: numbers[at + TRADE.quantity],
      entryFee: numbers[at + TRADE.entryFee],
      exitFee: numbers[at + TRADE.exitFee],
      slippage: numbers[at + TRADE.slippage],
      pnl: numbers[at + TRADE.pnl],
      returnPct: numbers[at + TRADE.returnPct],
      maePct: numbers[at + TRADE.maePct],
      mfePct: numbers[at + TRADE.mfePct],
      exitReason: this.reasons[index],
      exitMethod: method,
      exitResolution: resolution,
      exitPolicy: policy,
      exitFineTime: fineTime,
      entryRule: numbers[at + TRADE.entryRule],
      exitRule: exitRule < 0 ? null : exitRule,
      initialRisk: Number.isNaN(initialRisk) ? null : initialRisk,
    };
  }
}
