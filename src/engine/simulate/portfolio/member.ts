// A member of a portfolio: one instrument, its run, and what it holds of the account.
import { DueExits, type SignalLevels } from '../orders.ts';
import type { Run } from '../run.ts';

/** Entries that were taken together. */
export interface Link {
  readonly legs: readonly LinkedLeg[];
  /** From here on the orders that still wait stand for themselves. */
  hasFilled: boolean;
}

/** One entry of a link: its instrument, and the row of its signal. */
export interface LinkedLeg {
  readonly member: Member;
  readonly signalRow: number;
}

/** What a rebalance wants a member to hold, until it does. */
export interface HoldingOrder {
  readonly id: number;
  /** The row at whose close it was made. */
  readonly row: number;
  /** Side × quote units. */
  readonly value: number;
  /** What the risk rules read at that close; null: a value is missing, and nothing can be added. */
  readonly levels: SignalLevels | null;
  /** The position that it changes; null: it opens one. */
  positionId: number | null;
}

export interface Member {
  /** Its place in the list. */
  readonly index: number;
  /** Its place in the order of symbols, in which sums run. */
  readonly symbolRank: number;
  readonly run: Run;
  /** The instant of each row. */
  readonly instants: Int32Array;
  /** Its data ends more than seven days before the run does. */
  readonly endsEarly: boolean;
  /** While it is active: the row that it plays next, or is playing. */
  row: number;
  /** The last instant at which one of its entry rules signaled. */
  signalInstant: number;
  /** Something is open, due or pending. */
  isActive: boolean;

  /** What it holds since its last fill: positions, Σ side × quantity, Σ side × entry notional, and margin. */
  open: number;
  quantity: number;
  cost: number;
  margin: number;
  /** The price at which the account values what it holds: its open or close of this instant, else its last close. */
  mark: number;
  /** What it held after the opens of this instant, see `insideStep.ts`. */
  readonly afterOpen: { open: number; margin: number; unrealized: number };
  /** Its bar touches no level and no order is pending. */
  isQuiet: boolean;
  /** The account was liquidated at an instant at which it has no bar: it is closed at its next open. */
  isLiquidated: boolean;

  /** Exits of linked instruments. They fill at the next open, with the due exits, in the order of order ids. */
  readonly linkedExits: DueExits;
  /** By the row of the signal, the entries that were taken together with those of other members; null: not linked. */
  readonly links: Map<number, Link> | null;

  /** The order of the last rebalance that has not filled. */
  holdingOrder: HoldingOrder | null;
  /** The first row that is not before the last rebalance. */
  rebalanceRow: number;

  instantsHeld: number;
  weightSum: number;
  squaredWeightSum: number;
  maxWeight: number;
}

/** The entry rule that makes the one entry order of a member at this close. */
export interface Signal {
  readonly member: Member;
  readonly rule: number;
}

export const newMember = (
  fixed: Pick<Member, 'index' | 'symbolRank' | 'run' | 'instants' | 'endsEarly'>,
  isLinked: boolean,
): Member => ({
  ...fixed,
  row: 0,
  signalInstant: -1,
  isActive: false,
  open: 0,
  quantity: 0,
  cost: 0,
  margin: 0,
  mark: NaN,
  afterOpen: { open: 0, margin: 0, unrealized: 0 },
  isQuiet: false,
  isLiquidated: false,
  linkedExits: new DueExits(),
  links: isLinked ? new Map() : null,
  holdingOrder: null,
  rebalanceRow: 0,
  instantsHeld: 0,
  weightSum: 0,
  squaredWeightSum: 0,
  maxWeight: 0,
});

/** Unrealized profit at its mark, quote units. */
export const unrealizedOf = ({ quantity, mark, cost }: Member): number => quantity * mark - cost;

/** Whether the row that it plays is the last one of its data or of the run. */
export const isLastRow = ({ run, row }: Member): boolean => row === run.end - 1;

/** Whether it has a bar of the run at this instant, while it is active. */
export const hasBarAt = ({ run, row, instants }: Member, instant: number): boolean =>
  row < run.end && instants[row] === instant;

/** Whether it has a bar after this instant, at which an exit could fill. */
export const hasLaterBar = ({ run, row, instants }: Member, instant: number): boolean =>
  (instants[row] === instant ? row + 1 : row) < run.end;
