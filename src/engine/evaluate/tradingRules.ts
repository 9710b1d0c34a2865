// The rules that a run trades by, bound to columns: the interface between evaluation and simulation.
import type { StateMemory, StateView } from '../definitions/expressions/stateParts.ts';
import type { ExitSizeName } from '../definitions/sizing/exitSizes.ts';
import type { DistanceLevel, Level, StopLevel, TriggerLevel } from '../definitions/levels/levelModes.ts';
import type { SizingModeName } from '../definitions/sizing/sizingModes.ts';
import type { WeightModeName } from '../definitions/weights/weightModes.ts';
import type { STATE_FIELDS, STOP_UPDATES } from '../definitions/words.ts';

export type { StateMemory, StateView } from '../definitions/expressions/stateParts.ts';

export type StateField = (typeof STATE_FIELDS)[number];

/** The fields of one position; the other fields belong to the account, and are the same for every position. */
export const POSITION_STATE_FIELDS = [
  'position_exists',
  'position_side',
  'position_size',
  'position_entry_price',
  'position_unrealized_pnl',
  'position_unrealized_pnl_pct',
  'position_realized_pnl',
  'position_bars_since_entry',
  'position_highest_since_entry',
  'position_lowest_since_entry',
  'position_mfe_pct',
  'position_mae_pct',
  'position_stop_price',
] as const satisfies readonly StateField[];
export type PositionStateField = (typeof POSITION_STATE_FIELDS)[number];

/**
 * A condition or value that reads position or account state, evaluated inside the loop. Its history is recorded at
 * every evaluated close before any read, account state first. In an exit, the history of position state starts with the
 * position (semantics §1.10).
 */
export interface Stateful {
  readonly hasAccountHistory: boolean;
  readonly hasPositionHistory: boolean;
  /** @param account the memory whose account history is shared; null: none. */
  newMemory(account: StateMemory | null): StateMemory;
  recordAccount(row: number, state: StateView, memory: StateMemory): void;
  recordPosition(row: number, state: StateView, memory: StateMemory): void;
}
export interface StatefulCondition extends Stateful {
  /**
   * On rows with a 0 here the condition is not true in any state, because its stateless siblings in an `all` are not
   * all true; null: no gate.
   */
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

export interface SizingRule {
  readonly mode: SizingModeName;
  readonly value: number;
  /** The ATR of `atrPeriod` bars, for modes with that member. */
  readonly atr?: Float64Array;
}
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
  /** Which signals get the free slots of a portfolio: the largest; missing ones come last. */
  readonly rank?: ValueSource;
}
export interface ExitRule {
  readonly id: string;
  readonly appliesTo: 1 | -1 | 0;
  readonly priority: number;
  readonly when: ConditionSource;
  readonly action: { readonly mode: ExitSizeName; readonly value: number };
}

/** What a leg of an allocation asks of one instrument; null: it does not ask. */
export interface LegRule {
  readonly by: ValueSource | null;
  readonly where: Uint32Array | null;
  readonly require: Uint32Array | null;
}
/** The places of a leg: a number, percent points of the eligible instruments, or one for every eligible instrument. */
export type LegPlaces =
  | { readonly kind: 'count'; readonly count: number }
  | { readonly kind: 'share'; readonly percent: number }
  | { readonly kind: 'eligible' };
/** An allocation as one instrument is asked by it; places and weights are the same for all. Percents are in points. */
export interface AllocationRule {
  /** The author's node id, else the pointer of the allocation. */
  readonly id: string;
  readonly when: Uint32Array;
  readonly long: (LegRule & LegForm) | null;
  readonly short: (LegRule & LegForm) | null;
  readonly weights: {
    readonly mode: WeightModeName;
    readonly by: ValueSource | null;
    /** Percent points of the gross by symbol; null: the mode reads none. */
    readonly values: Readonly<Record<string, number>> | null;
    readonly maxPercent: number | null;
  };
  readonly gross: ValueSource;
  readonly fallback: string | null;
  readonly bandPercent: number;
}
export interface LegForm {
  readonly places: LegPlaces;
  /** A holding stays while it ranks within so many; null: no longer than it is selected. */
  readonly keepWithin: number | null;
}

interface LevelForms {
  readonly number: { readonly value: number };
  readonly atrs: { readonly atr: Float64Array; readonly multiplier: number };
  readonly expression: { readonly price: ValueSource };
}
type RuleOf<L> = L extends Level ? { readonly mode: L['mode'] } & LevelForms[L['form']] : never;
/** A level of any mode. */
export type LevelRule = RuleOf<Level>;
export type StopRule =
  | RuleOf<Exclude<StopLevel, { readonly form: 'expression' }>>
  | (RuleOf<Extract<StopLevel, { readonly form: 'expression' }>> & { readonly update: (typeof STOP_UPDATES)[number] });
export type DistanceRule = RuleOf<DistanceLevel>;
export interface TakeProfitRule {
  readonly trigger: RuleOf<TriggerLevel>;
  readonly closePercent: number;
  readonly closeBasis: 'initial' | 'remaining';
  readonly moveStopToBreakeven: boolean;
}
/** Percents are in points (2 means 2 %), as in the language. */
export interface RiskRules {
  readonly stopLoss: StopRule | null;
  readonly takeProfits: readonly TakeProfitRule[];
  readonly trailingStop: {
    readonly distance: DistanceRule;
    readonly activateAfterPercent: number | null;
  } | null;
  readonly breakeven: { readonly activateAfterPercent: number; readonly offsetPercent: number } | null;
  readonly timeStop: { readonly maxBars: number } | null;
}
