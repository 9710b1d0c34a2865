// A simulation, seen from outside: what the fill loop is given, and what it returns.
import type { Bars, Instrument } from '../bars/bars.ts';
import type { FlawSearch } from '../bars/flaws.ts';
import type { ResolvedConfig } from '../config.ts';
import type { AllocationRule, EntryRule, ExitRule, RiskRules } from '../evaluate/tradingRules.ts';
import type { RunControl } from '../task.ts';
import type { FeeKinds } from './costs.ts';
import type { StreamedEquity, StreamedRows } from './streamedMarks.ts';
import type { Trade } from './trade.ts';
import type { TradeLog } from './tradeLog.ts';

export interface SimulationInput {
  /** The whole loaded snapshot; rows outside [start, end) are not traded. */
  readonly bars: Bars;
  readonly instrument: Instrument;
  /** The first row whose close may signal. */
  readonly start: number;
  /** One past the last evaluated row. */
  readonly end: number;
  /** Bars of the finest imported timeframe below the base, to drill into; null: none. */
  readonly fine: Bars | null;
  readonly config: ResolvedConfig;
  readonly maxConcurrentPositions: number;
  readonly entries: readonly EntryRule[];
  readonly exits: readonly ExitRule[];
  readonly risk: RiskRules;
  /** In a portfolio, what holds instruments in place of entries and exits; absent, null: nothing does. */
  readonly allocation?: AllocationRule | null;
  /** ATR of the base bars for volatility_scaled slippage by atr_pct, else null. */
  readonly slippageAtr: Float64Array | null;
  /** Polled at least every 65,536 rows: a cancelled run stops, and its result has `cancelled: true`. */
  readonly control: RunControl | null;
  /** Also keep the order log (artifacts); off in sweeps. */
  readonly keepOrders: boolean;
  /**
   * The search for flaws in these bars, which the report needs. A long run does it along the way; absent: no run does.
   */
  readonly flaws?: FlawSearch;
  /** Memory that the run writes its result to; absent: its own. */
  readonly scratch?: Scratch | undefined;
  /** What the caller reads of the result; absent: everything. */
  readonly reads?: ResultReads;
}

/** Memory that a run writes its result to; the result is valid until the next run. */
export interface Scratch {
  readonly equity: Float64Array;
  readonly inPosition: Uint32Array;
  readonly trades: TradeLog;
  /** The rows of equity that are read besides its falls; `equity` is then not written. absent, null: every row is. */
  readonly streamed?: StreamedRows | null;
}

/**
 * The parts of a result that are read. The others cost nothing per bar or trade, and have no meaning. Fills do not
 * depend on this. A strategy that reads its own state has every part.
 */
export interface ResultReads {
  /** The rows at whose close equity is read, ascending, the last row included, and these closes; null: every row. */
  readonly marks: { readonly rows: Int32Array; readonly closes: Float64Array } | null;
  /** `maePct` and `mfePct` of trades. */
  readonly extremes: boolean;
  /** The rows of trades, not only their totals. */
  readonly trades: boolean;
  /** How many signals were blocked. */
  readonly blocked: boolean;
}

export const REJECTION_REASONS = ['INSUFFICIENT_BALANCE', 'MIN_NOTIONAL', 'ZERO_QTY', 'LEVEL_MISSING'] as const;
export type RejectionReason = (typeof REJECTION_REASONS)[number];

export interface OrderRecord {
  readonly orderId: number;
  readonly row: number;
  readonly filledRow: number | null;
  readonly type: 'market' | 'limit' | 'stop' | 'risk';
  readonly purpose: 'entry' | 'exit';
  readonly side: 'buy' | 'sell';
  readonly price: number | null;
  readonly fillPrice: number | null;
  readonly quantity: number | null;
  readonly fee: number | null;
  readonly role: 'maker' | 'taker';
  readonly status: 'filled' | 'rejected' | 'expired' | 'cancelled' | 'replaced';
  readonly reason: string | null;
  readonly rule: string;
  readonly positionId: number | null;
}

export interface SimulationResult {
  readonly cancelled: boolean;
  readonly tradeLog: TradeLog;
  /** The trades as objects, which are made when they are first asked for. */
  readonly trades: readonly Trade[];
  /** Equity at the close of rows start … end-1; empty when it was streamed. */
  readonly equity: Float64Array;
  readonly streamed: StreamedEquity | null;
  /** Bit per row start … end-1 (0-based from start): a position was open inside that bar (semantics §5.2). */
  readonly inPosition: Uint32Array;
  readonly orders: readonly OrderRecord[] | null;
  readonly finalBalance: number;
  /** Under `worst`, the final balances of its two readings where they may differ; else null. */
  readings: Readonly<Record<'pessimistic' | 'optimistic', number>> | null;
  readonly totals: {
    readonly makerFees: number;
    readonly takerFees: number;
    readonly feeKinds: Readonly<FeeKinds>;
    readonly slippageCost: number;
    readonly fundingPaid: number;
    readonly borrowPaid: number;
    readonly dividendsReceived: number;
    readonly totalNotional: number;
    /** Per fee tier: notional, fees and number of the fills that it priced. */
    readonly tiers: readonly { readonly notional: number; readonly fees: number; readonly fills: number }[];
  };
  readonly counts: {
    readonly entrySignals: number;
    readonly blockedInPosition: number;
    readonly blockedCooldown: number;
    readonly blockedMaxPositions: number;
    readonly ordersRejected: Readonly<Record<RejectionReason, number>>;
    readonly ordersExpired: number;
    readonly ordersReplaced: number;
    readonly entriesFilled: number;
    /** Per entry rule: signals that were true, entries filled. */
    readonly signalsByRule: readonly number[];
    readonly fillsByRule: readonly number[];
  };
  readonly ambiguity: {
    /** Bars in which an outcome depended on the path. */
    readonly undecidedBars: number;
    readonly drilledBars: number;
    readonly fallbackBars: number;
    readonly childrenMissingBars: number;
  };
}
