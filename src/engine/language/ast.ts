// The grammar of `svc.strategy` version 1 (design §3.1): the zod schemas are the types.
import { z } from 'zod';
import { TIMEFRAMES } from '../columns/bars.ts';

export const MARKET_FIELDS = [
  'open',
  'high',
  'low',
  'close',
  'hl2',
  'hlc3',
  'ohlc4',
  'typical',
  'median',
  'volume',
] as const;
export const ROLLING_OPS = [
  'max', 'min', 'sum', 'avg', 'std', 'var', 'median', 'zscore', 'percentile_rank', 'quantile', 'slope', 'argmax', 'argmin',
] as const; // prettier-ignore
export const MATH_OPS = [
  'add', 'sub', 'mul', 'div', 'min', 'max', 'abs', 'neg', 'pow', 'log', 'exp', 'sqrt', 'sign', 'round', 'floor', 'ceil', 'mod', 'clamp',
] as const; // prettier-ignore
export const COMPARE_OPS = ['gt', 'gte', 'lt', 'lte', 'eq', 'neq'] as const;
export const CROSS_OPS = ['cross_up', 'cross_down', 'cross_any'] as const;
export const STATE_FIELDS = [
  'position_exists', 'position_side', 'position_size', 'position_entry_price', 'position_unrealized_pnl', 'position_unrealized_pnl_pct',
  'position_realized_pnl', 'position_bars_since_entry', 'position_bars_since_exit', 'position_highest_since_entry',
  'position_lowest_since_entry', 'position_mfe_pct', 'position_mae_pct', 'position_stop_price', 'open_positions_count', 'account_balance',
  'account_equity', 'account_gross_exposure', 'account_used_margin', 'account_available_collateral', 'account_margin_utilization',
  'account_drawdown', 'account_max_drawdown', 'account_day_pnl_pct', 'trades_count_total', 'trades_count_today', 'wins_streak',
  'losses_streak', 'last_trade_pnl', 'last_trade_pnl_pct', 'last_entry_price', 'last_exit_price',
] as const; // prettier-ignore
export const TIME_FIELDS = [
  'minute',
  'hour',
  'day_of_week',
  'day_of_month',
  'month',
  'year',
  'minute_of_day',
  'week_of_year',
] as const;
export const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
export const SESSIONS = ['tokyo', 'london', 'new_york', 'us_equities'] as const;
export const ROLLING_WINDOW_MODES = ['any', 'none', 'all', 'streak', 'count_gt', 'count_lt', 'count_eq'] as const;
export const CONFLICT_POLICIES = ['ignore', 'close', 'reverse'] as const;
export const STATE_CONFLICT_POLICIES = ['reset', 'set', 'hold'] as const;
export const ENTRY_SIZING_MODES = [
  'fixed', 'fixed_cash', 'percent_equity', 'percent_balance', 'risk_percent', 'volatility_target',
] as const; // prettier-ignore
export const EXIT_SIZING_MODES = ['percent_position', 'fixed'] as const;
export const PARAM_TYPES = ['int', 'float', 'bool', 'choice'] as const;

export const ParamRef = z.strictObject({ param: z.string().min(1) });
export type ParamRef = z.infer<typeof ParamRef>;

/** A number, or a parameter that stands for one. */
export const Num = z.union([z.number(), ParamRef]);
export const Int = z.union([z.int(), ParamRef]);
const bars0 = z.union([z.int().min(0), ParamRef]);
const bars1 = z.union([z.int().min(1), ParamRef]);

/** What every object of the AST may carry. */
const named = {
  id: z.string().optional(),
  label: z.string().optional(),
  description: z.string().optional(),
  meta: z.record(z.string(), z.unknown()).optional(),
};
export const InstrumentRef = z.strictObject({ symbol: z.string().min(1) });
const timeframe = z.enum(TIMEFRAMES);
const placed = { timeframe: timeframe.optional(), offset: bars0.optional(), instrument: InstrumentRef.optional() };

// The two recursive unions. zod cannot infer types through them, so the child slots are named once more in the types below.
const value: z.ZodType = z.lazy(() => Value);
const condition: z.ZodType = z.lazy(() => Condition);
/** The type of schema S with its child slots typed. */
type WithSlots<S extends z.ZodType, Slots> = Omit<z.infer<S>, keyof Slots> & Slots;

// Values -------------------------------------------------------------------------------------------------------------

export const Const = z.strictObject({ ...named, kind: z.literal('const'), value: Num });
export const MarketValue = z.strictObject({
  ...named,
  kind: z.literal('market'),
  field: z.enum(MARKET_FIELDS),
  ...placed,
});
export const IndicatorValue = z.strictObject({
  ...named,
  kind: z.literal('indicator'),
  indicator: z.string(),
  args: z.record(z.string(), z.union([z.number(), z.string(), z.boolean(), ParamRef])).optional(),
  output: z.string().optional(),
  ...placed,
  source: value.optional(),
  sources: z.array(value).optional(),
});
export const StateValue = z.strictObject({
  ...named,
  kind: z.literal('state'),
  field: z.enum(STATE_FIELDS),
  offset: bars0.optional(),
  instrument: InstrumentRef.optional(),
});
export const RollingValue = z.strictObject({
  ...named,
  kind: z.literal('rolling'),
  op: z.enum(ROLLING_OPS),
  period: bars1,
  /** For `quantile`: the fraction in [0, 1]. */
  quantile: Num.optional(),
  offset: bars0.optional(),
  timeframe: timeframe.optional(),
  source: value,
});
export const MathValue = z.strictObject({
  ...named,
  kind: z.literal('math'),
  op: z.enum(MATH_OPS),
  args: z.array(value).min(1).max(64),
});
export const ShiftValue = z.strictObject({
  ...named,
  kind: z.literal('shift'),
  offset: bars0,
  source: value,
});
export const ParamValue = z.strictObject({ ...named, kind: z.literal('param'), name: z.string().min(1) });
export const IfValue = z.strictObject({
  ...named,
  kind: z.literal('if'),
  cond: condition,
  then: value,
  else: value,
});
export const BarsSinceValue = z.strictObject({
  ...named,
  kind: z.literal('bars_since'),
  when: condition,
});
export const ValueWhenValue = z.strictObject({
  ...named,
  kind: z.literal('value_when'),
  occurrence: bars0.optional(),
  value,
  when: condition,
});
export const SeriesValue = z.strictObject({ ...named, kind: z.literal('series'), name: z.string().min(1), ...placed });
export const CaptureValue = z.strictObject({
  ...named,
  kind: z.literal('capture'),
  value,
  when: condition,
});
export const PivotValue = z.strictObject({
  ...named,
  kind: z.literal('pivot'),
  pivotKind: z.enum(['high', 'low']),
  left: bars1,
  right: bars1,
  occurrence: bars0.optional(),
  timeframe: timeframe.optional(),
  instrument: InstrumentRef.optional(),
});
export const TimeValue = z.strictObject({ ...named, kind: z.literal('time'), field: z.enum(TIME_FIELDS) });

/** Every kind of value, for those that read the grammar (capabilities, checks). */
export const VALUE_KINDS = [
  Const,
  MarketValue,
  IndicatorValue,
  StateValue,
  RollingValue,
  MathValue,
  ShiftValue,
  ParamValue,
  IfValue,
  BarsSinceValue,
  ValueWhenValue,
  SeriesValue,
  CaptureValue,
  PivotValue,
  TimeValue,
] as const;
export const Value = z.discriminatedUnion('kind', VALUE_KINDS) as unknown as z.ZodType<Value>;
export type Const = z.infer<typeof Const>;
export type MarketValue = z.infer<typeof MarketValue>;
export type IndicatorValue = WithSlots<typeof IndicatorValue, { source?: Value; sources?: Value[] }>;
export type StateValue = z.infer<typeof StateValue>;
export type RollingValue = WithSlots<typeof RollingValue, { source: Value }>;
export type MathValue = WithSlots<typeof MathValue, { args: Value[] }>;
export type ShiftValue = WithSlots<typeof ShiftValue, { source: Value }>;
export type ParamValue = z.infer<typeof ParamValue>;
export type IfValue = WithSlots<typeof IfValue, { cond: Condition; then: Value; else: Value }>;
export type BarsSinceValue = WithSlots<typeof BarsSinceValue, { when: Condition }>;
export type ValueWhenValue = WithSlots<typeof ValueWhenValue, { value: Value; when: Condition }>;
export type SeriesValue = z.infer<typeof SeriesValue>;
export type CaptureValue = WithSlots<typeof CaptureValue, { value: Value; when: Condition }>;
export type PivotValue = z.infer<typeof PivotValue>;
export type TimeValue = z.infer<typeof TimeValue>;
export type Value =
  | Const
  | MarketValue
  | IndicatorValue
  | StateValue
  | RollingValue
  | MathValue
  | ShiftValue
  | ParamValue
  | IfValue
  | BarsSinceValue
  | ValueWhenValue
  | SeriesValue
  | CaptureValue
  | PivotValue
  | TimeValue;

// Conditions ---------------------------------------------------------------------------------------------------------

export const CompareCondition = z.strictObject({
  ...named,
  kind: z.literal('compare'),
  op: z.enum(COMPARE_OPS),
  tolerance: Num.optional(),
  left: value,
  right: value,
});
export const CrossCondition = z.strictObject({
  ...named,
  kind: z.literal('cross'),
  op: z.enum(CROSS_OPS),
  within: bars1.optional(),
  left: value,
  right: value,
});
export const BetweenCondition = z.strictObject({
  ...named,
  kind: z.literal('between'),
  value,
  lower: value,
  upper: value,
});
export const NearCondition = z.strictObject({
  ...named,
  kind: z.literal('near'),
  tolerance: Num,
  left: value,
  right: value,
});
export const RisingCondition = z.strictObject({
  ...named,
  kind: z.literal('rising'),
  bars: bars1,
  source: value,
});
export const FallingCondition = z.strictObject({
  ...named,
  kind: z.literal('falling'),
  bars: bars1,
  source: value,
});
export const PatternCondition = z.strictObject({
  ...named,
  kind: z.literal('pattern'),
  name: z.string(),
  side: z.enum(['bullish', 'bearish', 'any']).optional(),
  args: z.record(z.string(), Num).optional(),
  timeframe: timeframe.optional(),
  offset: bars0.optional(),
  within: bars1.optional(),
  instrument: InstrumentRef.optional(),
});
export const AllCondition = z.strictObject({
  ...named,
  /** `and` is accepted and written back as `all`. */
  kind: z.enum(['all', 'and']),
  items: z.array(condition).min(1),
});
export const AnyCondition = z.strictObject({
  ...named,
  /** `or` is accepted and written back as `any`. */
  kind: z.enum(['any', 'or']),
  items: z.array(condition).min(1),
});
export const NotCondition = z.strictObject({
  ...named,
  kind: z.literal('not'),
  item: condition,
});
const clock = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$|^24:00$/, 'a time is HH:MM, 00:00 to 24:00');
const date = z.string().regex(/^\d{4}-\d{2}-\d{2}$/, 'a date is YYYY-MM-DD');
export const TimeWindowCondition = z.strictObject({
  ...named,
  kind: z.literal('time_window'),
  timezone: z.string().optional(),
  weekdays: z.array(z.enum(WEEKDAYS)).min(1).optional(),
  /** Open times in [from, to), over midnight when from > to. */
  between: z.strictObject({ from: clock, to: clock }).optional(),
  /** Calendar days, both included. */
  dates: z.strictObject({ from: date.optional(), to: date.optional() }).optional(),
});
export const SessionCondition = z.strictObject({ ...named, kind: z.literal('session'), name: z.enum(SESSIONS) });
export const SequenceStep = z.strictObject({
  ...named,
  minBars: bars1.optional(),
  maxBars: bars1.optional(),
  expr: condition,
});
export const SequenceCondition = z.strictObject({
  ...named,
  kind: z.literal('sequence'),
  steps: z.array(SequenceStep).min(1),
});
export const RollingWindowCondition = z.strictObject({
  ...named,
  kind: z.literal('rolling_window'),
  window: bars1,
  mode: z.enum(ROLLING_WINDOW_MODES),
  value: Num.optional(),
  expr: condition,
});
export const StateMachineCondition = z.strictObject({
  ...named,
  kind: z.literal('state_machine'),
  ttlBars: bars1.optional(),
  conflictPolicy: z.enum(STATE_CONFLICT_POLICIES).optional(),
  set: condition,
  reset: condition.optional(),
});

export type SequenceStep = WithSlots<typeof SequenceStep, { expr: Condition }>;
/** Every kind of condition, for those that read the grammar (capabilities, checks). */
export const CONDITION_KINDS = [
  CompareCondition,
  CrossCondition,
  BetweenCondition,
  NearCondition,
  RisingCondition,
  FallingCondition,
  PatternCondition,
  AllCondition,
  AnyCondition,
  NotCondition,
  TimeWindowCondition,
  SessionCondition,
  SequenceCondition,
  RollingWindowCondition,
  StateMachineCondition,
] as const;
export const Condition = z.discriminatedUnion('kind', CONDITION_KINDS) as unknown as z.ZodType<Condition>;
export type CompareCondition = WithSlots<typeof CompareCondition, { left: Value; right: Value }>;
export type CrossCondition = WithSlots<typeof CrossCondition, { left: Value; right: Value }>;
export type BetweenCondition = WithSlots<typeof BetweenCondition, { value: Value; lower: Value; upper: Value }>;
export type NearCondition = WithSlots<typeof NearCondition, { left: Value; right: Value }>;
export type RisingCondition = WithSlots<typeof RisingCondition, { source: Value }>;
export type FallingCondition = WithSlots<typeof FallingCondition, { source: Value }>;
export type PatternCondition = z.infer<typeof PatternCondition>;
export type AllCondition = WithSlots<typeof AllCondition, { items: Condition[] }>;
export type AnyCondition = WithSlots<typeof AnyCondition, { items: Condition[] }>;
export type NotCondition = WithSlots<typeof NotCondition, { item: Condition }>;
export type TimeWindowCondition = z.infer<typeof TimeWindowCondition>;
export type SessionCondition = z.infer<typeof SessionCondition>;
export type SequenceCondition = WithSlots<typeof SequenceCondition, { steps: SequenceStep[] }>;
export type RollingWindowCondition = WithSlots<typeof RollingWindowCondition, { expr: Condition }>;
export type StateMachineCondition = WithSlots<typeof StateMachineCondition, { set: Condition; reset?: Condition }>;
export type Condition =
  | CompareCondition
  | CrossCondition
  | BetweenCondition
  | NearCondition
  | RisingCondition
  | FallingCondition
  | PatternCondition
  | AllCondition
  | AnyCondition
  | NotCondition
  | TimeWindowCondition
  | SessionCondition
  | SequenceCondition
  | RollingWindowCondition
  | StateMachineCondition;
export type Expression = Value | Condition;

// Strategy -----------------------------------------------------------------------------------------------------------

export const Sizing = z.discriminatedUnion('mode', [
  z.strictObject({ ...named, mode: z.literal('fixed'), value: Num }),
  z.strictObject({ ...named, mode: z.literal('fixed_cash'), value: Num }),
  z.strictObject({ ...named, mode: z.literal('percent_equity'), value: Num }),
  z.strictObject({ ...named, mode: z.literal('percent_balance'), value: Num }),
  z.strictObject({ ...named, mode: z.literal('risk_percent'), value: Num }),
  z.strictObject({ ...named, mode: z.literal('volatility_target'), value: Num, atrPeriod: bars1.optional() }),
]);
export type Sizing = z.infer<typeof Sizing>;

export const Order = z.discriminatedUnion('type', [
  z.strictObject({ ...named, type: z.literal('market') }),
  z.strictObject({ ...named, type: z.literal('limit'), price: Value, expireBars: bars1 }),
  z.strictObject({ ...named, type: z.literal('stop'), price: Value, expireBars: bars1 }),
]);
export type Order = z.infer<typeof Order>;

export const Entry = z.strictObject({
  ...named,
  kind: z.literal('entry'),
  setup: Condition.optional(),
  trigger: Condition,
  filters: z.array(Condition).optional(),
  cooldownBars: bars0.optional(),
  conflict: z.enum(CONFLICT_POLICIES).optional(),
  action: z.strictObject({ ...named, side: z.enum(['long', 'short']), sizing: Sizing, order: Order.optional() }),
});
export type Entry = z.infer<typeof Entry>;

export const Exit = z.strictObject({
  ...named,
  kind: z.literal('exit'),
  when: Condition,
  appliesTo: z.enum(['long', 'short', 'any']).optional(),
  priority: Int.optional(),
  reason: z.string().max(100).optional(),
  action: z.strictObject({ ...named, mode: z.enum(EXIT_SIZING_MODES), value: Num }).optional(),
});
export type Exit = z.infer<typeof Exit>;

export const AtrDistance = z.strictObject({ ...named, period: bars1, multiplier: Num });
export const StopLoss = z.discriminatedUnion('mode', [
  z.strictObject({ ...named, mode: z.literal('percent'), value: Num }),
  z.strictObject({ ...named, mode: z.literal('atr'), period: bars1, multiplier: Num }),
  z.strictObject({ ...named, mode: z.literal('price'), value: Value, update: z.enum(['entry', 'bar']).optional() }),
  z.strictObject({ ...named, mode: z.literal('fixed'), value: Num }),
]);
/** Exactly one trigger… member is given (RISK_INVALID otherwise). */
export const TakeProfit = z.strictObject({
  ...named,
  triggerPercent: Num.optional(),
  triggerR: Num.optional(),
  triggerAtr: AtrDistance.optional(),
  triggerPrice: Value.optional(),
  closePercent: Num,
  closeBasis: z.enum(['initial', 'remaining']).optional(),
  moveStopToBreakeven: z.boolean().optional(),
});
export const TrailingStop = z.strictObject({
  ...named,
  distancePercent: Num.optional(),
  distanceAtr: AtrDistance.optional(),
  activateAfterPercent: Num.optional(),
});
export const Risk = z.strictObject({
  ...named,
  stopLoss: StopLoss.optional(),
  takeProfits: z.array(TakeProfit).max(10).optional(),
  trailingStop: TrailingStop.optional(),
  breakeven: z.strictObject({ ...named, activateAfterPercent: Num, offsetPercent: Num.optional() }).optional(),
  timeStop: z.strictObject({ ...named, maxBars: bars1 }).optional(),
});
export type Risk = z.infer<typeof Risk>;

export const Param = z.strictObject({
  ...named,
  name: z.string().min(1).max(100),
  type: z.enum(PARAM_TYPES),
  default: z.union([z.number(), z.boolean(), z.string()]),
  min: z.number().optional(),
  max: z.number().optional(),
  step: z.number().positive().optional(),
  values: z.array(z.union([z.number(), z.boolean(), z.string()])).optional(),
  log: z.boolean().optional(),
});
export type Param = z.infer<typeof Param>;

export const Defaults = z.strictObject({
  ...named,
  instrument: InstrumentRef.optional(),
  timeframe: timeframe.optional(),
  timezone: z.string().optional(),
  warmupBars: z.int().min(0).optional(),
  maxConcurrentPositions: z.int().min(1).max(100).optional(),
});

export const Strategy = z.strictObject({
  ...named,
  kind: z.literal('strategy'),
  defaults: Defaults.optional(),
  params: z.array(Param).optional(),
  entry: z.union([Entry, z.array(Entry).min(1)]),
  exits: z.array(Exit).optional(),
  exit: Exit.optional(),
  risk: Risk.optional(),
});
export type Strategy = z.infer<typeof Strategy>;

export const StrategyAst = z.strictObject({
  ...named,
  protocol: z.literal('svc.strategy'),
  version: z.literal(1),
  strategy: Strategy,
});
export type StrategyAst = z.infer<typeof StrategyAst>;

/** `settings` of strategy writes (spec §2.8). */
export const Settings = z.strictObject({
  maxConcurrentPositions: z.int().min(1).max(100).optional(),
  warmupPeriod: z.int().min(0).optional(),
});
export type Settings = z.infer<typeof Settings>;

/** T with every parameter reference replaced by the number it stands for. */
export type Concrete<T> = T extends ParamRef ? never : T extends object ? { [K in keyof T]: Concrete<T[K]> } : T;

/**
 * What the stages after `language` read: parameters replaced by numbers, aliases resolved (`and`/`or` → `all`/`any`, `exit` → `exits`,
 * one entry → a list, `hlc3`/`typical` and indicator aliases to one name), absent members filled with their defaults.
 */
export interface RunnableStrategy {
  readonly entries: readonly Concrete<Entry>[];
  readonly exits: readonly Concrete<Exit>[];
  readonly risk: Concrete<Risk>;
  readonly timezone: string;
  readonly maxConcurrentPositions: number;
  /** settings.warmupPeriod, else defaults.warmupBars, else null: inferredLookback. */
  readonly warmupBars: number | null;
}
