// Expressions: the zod schemas of every value and condition kind of `svc.strategy` version 1. The schema is the type.
import { z } from 'zod';
import { issueCodes } from '../../definitions/issueCodes.ts';
import type { WithChildren } from './childMembers.ts';
import {
  bars0,
  bars1,
  InstrumentRef,
  named,
  Num,
  ParamRef,
  placed,
  timeframe,
  tolerance,
} from '../../definitions/expressionMembers.ts';
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
} from '../../definitions/words.ts';

/** The most items of one `all` or `any`, inputs of one `math` and steps of one `sequence`. */
const MAX_ITEMS = 1_024;
const MAX_INPUTS = 64;
const MAX_STEPS = 64;

// The two recursive unions. zod cannot infer types through them, so `ChildMembers` names the child expressions once
// more.
// Every place of an expression is one of these two schemas by identity: that is how shapes.ts tells inputs from fields.
const value: z.ZodType = z.lazy(() => Value);
const condition: z.ZodType = z.lazy(() => Condition);

// Values -------------------------------------------------------------------------------------------------------------

const Const = z.strictObject({ ...named, kind: z.literal('const'), value: Num });
const MarketValue = z.strictObject({ ...named, kind: z.literal('market'), field: z.enum(MARKET_FIELDS), ...placed });
const IndicatorValue = z.strictObject({
  ...named,
  kind: z.literal('indicator'),
  indicator: z.string(),
  args: z.record(z.string(), z.union([z.number(), z.string(), z.boolean(), ParamRef])).optional(),
  output: z.string().optional(),
  ...placed,
  source: value.optional(),
  sources: z.array(value).min(1).max(8).optional(),
});
const StateValue = z.strictObject({
  ...named,
  kind: z.literal('state'),
  field: z.enum(STATE_FIELDS).register(issueCodes, { code: 'UNKNOWN_STATE_FIELD' }),
  offset: bars0.default(0),
  instrument: InstrumentRef.optional(),
});
const RollingValue = z.strictObject({
  ...named,
  kind: z.literal('rolling'),
  op: z.enum(ROLLING_OPS).register(issueCodes, { code: 'UNKNOWN_OPERATOR' }),
  period: bars1,
  /** For `quantile`: the fraction in [0, 1]. */
  quantile: z.union([z.number().min(0).max(1), ParamRef]).optional(),
  offset: bars0.default(0),
  source: value,
});
const MathValue = z.strictObject({
  ...named,
  kind: z.literal('math'),
  op: z.enum(MATH_OPS).register(issueCodes, { code: 'UNKNOWN_OPERATOR' }),
  args: z.array(value).min(1).max(MAX_INPUTS),
});
const ShiftValue = z.strictObject({ ...named, kind: z.literal('shift'), offset: bars0, source: value });
const PercentChangeValue = z.strictObject({ ...named, kind: z.literal('percent_change'), bars: bars1, source: value });
const ParamValue = z.strictObject({ ...named, kind: z.literal('param'), name: z.string().min(1) });
const IfValue = z.strictObject({
  ...named,
  kind: z.literal('if'),
  cond: condition,
  // oxlint-disable-next-line unicorn/no-thenable -- the language's word for it; no expression is awaited.
  then: value,
  else: value,
});
const BarsSinceValue = z.strictObject({ ...named, kind: z.literal('bars_since'), when: condition });
const ValueWhenValue = z.strictObject({
  ...named,
  kind: z.literal('value_when'),
  occurrence: bars0.default(0),
  value,
  when: condition,
});
const SeriesValue = z.strictObject({ ...named, kind: z.literal('series'), name: z.string().min(1), ...placed });
const CaptureValue = z.strictObject({ ...named, kind: z.literal('capture'), value, when: condition });
const PivotValue = z.strictObject({
  ...named,
  kind: z.literal('pivot'),
  pivotKind: z.enum(PIVOT_KINDS),
  left: bars1,
  right: bars1,
  occurrence: bars0.default(0),
  timeframe: timeframe.optional(),
  instrument: InstrumentRef.optional(),
});
const TimeValue = z.strictObject({ ...named, kind: z.literal('time'), field: z.enum(TIME_FIELDS) });

/** The schemas of all values, in the order in which capabilities list them. */
export const VALUE_KINDS = [
  Const,
  MarketValue,
  IndicatorValue,
  StateValue,
  RollingValue,
  MathValue,
  ShiftValue,
  PercentChangeValue,
  ParamValue,
  IfValue,
  BarsSinceValue,
  ValueWhenValue,
  SeriesValue,
  CaptureValue,
  PivotValue,
  TimeValue,
] as const;
export const Value = z.discriminatedUnion('kind', VALUE_KINDS);

// Conditions ---------------------------------------------------------------------------------------------------------

/** The description of `within`, of `cross` and `pattern`. */
export const WITHIN_BARS = 'n: true on any of the last n base bars, this one included. Default 1: on this bar only.';

const CompareCondition = z.strictObject({
  ...named,
  kind: z.literal('compare'),
  op: z.enum(COMPARE_OPS).register(issueCodes, { code: 'UNKNOWN_OPERATOR' }),
  tolerance: tolerance.default(0),
  left: value,
  right: value,
});
const CrossCondition = z.strictObject({
  ...named,
  kind: z.literal('cross'),
  op: z.enum(CROSS_OPS).register(issueCodes, { code: 'UNKNOWN_OPERATOR' }),
  within: bars1.default(1).meta({ description: WITHIN_BARS }),
  left: value,
  right: value,
});
const BetweenCondition = z.strictObject({ ...named, kind: z.literal('between'), value, lower: value, upper: value });
const NearCondition = z.strictObject({ ...named, kind: z.literal('near'), tolerance, left: value, right: value });
const RisingCondition = z.strictObject({ ...named, kind: z.literal('rising'), bars: bars1, source: value });
const FallingCondition = z.strictObject({ ...named, kind: z.literal('falling'), bars: bars1, source: value });
const PatternCondition = z.strictObject({
  ...named,
  kind: z.literal('pattern'),
  name: z.string(),
  side: z.enum(PATTERN_SIDES).default('any'),
  args: z.record(z.string(), Num).optional(),
  timeframe: timeframe.optional(),
  offset: bars0.default(0),
  within: bars1.default(1).meta({ description: WITHIN_BARS }),
  instrument: InstrumentRef.optional(),
});
const AllCondition = z.strictObject({
  ...named,
  /** `and` is accepted and written back as `all`. */
  kind: z.enum(['all', 'and']),
  items: z.array(condition).min(1).max(MAX_ITEMS),
});
const AnyCondition = z.strictObject({
  ...named,
  /** `or` is accepted and written back as `any`. */
  kind: z.enum(['any', 'or']),
  items: z.array(condition).min(1).max(MAX_ITEMS),
});
const NotCondition = z.strictObject({ ...named, kind: z.literal('not'), item: condition });
const clock = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$|^24:00$/, 'Write a time as HH:MM, from 00:00 to 24:00.');
const date = z.string().regex(/^\d{4}-\d{2}-\d{2}$/, 'Write a date as YYYY-MM-DD.');
const TimeWindowCondition = z.strictObject({
  ...named,
  kind: z.literal('time_window'),
  timezone: z.string().optional(),
  weekdays: z.array(z.enum(WEEKDAYS)).min(1).optional(),
  /** Open times in [from, to), past midnight when from > to. */
  between: z.strictObject({ from: clock, to: clock }).optional(),
  /** Calendar days, both included. */
  dates: z.strictObject({ from: date.optional(), to: date.optional() }).optional(),
});
const SessionCondition = z.strictObject({ ...named, kind: z.literal('session'), name: z.enum(SESSIONS) });
export const SequenceStep = z.strictObject({
  ...named,
  minBars: bars1.default(1),
  maxBars: bars1.optional(),
  expr: condition,
});
const SequenceCondition = z.strictObject({
  ...named,
  kind: z.literal('sequence'),
  steps: z.array(SequenceStep).min(1).max(MAX_STEPS),
});
const RollingWindowCondition = z.strictObject({
  ...named,
  kind: z.literal('rolling_window'),
  window: bars1,
  mode: z.enum(ROLLING_WINDOW_MODES).register(issueCodes, { code: 'UNKNOWN_OPERATOR' }),
  value: Num.optional(),
  expr: condition,
});
const StateMachineCondition = z.strictObject({
  ...named,
  kind: z.literal('state_machine'),
  ttlBars: bars1.optional(),
  conflictPolicy: z.enum(STATE_CONFLICT_POLICIES).default('reset'),
  set: condition,
  reset: condition.optional(),
});

/** The schemas of all conditions, in the order in which capabilities list them. */
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
export const Condition = z.discriminatedUnion('kind', CONDITION_KINDS);

// Types --------------------------------------------------------------------------------------------------------------

type ValueSchema = (typeof VALUE_KINDS)[number];
type ConditionSchema = (typeof CONDITION_KINDS)[number];
/** Kind → schema. */
export type ExpressionSchemas = { [S in ValueSchema | ConditionSchema as z.output<S>['kind']]: S };
export type ValueKind = z.output<ValueSchema>['kind'];
export type ConditionKind = z.output<ConditionSchema>['kind'];
export type Kind = ValueKind | ConditionKind;

/** An expression as its author writes it, by kind: members with a default may be absent. */
export type Node<K extends Kind> = K extends Kind
  ? WithChildren<K, z.input<ExpressionSchemas[K]>, AuthoredTypes>
  : never;
/** The same as a map, for tables with one entry per kind. */
export type Nodes = { [K in Kind]: Node<K> };
interface AuthoredTypes {
  readonly value: Value;
  readonly condition: Condition;
  readonly step: SequenceStep;
}
export type Value = Node<ValueKind>;
export type Condition = Node<ConditionKind>;
export type SequenceStep = Omit<z.input<typeof SequenceStep>, 'expr'> & { expr: Condition };
export type Expression = Value | Condition;

/** Where an expression may stand, typed, for the schemas of the strategy's sections. */
export const valueSlot = value as z.ZodType<Value, Value>;
export const conditionSlot = condition as z.ZodType<Condition, Condition>;
