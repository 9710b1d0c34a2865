// Foreign kinds: what other platforms call the kinds of the language, and which of its constructs do what others have.
import { typeOfKind, type Field, type ObjectShape } from '../grammar/shapes.ts';
import { synonymousMember, withoutModule } from '../grammar/synonyms.ts';
import { ALWAYS_TRUE, expected, shown } from '../issues/displayNames.ts';
import { plain } from '../issues/nearest.ts';
import type { PatchOperation } from '../issues/patch.ts';
import { pointerTo } from '../pointer.ts';
import { isMembers, type Members } from '../grammar/payloadObjects.ts';
import { BACK_ADVICE, LOOKS_AHEAD } from './lookAhead.ts';
import { isTooLong, type Fault } from './leafFaults.ts';
import { expressionMeant } from './misplaced.ts';

type Options = ReadonlyMap<string, ObjectShape>;

/** Words that mean the same as a kind, without case and separators. */
const KIND_WORDS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    all: ['and', 'allof', 'alltrue', '&', '&&'],
    any: ['or', 'anyof', 'anytrue', '|', '||'],
    not: ['!', 'negate'],
    between: ['range', 'inrange', 'withinrange', 'isbetween'],
    near: ['approx', 'approximately', 'closeto', 'isclose', 'almostequal', '~='],
    rising: ['increasing', 'isrising', 'trendingup'],
    falling: ['decreasing', 'isfalling', 'trendingdown'],
    sequence: ['then', 'followedby', 'inorder', 'chain'],
    cross: ['crosses', 'crossing', 'crossed'],
    compare: ['comparison', 'comparator'],
    time_window: ['timerange', 'timefilter', 'tradinghours', 'timebetween'],
    pattern: ['candlestick', 'candlestickpattern', 'candlepattern'],
    if: ['iff', 'ternary', 'ifelse', 'conditional'],
    shift: ['prev', 'history', 'barsago', 'delay'],
  }).flatMap(([kind, words]) => words.map((word) => [word, kind])),
);

const LOGIC =
  'Use kind "all" where every condition must hold, or "any" where one is enough, with the conditions as items.';
const IN_A_ROW = 'Use {"kind": "rolling_window", "window": 3, "mode": "all", "expr": …} for 3 bars in a row.';
const RECENTLY = 'Use {"kind": "rolling_window", "window": 5, "mode": "any", "expr": …} for one of the last 5 bars.';
const COUNTED =
  'Use {"kind": "rolling_window", "window": 10, "mode": "count_gt", "value": 2, "expr": …} for more than 2 of the ' +
  'last 10 bars.';
const OUTSIDE = 'Use {"kind": "not", "item": {"kind": "between", "value": …, "lower": …, "upper": …}}.';
const NONE = 'Use {"kind": "not", "item": {"kind": "any", "items": [ … ]}}.';
const WEEKDAYS = 'Use {"kind": "time_window", "weekdays": ["mon", "fri"]}.';
const DATES = 'Use {"kind": "time_window", "dates": {"from": "2020-01-01", "to": "2020-12-31"}}.';
const BREAKOUT =
  'Compare the close with the highest high of the bars before: {"kind": "rolling", "op": "max", "period": 20, ' +
  '"offset": 1, "source": {"kind": "market", "field": "high"}}.';
const FORMULA = 'Text and code are not evaluated: write';
const TIMEFRAME =
  'Write the expression itself here, with `timeframe` on its market, indicator and pattern nodes, and `instrument` ' +
  'for another symbol.';
const MISSING = 'Leave it out: a condition on a missing value is unknown, and an unknown condition never trades.';
const AHEAD = `Nothing can read a later bar: ${LOOKS_AHEAD}. ${BACK_ADVICE}`;
const REF =
  'Use {"kind": "shift", "source": …, "offset": 1} for the bar before. Nothing can read a later bar, as Ref of a ' +
  'positive number does in AmiBroker.';
const CHANGE = 'Use indicator "mom" for the difference from an earlier value, or kind "percent_change" for percent.';
const PERCENT_CHANGE = 'Use kind "percent_change", which is in points: 2 is 2 %.';

const FORMULA_WORDS = ['expression', 'formula', 'eval', 'script', 'code', 'pine', 'python'] as const;

/** What does the same as a word of another platform, where no single kind does. */
const CONDITION_ADVICE: ReadonlyMap<string, string> = adviceOf([
  [LOGIC, 'logical', 'logic', 'group', 'conditiongroup', 'boolean', 'bool', 'combine', 'combination'],
  [IN_A_ROW, 'consecutive', 'forbars', 'inarow', 'streak', 'sustained', 'heldfor'],
  [RECENTLY, 'within', 'withinbars', 'recent', 'recently', 'happened', 'occurred', 'anyinlast', 'inlast'],
  [COUNTED, 'count', 'countif', 'counttrue', 'atleast'],
  [OUTSIDE, 'outside', 'notbetween', 'outofrange'],
  [NONE, 'none', 'noneof', 'nor', 'neither'],
  ['Use kind "any" of two: kind "all" of the first and `not` the second, and the reverse.', 'xor'],
  [WEEKDAYS, 'dayofweek', 'weekday', 'weekdays', 'daysofweek'],
  [DATES, 'daterange', 'dates', 'datebetween'],
  [BREAKOUT, 'breakout', 'channelbreakout', 'newhigh'],
  [ALWAYS_TRUE, 'true', 'always', 'alwaystrue', 'buyandhold', 'everybar'],
  [
    `${FORMULA} the condition as nodes, such as {"kind": "compare", "op": "gt", "left": …, "right": …}.`,
    ...FORMULA_WORDS,
  ],
]);
const VALUE_ADVICE: ReadonlyMap<string, string> = adviceOf([
  [CHANGE, 'change', 'diff', 'delta', 'difference'],
  [PERCENT_CHANGE, 'pctchange', 'returns', 'return', 'pctreturn'],
  [AHEAD, 'lead', 'next', 'future', 'lookahead', 'forward', 'tomorrow'],
  [REF, 'ref'],
  [MISSING, 'nz', 'fillna', 'coalesce', 'isna', 'na', 'ffill'],
  [TIMEFRAME, 'security', 'resample', 'informative', 'mtf', 'htf', 'multitimeframe', 'timeframe'],
  [`${FORMULA} the value as nodes, such as {"kind": "math", "op": "mul", "args": [ … ]}.`, ...FORMULA_WORDS],
]);

function adviceOf(rows: readonly (readonly [advice: string, ...words: readonly string[]])[]): Map<string, string> {
  return new Map(rows.flatMap(([advice, ...words]) => words.map((word) => [word, advice] as const)));
}

const bareWord = (word: string): string => plain(withoutModule(word));

/** The kind that another platform's word for it means. */
export function kindMeant(word: string, options: Options): string | undefined {
  const kind = KIND_WORDS.get(bareWord(word));
  return kind !== undefined && options.has(kind) ? kind : undefined;
}

/** What to use in place of a kind that the language does not have. */
export function constructAdvice(word: string, options: Options): string | undefined {
  return (options.has('compare') ? CONDITION_ADVICE : VALUE_ADVICE).get(bareWord(word));
}

/** A kind in the place of the operator of another: {"kind": "compare", "op": "between", …}. */
export function kindAsOperator(
  options: Options,
  value: Members,
  pointer: string,
): { readonly fault: Fault; readonly meant?: ObjectShape; readonly member: 'op' } | undefined {
  const { op } = value;
  const own = typeof value.kind === 'string' ? options.get(value.kind)?.fields.get('op')?.shape : undefined;
  if (typeof op !== 'string' || own?.type !== 'choice' || own.values.includes(op)) return undefined;
  const kind = options.has(op) ? (KIND_WORDS.get(op) ?? op) : kindMeant(op, options);
  const message = `op cannot be ${shown(op)}`;
  if (kind === undefined) {
    const suggestion = constructAdvice(op, options);
    return suggestion === undefined
      ? undefined
      : { fault: { code: 'UNKNOWN_OPERATOR', message: `${message}.`, suggestion }, member: 'op' };
  }
  if (kind === value.kind) return undefined;
  const shape = options.get(kind)!;
  const required = [...shape.fields.values()].filter((field) => field.isRequired && field.name !== 'kind');
  const names = required.map(({ name }) => name);
  const { steps, given } = operandsOf(kind, value, pointer);
  const isWhole = names.every((name) => given.has(name) || [...given].some((one) => synonymousMember(one, [name])));
  const fault: Fault = {
    code: 'UNKNOWN_OPERATOR',
    message: `${message}: that is the kind ${shown(kind)}.`,
    suggestion: `Use kind "${kind}" with ${listed(required.map(describe))}.`,
    patch: isWhole
      ? [
          { op: 'replace', path: pointerTo(pointer, 'kind'), value: kind },
          { op: 'remove', path: pointerTo(pointer, 'op') },
          ...steps,
        ]
      : undefined,
  };
  return { fault, member: 'op' };
}

/** A member with the words or the list that it takes. */
function describe({ name, shape }: Field): string {
  if (shape.type === 'choice') return `${name} (${expected(shape)})`;
  return shape.type === 'array' ? `${name} (a list)` : name;
}

const listed = (names: readonly string[]): string =>
  names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;

/** The steps that make the operands of a comparison the members of `kind`, and the members it then has. */
function operandsOf(
  kind: string,
  value: Members,
  pointer: string,
): { readonly steps: readonly PatchOperation[]; readonly given: ReadonlySet<string> } {
  const given = new Set(Object.keys(value).filter((name) => value[name] !== undefined && name !== 'op'));
  const steps: PatchOperation[] = [];
  const { left, right } = value;
  const make = (name: string, made: unknown): void => {
    steps.push({ op: 'add', path: pointerTo(pointer, name), value: made });
    given.add(name);
  };
  const move = (name: string, ...to: readonly (string | number)[]): void => {
    steps.push({ op: 'move', from: pointerTo(pointer, name), path: pointerTo(pointer, ...to) });
    given.delete(name);
    given.add(String(to[0]));
  };
  const single = kind === 'between' ? 'value' : kind === 'not' ? 'item' : 'source';
  const isSingle = ['between', 'rising', 'falling', 'not'].includes(kind);
  if (isSingle && left !== undefined && !given.has(single)) move('left', single);
  if (kind === 'between' && Array.isArray(right) && right.length === 2 && !isTooLong(right)) {
    for (const [at, name] of ['lower', 'upper'].entries()) {
      const bound: unknown = right[at];
      make(name, expressionMeant('value', bound)?.value ?? bound);
    }
    steps.push({ op: 'remove', path: pointerTo(pointer, 'right') });
    given.delete('right');
  }
  const isLogic = (kind === 'all' || kind === 'any') && !given.has('items');
  if (isLogic && isConditionLike(left) && isConditionLike(right)) {
    make('items', []);
    move('left', 'items', 0);
    move('right', 'items', 1);
  }
  return { steps, given };
}

/** A condition, or a reference to a node that may be one. */
const isConditionLike = (value: unknown): boolean =>
  isMembers(value) && (typeOfKind(value.kind) === 'condition' || typeof value.ref === 'string');
