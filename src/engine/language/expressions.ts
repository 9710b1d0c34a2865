// Expressions: the zod schemas of every value and condition kind of `svc.strategy` version 1 (design §3.1). The schema is the type.
import { z } from 'zod';
import { TIMEFRAMES } from '../columns/bars.ts';
import { faultCodes } from './issues.ts';
import {
  COMPARE_OPS,
  CROSS_OPS,
  MARKET_FIELDS,
  MATH_OPS,
  PATTERN_SIDES,
  PIVOT_KINDS,
  ROLLING_OPS,
  ROLLING_WINDOW_MODES,
  SESSIONS,
  STATE_CONFLICT_POLICIES,
  STATE_FIELDS,
  TIME_FIELDS,
  WEEKDAYS,
} from './words.ts';

/** Bars that a period, offset or wait may count: as many as the largest backtest of any tier needs, and no lookback overflows. */
const MAX_BARS = 1_000_000;
/** Items of one `all` or `any`, inputs of one `math`, steps of one `sequence`. */
const MAX_ITEMS = 1_024;
const MAX_INPUTS = 64;
const MAX_STEPS = 64;

export const ParamRef = z.strictObject({ param: z.string().min(1) });
export type ParamRef = z.infer<typeof ParamRef>;

/** A number, or a parameter that stands for one. */
export const Num = z.union([z.number(), ParamRef]);
export const Int = z.union([z.int(), ParamRef]);
/** A count of bars from 0, and one from 1. */
export const bars0 = z.union([z.int().min(0).max(MAX_BARS), ParamRef]);
export const bars1 = z.union([z.int().min(1).max(MAX_BARS), ParamRef]);

/** What every object of the AST may carry. */
export const named = {
  id: z.string().optional(),
  label: z.string().optional(),
  description: z.string().optional(),
  meta: z.record(z.string(), z.unknown()).optional(),
};
export const InstrumentRef = z.strictObject({ symbol: z.string().min(1) });
export const timeframe = z.enum(TIMEFRAMES).register(faultCodes, { code: 'UNKNOWN_TIMEFRAME' });
const placed = { timeframe: timeframe.optional(), offset: bars0.optional(), instrument: InstrumentRef.optional() };

// The two recursive unions. zod cannot infer types through them, so the child slots are named once more in the types below.
// Every place an expression may stand is one of these two schemas by identity: that is how shapes.ts tells inputs from fields.
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
  sources: z.array(value).min(1).max(8).optional(),
});
export const StateValue = z.strictObject({
  ...named,
  kind: z.literal('state'),
  field: z.enum(STATE_FIELDS).register(faultCodes, { code: 'UNKNOWN_STATE_FIELD' }),
  offset: bars0.optional(),
  instrument: InstrumentRef.optional(),
});
export const RollingValue = z.strictObject({
  ...named,
  kind: z.literal('rolling'),
  op: z.enum(ROLLING_OPS).register(faultCodes, { code: 'UNKNOWN_OPERATOR' }),
  period: bars1,
  /** For `quantile`: the fraction in [0, 1]. */
  quantile: z.union([z.number().min(0).max(1), ParamRef]).optional(),
  offset: bars0.optional(),
  source: value,
});
export const MathValue = z.strictObject({
  ...named,
  kind: z.literal('math'),
  op: z.enum(MATH_OPS).register(faultCodes, { code: 'UNKNOWN_OPERATOR' }),
  args: z.array(value).min(1).max(MAX_INPUTS),
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
  // oxlint-disable-next-line unicorn/no-thenable -- the design's word for it; nothing awaits a schema or an expression.
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
  pivotKind: z.enum(PIVOT_KINDS),
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

const tolerance = z.union([z.number().min(0), ParamRef]);

// Conditions ---------------------------------------------------------------------------------------------------------

export const CompareCondition = z.strictObject({
  ...named,
  kind: z.literal('compare'),
  op: z.enum(COMPARE_OPS).register(faultCodes, { code: 'UNKNOWN_OPERATOR' }),
  tolerance: tolerance.optional(),
  left: value,
  right: value,
});
export const CrossCondition = z.strictObject({
  ...named,
  kind: z.literal('cross'),
  op: z.enum(CROSS_OPS).register(faultCodes, { code: 'UNKNOWN_OPERATOR' }),
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
  tolerance,
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
  side: z.enum(PATTERN_SIDES).optional(),
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
  items: z.array(condition).min(1).max(MAX_ITEMS),
});
export const AnyCondition = z.strictObject({
  ...named,
  /** `or` is accepted and written back as `any`. */
  kind: z.enum(['any', 'or']),
  items: z.array(condition).min(1).max(MAX_ITEMS),
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
  steps: z.array(SequenceStep).min(1).max(MAX_STEPS),
});
export const RollingWindowCondition = z.strictObject({
  ...named,
  kind: z.literal('rolling_window'),
  window: bars1,
  mode: z.enum(ROLLING_WINDOW_MODES).register(faultCodes, { code: 'UNKNOWN_OPERATOR' }),
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

/** Where an expression may stand, typed, for the schemas of the strategy's sections. */
export const valueSlot = value as z.ZodType<Value>;
export const conditionSlot = condition as z.ZodType<Condition>;
