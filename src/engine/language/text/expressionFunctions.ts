// Functions of text expressions that make nodes of the language: their arguments, and the node that each makes. Every
// indicator is a function as well, under its own name (indicatorCalls.ts).
import { ROLLING_OPS } from '../../definitions/words.ts';
import { operatorKind } from '../hints/synonyms.ts';
import type { Made } from './textMeaning.ts';

/** How a call of a function is read. */
export interface FunctionRule {
  /** What its arguments are, in order; a number may be a param. */
  readonly takes: readonly ('value' | 'condition' | 'number')[];
  readonly least: number;
  /** Its arguments in words, for messages. */
  readonly form: string;
  /** The node of a call; undefined where the arguments do not say what is meant. */
  readonly make: (args: readonly unknown[], name: string) => Made | undefined;
}

const VALUES = (count: number): FunctionRule['takes'] => Array<'value'>(count).fill('value');
const rule = (
  takes: FunctionRule['takes'],
  form: string,
  make: FunctionRule['make'],
  least = takes.length,
): FunctionRule => ({ takes, form, make, least });

/** The highest high and lowest low, where no source is named. */
const EXTREMES = { highest: ['max', 'high'], lowest: ['min', 'low'] } as const;
const extreme = (name: keyof typeof EXTREMES): FunctionRule => {
  const [op, field] = EXTREMES[name];
  return rule(
    ['value', 'number'],
    `a value and a count of bars: ${name}(${field}, 20)`,
    ([source, period]) => {
      if (period !== undefined) return { kind: 'rolling', op, source, period };
      const { kind, value, name: param } = source as Made;
      const count = kind === 'const' ? value : kind === 'param' ? { param } : undefined;
      return count === undefined
        ? undefined
        : { kind: 'rolling', op, source: { kind: 'market', field }, period: count };
    },
    1,
  );
};

const rolling = Object.fromEntries(
  ROLLING_OPS.map((op) => [
    `rolling_${op}`,
    op === 'quantile'
      ? rule(['value', 'number', 'number'], 'a value, a count of bars and a quantile', (args) => {
          const [source, period, quantile] = args;
          return { kind: 'rolling', op, source, period, quantile };
        })
      : rule(['value', 'number'], 'a value and a count of bars', ([source, period]) => ({
          kind: 'rolling',
          op,
          source,
          period,
        })),
  ]),
);

/** `max(high, 20)` is the highest of 20 bars on other platforms. */
const isPriceAndCount = ([first, second, ...others]: readonly unknown[]): boolean =>
  others.length === 0 && (first as Made).kind === 'market' && (second as Made).kind === 'const';
const extremeOf = (op: 'max' | 'min'): FunctionRule =>
  rule(
    VALUES(32),
    `two or more values; of the last bars, write ${op === 'max' ? 'highest(high, 20)' : 'lowest(low, 20)'}`,
    (args) => (isPriceAndCount(args) ? undefined : { kind: 'math', op, args }),
    2,
  );
const math = (count: number): FunctionRule =>
  rule(VALUES(count), count === 1 ? 'a value' : `${count} values`, (args, op) => ({ kind: 'math', op, args }));

const cross: FunctionRule = rule(['value', 'value'], 'two values', ([left, right], name) => ({
  kind: 'cross',
  op: operatorKind(name)?.op ?? 'cross_any',
  left,
  right,
}));
const shift: FunctionRule = rule(['value', 'number'], 'a value and a count of bars', ([source, offset]) =>
  typeof offset === 'number' && offset < 0 ? undefined : { kind: 'shift', source, offset },
);
const change: FunctionRule = rule(
  ['value', 'number'],
  'a value and a count of bars',
  ([value, offset = 1]) => ({ kind: 'math', op: 'sub', args: [value, { kind: 'shift', source: value, offset }] }),
  1,
);
const choose: FunctionRule = rule(
  ['condition', 'value', 'value'],
  'a condition and two values',
  ([cond, met, unmet]) => ({
    kind: 'if',
    cond,
    // oxlint-disable-next-line unicorn/no-thenable -- the language's word for it; no expression is awaited.
    then: met,
    else: unmet,
  }),
);
const barsSince = rule(['condition'], 'a condition', ([when]) => ({ kind: 'bars_since', when }));
const valueWhen = rule(
  ['condition', 'value', 'number'],
  'a condition, a value and an occurrence from 0',
  ([when, value, occurrence = 0]) => ({ kind: 'value_when', when, value, occurrence }),
  2,
);
const inLast = (mode: 'any' | 'all'): FunctionRule =>
  rule(['condition', 'number'], 'a condition and a count of bars', ([expr, window]) => ({
    kind: 'rolling_window',
    mode,
    window,
    expr,
  }));
const join: FunctionRule = rule(
  Array<'condition'>(32).fill('condition'),
  'conditions',
  (items, kind) => ({ kind, items }),
  1,
);
const move: FunctionRule = rule(['value', 'number'], 'a value and a count of bars', ([source, bars], kind) => ({
  kind,
  source,
  bars,
}));

const CROSSES =
  'cross crossover crossunder cross_over cross_under cross_up cross_down crosses_above crosses_below crossed_above ' +
  'crossed_below cross_above cross_below';

/** Function, in lower case → its rule. */
export const FUNCTIONS: Readonly<Record<string, FunctionRule>> = {
  ...Object.fromEntries(CROSSES.split(' ').map((name) => [name, cross])),
  ...rolling,
  highest: extreme('highest'),
  lowest: extreme('lowest'),
  max: extremeOf('max'),
  min: extremeOf('min'),
  ...Object.fromEntries('abs neg sqrt exp log sign round floor ceil'.split(' ').map((op) => [op, math(1)])),
  pow: math(2),
  mod: math(2),
  clamp: math(3),
  shift,
  lag: shift,
  change,
  diff: change,
  if: choose,
  iff: choose,
  where: choose,
  all: join,
  any: join,
  rising: move,
  falling: move,
  bars_since: barsSince,
  barssince: barsSince,
  value_when: valueWhen,
  valuewhen: valueWhen,
  any_in_last: inLast('any'),
  all_in_last: inLast('all'),
  between: rule(VALUES(3), 'a value and its two bounds', ([value, lower, upper]) => ({
    kind: 'between',
    value,
    lower,
    upper,
  })),
  near: rule(['value', 'value', 'number'], 'two values and a tolerance', ([left, right, tolerance]) => ({
    kind: 'near',
    left,
    right,
    tolerance,
  })),
  percent_change: rule(['value', 'number'], 'a value and a count of bars', ([source, bars]) => ({
    kind: 'percent_change',
    source,
    bars,
  })),
};
