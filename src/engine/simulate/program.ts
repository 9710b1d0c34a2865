// The narrow type between evaluation and simulation: what the fill loop is given, and what it gives back.
import type { Bars, Instrument } from '../columns/bars.ts';
import type { STATE_FIELDS } from '../language/ast.ts';
import type { ResolvedConfig } from './config.ts';

export type StateField = (typeof STATE_FIELDS)[number];

/** The state before this bar's orders, as semantics §1.10 has it for the rule being read; NaN: missing. */
export interface StateView {
  /** `field` is an index into STATE_FIELDS. */
  read(field: number): number;
}

/** The memory of history nodes over state (rings, counters): one a rule in entries, one an open position in exits. */
export type StateMemory = object;

/** A condition or value that reads position or account state, evaluated inside the loop. */
interface Stateful {
  /** True when it keeps history: then `update` is called at every evaluated close (exits: of the position's life) before any read. */
  readonly hasHistory: boolean;
  newMemory(): StateMemory;
  update(row: number, state: StateView, memory: StateMemory): void;
}
export interface StatefulCondition extends Stateful {
  /** Rows with a 0 here cannot be true whatever the state is (the stateless siblings of an `all`); null: no gate. */
  readonly gate: Uint32Array | null;
  /** 1 true, 0 false, 2 unknown. */
  test(row: number, state: StateView, memory: StateMemory): 0 | 1 | 2;
}
export interface StatefulValue extends Stateful {
  /** NaN: missing. */
  value(row: number, state: StateView, memory: StateMemory): number;
}
export type ConditionSource =
  | { readonly kind: 'bits'; readonly isTrue: Uint32Array }
  | { readonly kind: 'stateful'; readonly condition: StatefulCondition };
export type ValueSource =
  | { readonly kind: 'column'; readonly values: Float64Array }
  | { readonly kind: 'constant'; readonly value: number }
  | { readonly kind: 'stateful'; readonly value: StatefulValue };

export type SizingRule =
  | {
      readonly mode: 'fixed' | 'fixed_cash' | 'percent_equity' | 'percent_balance' | 'risk_percent';
      readonly value: number;
    }
  | { readonly mode: 'volatility_target'; readonly value: number; readonly atr: Float64Array };
export type OrderRule =
  | { readonly type: 'market' }
  | { readonly type: 'limit' | 'stop'; readonly price: ValueSource; readonly expireBars: number };

export interface EntryRule {
  /** The author's node id, else the pointer of the rule. */
  readonly id: string;
  readonly side: 1 | -1;
  /** setup AND trigger AND every filter. */
  readonly signal: ConditionSource;
  readonly sizing: SizingRule;
  readonly order: OrderRule;
  readonly cooldownBars: number;
  readonly conflict: 'ignore' | 'close' | 'reverse';
}
export interface ExitRule {
  readonly id: string;
  readonly appliesTo: 1 | -1 | 0;
  readonly priority: number;
  readonly when: ConditionSource;
  readonly action: { readonly mode: 'percent_position' | 'fixed'; readonly value: number };
}

export type StopRule =
  | { readonly mode: 'percent' | 'fixed'; readonly value: number }
  | { readonly mode: 'atr'; readonly atr: Float64Array; readonly multiplier: number }
  | { readonly mode: 'price'; readonly price: ValueSource; readonly update: 'entry' | 'bar' };
export interface TakeProfitRule {
  readonly trigger:
    | { readonly mode: 'percent' | 'r'; readonly value: number }
    | { readonly mode: 'atr'; readonly atr: Float64Array; readonly multiplier: number }
    | { readonly mode: 'price'; readonly price: ValueSource };
  readonly closePercent: number;
  readonly closeBasis: 'initial' | 'remaining';
  readonly moveStopToBreakeven: boolean;
}
/** Percents are points (2 = 2 %), as the language has them. */
export interface RiskRules {
  readonly stopLoss: StopRule | null;
  readonly takeProfits: readonly TakeProfitRule[];
  readonly trailingStop: {
    readonly distance:
      | { readonly mode: 'percent'; readonly value: number }
      | { readonly mode: 'atr'; readonly atr: Float64Array; readonly multiplier: number };
    readonly activateAfterPercent: number | null;
  } | null;
  readonly breakeven: { readonly activateAfterPercent: number; readonly offsetPercent: number } | null;
  readonly timeStop: { readonly maxBars: number } | null;
}

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
  /** ATR of the base bars for volatility_scaled slippage by atr_pct, else null. */
  readonly slippageAtr: Float64Array | null;
  /** Polled every 65,536 rows: a cancelled run stops and gives `cancelled: true`. */
  readonly control: RunControl | null;
  /** Also keep the order log (artifacts); off in sweeps. */
  readonly keepOrders: boolean;
}

/** Shared with the main thread. */
export interface RunControl {
  isCancelled(): boolean;
  report(barsDone: number, barsTotal: number): void;
}

export const EXIT_REASONS = [
  'signal', 'stop_loss', 'take_profit', 'trailing_stop', 'breakeven', 'time_stop', 'reverse', 'liquidation', 'end_of_data',
] as const; // prettier-ignore
export const EXIT_METHODS = ['direct', 'gap', 'drill', 'fallback'] as const;
export const REJECTION_REASONS = ['INSUFFICIENT_BALANCE', 'MIN_NOTIONAL', 'ZERO_QTY', 'LEVEL_MISSING'] as const;
export type ExitReason = (typeof EXIT_REASONS)[number];
export type ExitMethod = (typeof EXIT_METHODS)[number];
export type RejectionReason = (typeof REJECTION_REASONS)[number];

/** One closing fill (semantics §4.7). Rows are absolute rows of the snapshot; the report makes them relative to the range. */
export interface Trade {
  readonly positionId: number;
  readonly side: 1 | -1;
  readonly entryRow: number;
  readonly exitRow: number;
  readonly entryPrice: number;
  readonly exitPrice: number;
  readonly quantity: number;
  readonly entryFee: number;
  readonly exitFee: number;
  /** Quote units lost to slippage at both ends of this row. */
  readonly slippage: number;
  /** Net of fees and funding. */
  readonly pnl: number;
  readonly returnPct: number;
  readonly maePct: number;
  readonly mfePct: number;
  readonly exitReason: ExitReason;
  readonly exitMethod: ExitMethod;
  /** The timeframe that decided. */
  readonly exitResolution: Bars['timeframe'];
  /** The fallback policy that decided, else null. */
  readonly exitPolicy: ResolvedConfig['ambiguityFallback'] | null;
  /** Open time of the child that decided, ms; null when no child did. */
  readonly exitFineTime: number | null;
  /** Index into `entries`. */
  readonly entryRule: number;
  /** Index into `exits` for reason `signal`, the ladder step for `take_profit`, else null. */
  readonly exitRule: number | null;
  /** |entry fill − initial stop|, quote units a unit of base; null without a stop. */
  readonly initialRisk: number | null;
}

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
  readonly trades: readonly Trade[];
  /** Equity at the close of rows start … end-1. */
  readonly equity: Float64Array;
  /** Bit per row start … end-1 (0-based from start): a position was open at any time of that bar. */
  readonly inPosition: Uint32Array;
  readonly orders: readonly OrderRecord[] | null;
  readonly finalBalance: number;
  readonly totals: {
    readonly makerFees: number;
    readonly takerFees: number;
    readonly slippageCost: number;
    readonly fundingPaid: number;
    readonly totalNotional: number;
    /** A fee tier each: notional and fees of the fills it priced. */
    readonly tiers: readonly { readonly notional: number; readonly fees: number; readonly fills: number }[];
  };
  readonly counts: {
    readonly entrySignals: number;
    readonly blockedInPosition: number;
    readonly blockedCooldown: number;
    readonly blockedMaxPositions: number;
    readonly ordersRejected: Readonly<Record<RejectionReason, number>>;
    readonly ordersExpired: number;
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
