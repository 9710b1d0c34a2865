// A portfolio simulation, seen from outside: what its loop is given, and what it returns.
import type { TimeAxis } from '../../bars/timeAxis.ts';
import type { ResolvedConfig } from '../../config.ts';
import type { RunControl } from '../../task.ts';
import type { OrderRecord, SimulationInput, SimulationResult } from '../simulation.ts';

export interface PortfolioInput {
  /**
   * Per instrument, in the order of the list, what a single run of it is given. `start` is its own first row whose
   * close may signal, `end` one past its own last row of the range; equal for one that cannot signal in the range.
   */
  readonly instruments: readonly SimulationInput[];
  /** The axis of the bars of the instruments, in the same order. */
  readonly axis: TimeAxis;
  /** The first instant at which any instrument may signal, and one past the last of the run. */
  readonly start: number;
  readonly end: number;
  readonly config: ResolvedConfig;
  /** The most positions and pending orders of the whole account; null: no bound. */
  readonly slots: number | null;
  /** Groups of instruments, as indexes into the list, whose entries are taken together or not at all. */
  readonly linked: readonly (readonly number[])[];
  readonly control: RunControl | null;
  readonly keepOrders: boolean;
  /** Also keep the weight of every instrument at every instant (artifacts). */
  readonly keepWeights: boolean;
}

/** How the rebalances of an allocation went, from its condition to fills (semantics §6.2). */
export interface RebalanceCounts {
  /** Instants at which `when` was true; each of them is in exactly one of the next three. */
  readonly whenTrue: number;
  /** Without a known gross, or with an equity of 0 or less: nothing was decided. */
  readonly undecided: number;
  /** No weight was off by more than the band: nothing was traded. */
  readonly withinBand: number;
  readonly rebalances: number;
  /** Sums over all legs and all decided instants, the ones within the band included. */
  readonly eligible: number;
  readonly selected: number;
  /** Places whose instrument failed `require`. */
  readonly failedRequire: number;
  /** Places for which no eligible instrument was left. */
  readonly emptyPlaces: number;
  /** Each order is in exactly one of the next five. */
  readonly orders: number;
  readonly ordersFilled: number;
  /** By a later rebalance, or because something else had closed the holding. */
  readonly ordersCancelled: number;
  readonly ordersExpired: number;
  readonly ordersRejected: number;
  /** What was held at the fill was within one quantity step of the target. */
  readonly ordersUnneeded: number;
}

/** What became of one instrument in a portfolio. */
export interface InstrumentResult {
  readonly counts: SimulationResult['counts'];
  readonly ambiguity: SimulationResult['ambiguity'];
  readonly makerFees: number;
  readonly takerFees: number;
  readonly slippageCost: number;
  readonly fundingPaid: number;
  readonly borrowPaid: number;
  readonly dividendsReceived: number;
  readonly totalNotional: number;
  /** Signals that lost to the rank, or to the order of the list where nothing is ranked. */
  readonly rankedOut: number;
  /** Instants at whose end it was held. */
  readonly instantsHeld: number;
  /** Σ and largest of |value| / equity over the marks, fractions. */
  readonly weightSum: number;
  /** Σ (value / equity)² over the marks. */
  readonly squaredWeightSum: number;
  readonly maxWeight: number;
}

/**
 * `equity` and `inPosition` are per instant from `start` on. Rows in trades and orders are those of their own
 * instrument. Counts are summed over the instruments.
 */
export interface PortfolioResult extends Omit<SimulationResult, 'orders'> {
  readonly orders: readonly (OrderRecord & { readonly instrument: number })[] | null;
  /** The instrument of each trade of `tradeLog`. */
  readonly tradeInstruments: Uint16Array;
  readonly byInstrument: readonly InstrumentResult[];
  /** Per instant, at its mark: Σ |value| and Σ value of the holdings, quote units, and the number of open positions. */
  readonly grossExposure: Float64Array;
  readonly netExposure: Float64Array;
  readonly openPositions: Uint16Array;
  /** Instants × instruments, row after row: value / equity at the mark; null: not kept. */
  readonly weights: Float64Array | null;
  /** Signals that lost to the rank, how far they were from getting in, and whether order of the list ever decided. */
  readonly rankedOut: {
    /** `atClose` + `atFill`. */
    readonly count: number;
    /** Signals that found no free slot at their close, and so made no order. */
    readonly atClose: number;
    /** Orders that were cancelled because no slot was free when they would have filled. */
    readonly atFill: number;
    /** The most that lost at one close: so many more slots would have taken each of them. */
    readonly mostAtOnce: number;
    /** Of the ranks that lost, the largest, and of those that got in beside them, the smallest; null: none. */
    readonly largestLost: number | null;
    readonly smallestTaken: number | null;
    readonly isUnranked: boolean;
  };
  /** null: the strategy has no allocation. */
  readonly rebalancing: RebalanceCounts | null;
  /** Fills that were refused for want of what another instrument freed inside the same bar. */
  readonly contestedFunds: number;
}
