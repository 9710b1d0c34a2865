// Orders: what a close asks for, and how long it stays live.
import type { Position } from './position.ts';
import type { ExitReason } from './simulation.ts';

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

export interface EntryOrder {
  readonly id: number;
  /** Index into `entries`. */
  readonly rule: number;
  readonly signalRow: number;
  /** The limit or stop price; NaN for a market order. */
  readonly price: number;
  /** The last row on which a limit or stop order is live. */
  readonly lastRow: number;
  /** What the risk rules read at the signal's close. */
  readonly levels: SignalLevels;
}

/** A market exit of one position. */
export interface ExitOrder {
  readonly id: number;
  readonly signalRow: number;
  readonly position: Position;
  readonly quantity: number;
  readonly reason: ExitReason;
  /** Index into `exits` for reason `signal`. */
  readonly rule: number | null;
}
