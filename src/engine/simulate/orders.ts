// Orders: what a close asks for, and how long it stays live.
import type { OrderRole } from '../config.ts';
import type { Position } from './position.ts';
import type { ExitReason } from '../definitions/exitReasons/exitReasons.ts';

/**
 * What is read at the signal's close and fixed then (semantics §2.4): prices and ATR distances, NaN where the rule
 * reads nothing.
 */
export interface SignalLevels {
  /** The stop's price or ATR distance. */
  readonly stop: number;
  /** Each ladder step's price or ATR distance. */
  readonly targets: readonly number[];
  readonly trailDistance: number;
}

/** An entry order. A market order that has filled is overwritten by the next one. */
export interface EntryOrder {
  id: number;
  /** Index into `entries`. */
  rule: number;
  signalRow: number;
  /** The limit or stop price; NaN for a market order. */
  price: number;
  /** The last row on which a limit or stop order is live. */
  lastRow: number;
  /** What the risk rules read at the signal's close. */
  levels: SignalLevels;
  /** An order that it fills with has no bar at this instant, see `portfolio/links.ts`. */
  lacksLeg: boolean;
}

/** The levels of an order that reads none. */
export const NO_LEVELS: SignalLevels = { stop: NaN, targets: [], trailDistance: NaN };

/** A market exit of one position. */
export interface ExitOrder {
  id: number;
  signalRow: number;
  position: Position;
  quantity: number;
  reason: ExitReason;
  /** Index into `exits` for reason `signal`. */
  rule: number | null;
}

/**
 * Market exits that wait for the next open, in the order in which they were made. Orders that filled are used again.
 */
export class DueExits {
  count = 0;
  readonly #orders: ExitOrder[] = [];

  at(index: number): ExitOrder {
    return this.#orders[index];
  }

  add(id: number, signalRow: number, position: Position, quantity: number, reason: ExitReason, rule: number | null) {
    const index = this.count++;
    if (index === this.#orders.length) {
      this.#orders.push({ id, signalRow, position, quantity, reason, rule });
      return;
    }
    const order = this.#orders[index];
    order.id = id;
    order.signalRow = signalRow;
    order.position = position;
    order.quantity = quantity;
    order.reason = reason;
    order.rule = rule;
  }
}

export interface EntryFill {
  /** Before slippage. */
  rawPrice: number;
  price: number;
  stopPrice: number;
  /** Quote units; negative is a rebate. */
  fee: number;
  quantity: number;
}

export interface ExitFill {
  quantity: number;
  /** Before slippage. */
  price: number;
  isSlipped: boolean;
  role: OrderRole;
  reason: ExitReason;
  /** Index into `exits` or the ladder. */
  rule: number | null;
  /** The market order this fills; null for a level of the risk rules. */
  order: ExitOrder | null;
}

/** The results of a closing fill: the numbers of its trade row that do not come from the position. */
export interface ClosingFill {
  price: number;
  quantity: number;
  entryFee: number;
  exitFee: number;
  slippage: number;
  pnl: number;
}
