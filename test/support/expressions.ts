// Generated expressions: values and conditions over every kind of the language, for strategies around them.
import fc from 'fast-check';
import { INDICATORS } from '../../src/engine/indicators/registry.ts';
import type { ArgDefinition, IndicatorDefinition } from '../../src/engine/indicators/definition.ts';
import { PATTERNS } from '../../src/engine/patterns/patternRegistry.ts';
import type { Condition, Value } from '../../src/engine/language/grammar/ast.ts';
import { CROSS_SECTION_OPS } from '../../src/engine/kernels/crossSection.ts';
import * as words from '../../src/engine/definitions/words.ts';

export const ALL_VALUE_KINDS = [
  'const', 'market', 'indicator', 'state', 'rolling', 'math', 'shift', 'param', 'if', 'bars_since', 'value_when',
  'series', 'capture', 'pivot', 'time', 'percent_change', 'cross_section',
] as const; // prettier-ignore
export const ALL_CONDITION_KINDS = [
  'compare', 'cross', 'between', 'near', 'rising', 'falling', 'pattern', 'all', 'any', 'not', 'time_window', 'session',
  'schedule', 'sequence', 'rolling_window', 'state_machine',
] as const; // prettier-ignore
export type AnyKind = (typeof ALL_VALUE_KINDS)[number] | (typeof ALL_CONDITION_KINDS)[number];

export interface StrategyOptions {
  /**
   * Expression kinds that may occur; default all. Leaves (const, market, compare) are always there, so that something
   * can be written.
   */
  readonly kinds?: readonly AnyKind[];
  /** Timeframes that nodes may name; default none: everything lives on base bars. */
  readonly timeframes?: readonly ('15m' | '1h' | '4h' | '1d')[];
  /** Indicator ids; default all. */
  readonly indicators?: readonly string[];
  /** Names of imported columns for `series`; default one. */
  readonly series?: readonly string[];
  /** Symbols that nodes may name; default none. */
  readonly symbols?: readonly string[];
  /** Nesting of expressions; default 3. */
  readonly depth?: number;
  /** Longest period, offset and wait; default 12. */
  readonly maxBars?: number;
  /** Numbers of the price scale, for constants and distances; default 1 to 200. */
  readonly price?: { readonly min: number; readonly max: number };
  /** Ids on some nodes; default true. */
  readonly named?: boolean;
}

export const hasKind = (options: StrategyOptions, kind: AnyKind): boolean => options.kinds?.includes(kind) ?? true;
/** Numbers with few digits: they print well in a counterexample and make ties. */
export const decimal = (min: number, max: number): fc.Arbitrary<number> =>
  fc.integer({ min: Math.ceil(min * 100), max: Math.floor(max * 100) }).map((hundredths) => hundredths / 100);

/** `record` with the absent members left out, as authors write them. */
export function object<T extends object>(
  required: Record<string, fc.Arbitrary<unknown>>,
  optional: Record<string, fc.Arbitrary<unknown>> = {},
): fc.Arbitrary<T> {
  return fc.record(
    { ...required, ...optional },
    { requiredKeys: Object.keys(required) as never[] },
  ) as fc.Arbitrary<unknown> as fc.Arbitrary<T>;
}

interface Pieces {
  readonly value: fc.Arbitrary<Value>;
  readonly condition: fc.Arbitrary<Condition>;
}

/**
 * Values and conditions of one strategy; params named `n` (bars), `x` (a number) are declared by the strategy around
 * them.
 */
export function expressionArbitrary(options: StrategyOptions = {}): Pieces {
  const depth = options.depth ?? 3;
  const levels: Pieces[] = [leaves(options)];
  while (levels.length < depth) levels.push(branches(options, levels[levels.length - 1], levels[0]));
  return levels[levels.length - 1];
}

function placeOf({ timeframes = [], symbols = [] }: StrategyOptions): Record<string, fc.Arbitrary<unknown>> {
  return {
    ...(timeframes.length === 0 ? {} : { timeframe: fc.constantFrom(...timeframes) }),
    ...(symbols.length === 0 ? {} : { instrument: fc.record({ symbol: fc.constantFrom(...symbols) }) }),
  };
}

function leaves(options: StrategyOptions): Pieces {
  const { min, max } = options.price ?? { min: 1, max: 200 };
  const bars = fc.integer({ min: 0, max: options.maxBars ?? 12 });
  const place = placeOf(options);
  const number = hasKind(options, 'param')
    ? fc.oneof({ weight: 9, arbitrary: decimal(min, max) }, { weight: 1, arbitrary: fc.constant({ param: 'x' }) })
    : decimal(min, max);
  const values: fc.Arbitrary<Value>[] = [
    object<Value>({ kind: fc.constant('const'), value: number }),
    object<Value>(
      { kind: fc.constant('market'), field: fc.constantFrom(...words.MARKET_FIELDS) },
      { ...place, offset: bars },
    ),
  ];
  if (hasKind(options, 'param')) values.push(fc.constant({ kind: 'param', name: 'x' }));
  if (hasKind(options, 'series')) {
    values.push(
      object<Value>(
        { kind: fc.constant('series'), name: fc.constantFrom(...(options.series ?? ['model'])) },
        { offset: bars },
      ),
    );
  }
  if (hasKind(options, 'time'))
    values.push(object<Value>({ kind: fc.constant('time'), field: fc.constantFrom(...words.TIME_FIELDS) }));
  if (hasKind(options, 'state')) {
    values.push(
      object<Value>(
        { kind: fc.constant('state'), field: fc.constantFrom(...words.STATE_FIELDS) },
        { offset: fc.integer({ min: 0, max: 3 }) },
      ),
    );
  }
  if (hasKind(options, 'pivot')) {
    const side = fc.integer({ min: 1, max: 4 });
    values.push(
      object<Value>(
        { kind: fc.constant('pivot'), pivotKind: fc.constantFrom(...words.PIVOT_KINDS), left: side, right: side },
        { occurrence: fc.integer({ min: 0, max: 2 }), ...place },
      ),
    );
  }
  if (hasKind(options, 'indicator')) values.push(indicatorArbitrary(options, undefined));
  const value = fc.oneof(...values);
  const compare = object<Condition>(
    { kind: fc.constant('compare'), op: fc.constantFrom(...words.COMPARE_OPS), left: value, right: value },
    { tolerance: decimal(0, 1) },
  );
  const conditions: fc.Arbitrary<Condition>[] = [compare];
  if (hasKind(options, 'pattern')) conditions.push(patternArbitrary(options));
  if (hasKind(options, 'session'))
    conditions.push(object<Condition>({ kind: fc.constant('session'), name: fc.constantFrom(...words.SESSIONS) }));
  if (hasKind(options, 'time_window')) conditions.push(timeWindowArbitrary());
  if (hasKind(options, 'schedule')) conditions.push(scheduleArbitrary());
  return { value, condition: fc.oneof(...conditions) };
}

function timeWindowArbitrary(): fc.Arbitrary<Condition> {
  const clock = fc
    .tuple(fc.integer({ min: 0, max: 23 }), fc.constantFrom('00', '30'))
    .map(([hour, minute]) => `${String(hour).padStart(2, '0')}:${minute}`);
  const day = fc.tuple(
    fc.integer({ min: 2017, max: 2023 }),
    fc.integer({ min: 1, max: 12 }),
    fc.integer({ min: 1, max: 28 }),
  );
  const date = day.map(
    ([year, month, dayOfMonth]) => `${year}-${String(month).padStart(2, '0')}-${String(dayOfMonth).padStart(2, '0')}`,
  );
  return object<Condition>(
    { kind: fc.constant('time_window') },
    {
      timezone: fc.constantFrom('UTC', 'America/New_York', 'Asia/Tokyo'),
      weekdays: fc.uniqueArray(fc.constantFrom(...words.WEEKDAYS), { minLength: 1, maxLength: 5 }),
      between: fc.record({ from: clock, to: clock }),
      dates: fc.record({ from: date, to: date }, { requiredKeys: [] }),
    },
  );
}

function scheduleArbitrary(): fc.Arbitrary<Condition> {
  const kind = fc.constant('schedule');
  const days = object<Condition>(
    { kind, every: fc.constantFrom('day', 'week', 'month', 'quarter', 'year') },
    { on: fc.constantFrom('first', 1, -1) },
  );
  const monthDays = object<Condition>({
    kind,
    every: fc.constantFrom('week', 'month'),
    on: fc.constantFrom(-4, -2, -1, 1, 2, 3),
  });
  const counted = object<Condition>({ kind, everyBars: fc.integer({ min: 1, max: 30 }) });
  return fc.oneof(days, monthDays, counted);
}

function patternArbitrary(options: StrategyOptions): fc.Arbitrary<Condition> {
  return fc.constantFrom(...PATTERNS).chain((pattern) =>
    object<Condition>(
      { kind: fc.constant('pattern'), name: fc.constant(pattern.id) },
      {
        side: fc.constantFrom('any', ...pattern.sides),
        args: fc.record(Object.fromEntries(pattern.args.map((arg) => [arg.name, argArbitrary(arg, 12)])), {
          requiredKeys: [],
        }),
        offset: fc.integer({ min: 0, max: 3 }),
        within: fc.integer({ min: 1, max: 4 }),
        ...placeOf(options),
      },
    ),
  );
}

/** Values an argument takes, kept small so that a test's few hundred bars reach past the lookback. */
function argArbitrary(
  { type, min = -1e6, max = 1e6, values = [], default: byDefault }: ArgDefinition,
  maxBars: number,
): fc.Arbitrary<unknown> {
  switch (type) {
    case 'int': {
      const least = Math.ceil(min);
      return fc.integer({ min: least, max: Math.max(least, Math.min(max, least + maxBars)) });
    }
    case 'float': {
      const around = typeof byDefault === 'number' ? byDefault : 1;
      const [lo, hi] = [Math.max(min, around / 2), Math.min(max, around * 2)];
      return lo < hi ? fc.constantFrom(around, lo, hi) : fc.constant(around);
    }
    case 'choice':
      return fc.constantFrom(...values);
    case 'bool':
      return fc.boolean();
  }
}

const SERIES_INPUTS = ['source', 'source2', 'periods'];

/** An indicator, over `source` where it takes one; nothing over state, which indicators cannot read. */
function indicatorArbitrary(options: StrategyOptions, source: fc.Arbitrary<Value> | undefined): fc.Arbitrary<Value> {
  const { indicators, maxBars = 12 } = options;
  const chosen = INDICATORS.filter(({ id }) => indicators?.includes(id) ?? true);
  return fc.constantFrom(...chosen).chain((definition: IndicatorDefinition) => {
    const series = definition.inputs.filter((input) => SERIES_INPUTS.includes(input)).length;
    const sourceField =
      series > 0 && source === undefined && series === 1 ? { source: fc.constantFrom('close', 'hl2', 'typical') } : {};
    const own = definition.args.filter(({ name }) => name !== 'source');
    const args = fc.record(
      { ...Object.fromEntries(own.map((arg) => [arg.name, argArbitrary(arg, maxBars)])), ...sourceField },
      { requiredKeys: own.filter(({ required }) => required === true).map(({ name }) => name) as never[] },
    );
    const field: fc.Arbitrary<Value> = fc
      .constantFrom('open', 'high', 'low', 'close')
      .map((name) => ({ kind: 'market', field: name }));
    const from = source?.filter((one) => !JSON.stringify(one).includes('"kind":"state"')) ?? field;
    return object<Value>(
      {
        kind: fc.constant('indicator'),
        indicator: fc.constant(definition.id),
        args,
        ...(definition.outputs.length > 1
          ? { output: fc.constantFrom(...definition.outputs.map(({ name }) => name)) }
          : {}),
        ...(series > 1 ? { sources: fc.array(from, { minLength: series, maxLength: series }) } : {}),
        ...(series === 1 && source !== undefined ? { source: from } : {}),
      },
      { offset: fc.integer({ min: 0, max: 3 }), ...placeOf(options) },
    );
  });
}

function branches(options: StrategyOptions, below: Pieces, leaf: Pieces): Pieces {
  return {
    value: fc.oneof({ weight: 1, arbitrary: leaf.value }, { weight: 2, arbitrary: valueBranch(options, below) }),
    condition: fc.oneof(
      { weight: 1, arbitrary: leaf.condition },
      { weight: 2, arbitrary: conditionBranch(options, below) },
    ),
  };
}

function valueBranch(options: StrategyOptions, { value, condition }: Pieces): fc.Arbitrary<Value> {
  const { maxBars = 12 } = options;
  const bars = fc.integer({ min: 0, max: maxBars });
  const period = fc.integer({ min: 1, max: maxBars });
  const kinds: Partial<Record<AnyKind, fc.Arbitrary<Value>>> = {
    indicator: indicatorArbitrary(options, value),
    rolling: fc.constantFrom(...words.ROLLING_OPS).chain((op) =>
      object<Value>(
        {
          kind: fc.constant('rolling'),
          op: fc.constant(op),
          period,
          source: value,
          ...(op === 'quantile' ? { quantile: decimal(0, 1) } : {}),
        },
        { offset: fc.integer({ min: 0, max: 3 }) },
      ),
    ),
    math: fc.constantFrom(...words.MATH_OPS).chain((op) => {
      const [minLength, maxLength] = arityOf(op);
      return object<Value>({
        kind: fc.constant('math'),
        op: fc.constant(op),
        args: fc.array(value, { minLength, maxLength }),
      });
    }),
    shift: object<Value>({ kind: fc.constant('shift'), offset: bars, source: value }),
    percent_change: object<Value>({ kind: fc.constant('percent_change'), bars: period, source: value }),
    // oxlint-disable-next-line unicorn/no-thenable -- the language's word for it.
    if: object<Value>({ kind: fc.constant('if'), cond: condition, then: value, else: value }),
    bars_since: object<Value>({ kind: fc.constant('bars_since'), when: condition }),
    value_when: object<Value>(
      { kind: fc.constant('value_when'), value, when: condition },
      { occurrence: fc.integer({ min: 0, max: 2 }) },
    ),
    capture: object<Value>({ kind: fc.constant('capture'), value, when: condition }),
    cross_section: crossSectionArbitrary(value, condition),
  };
  return oneOfKinds(options, kinds, value);
}

/** Nothing over state, which cross sections cannot read. */
function crossSectionArbitrary(value: fc.Arbitrary<Value>, condition: fc.Arbitrary<Condition>): fc.Arbitrary<Value> {
  const stateless = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T> =>
    arbitrary.filter((one) => !JSON.stringify(one).includes('"kind":"state"'));
  return fc.constantFrom(...CROSS_SECTION_OPS).chain((op) => {
    const source: fc.Arbitrary<object> = op === 'share' ? stateless(condition) : stateless(value);
    return object<Value>(
      { kind: fc.constant('cross_section'), op: fc.constant(op), source },
      { where: stateless(condition), minCount: fc.integer({ min: 2, max: 4 }) },
    );
  });
}

/** Operands of an operation, written independently: one, two, three for clamp, a few for those of lists. */
function arityOf(op: (typeof words.MATH_OPS)[number]): [number, number] {
  if (['abs', 'neg', 'log', 'exp', 'sqrt', 'sign', 'round', 'floor', 'ceil'].includes(op)) return [1, 1];
  if (op === 'clamp') return [3, 3];
  return op === 'pow' || op === 'mod' ? [2, 2] : [2, 3];
}

function conditionBranch(options: StrategyOptions, { value, condition }: Pieces): fc.Arbitrary<Condition> {
  const { maxBars = 12 } = options;
  const period = fc.integer({ min: 1, max: Math.min(5, maxBars) });
  const items = fc.array(condition, { minLength: 1, maxLength: 3 });
  const moving = (kind: string) => object<Condition>({ kind: fc.constant(kind), bars: period, source: value });
  const step = object<object>(
    { expr: condition },
    { minBars: fc.integer({ min: 1, max: 2 }), maxBars: fc.integer({ min: 2, max: 6 }) },
  );
  const kinds: Partial<Record<AnyKind, fc.Arbitrary<Condition>>> = {
    compare: object<Condition>({
      kind: fc.constant('compare'),
      op: fc.constantFrom(...words.COMPARE_OPS),
      left: value,
      right: value,
    }),
    cross: object<Condition>(
      { kind: fc.constant('cross'), op: fc.constantFrom(...words.CROSS_OPS), left: value, right: value },
      { within: period },
    ),
    between: object<Condition>({ kind: fc.constant('between'), value, lower: value, upper: value }),
    near: object<Condition>({ kind: fc.constant('near'), left: value, right: value, tolerance: decimal(0, 2) }),
    rising: moving('rising'),
    falling: moving('falling'),
    all: object<Condition>({ kind: fc.constantFrom('all', 'and'), items }),
    any: object<Condition>({ kind: fc.constantFrom('any', 'or'), items }),
    not: object<Condition>({ kind: fc.constant('not'), item: condition }),
    sequence: object<Condition>({
      kind: fc.constant('sequence'),
      steps: fc.array(step, { minLength: 1, maxLength: 3 }),
    }),
    rolling_window: object<Condition>({
      kind: fc.constant('rolling_window'),
      window: fc.integer({ min: 3, max: 8 }),
      mode: fc.constantFrom(...words.ROLLING_WINDOW_MODES),
      value: fc.integer({ min: 1, max: 3 }),
      expr: condition,
    }),
    state_machine: object<Condition>(
      { kind: fc.constant('state_machine'), set: condition },
      { reset: condition, ttlBars: period, conflictPolicy: fc.constantFrom(...words.STATE_CONFLICT_POLICIES) },
    ),
  };
  return oneOfKinds(options, kinds, condition);
}

function oneOfKinds<T>(
  options: StrategyOptions,
  kinds: Partial<Record<AnyKind, fc.Arbitrary<T>>>,
  otherwise: fc.Arbitrary<T>,
): fc.Arbitrary<T> {
  const wanted = (Object.entries(kinds) as [AnyKind, fc.Arbitrary<T>][]).filter(([kind]) => hasKind(options, kind));
  return wanted.length === 0 ? otherwise : fc.oneof(...wanted.map(([, arbitrary]) => arbitrary));
}
