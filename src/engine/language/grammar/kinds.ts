// What every kind declares about itself: its description, its text in rules and samples, its cost, its role.
import type { ConditionKind, Kind, RunnableExpression, RunnableNodes } from './ast.ts';

/** One line per kind for capabilities; docs/language.md has the exact rules. */
export const KIND_DESCRIPTIONS: Readonly<Record<Kind, string>> = {
  const: 'A number.',
  market: 'A field of the bar, `offset` bars ago on its own timeframe.',
  indicator: 'One output of an indicator, computed on bars or on any value expression.',
  state: 'Position or account state before the orders of this bar.',
  rolling: 'An aggregate of the last `period` present values of its source.',
  math: 'Arithmetic. A result that is not finite is missing.',
  shift: 'The source as it was `offset` base bars ago.',
  percent_change: 'The change of the source against `bars` base bars ago, in percent of the value it had then.',
  param: 'A declared parameter, used as a value.',
  if: '`then` where `cond` is true, `else` where it is false, missing where it is unknown.',
  bars_since: 'Bars since the condition was last true: 0 on that bar, missing before the first time.',
  value_when: 'The value on the bar where the condition was true. Occurrence 0 is the latest such bar.',
  series: 'A column imported with the bars.',
  capture: 'The value on the bar where the condition last changed from not true to true.',
  pivot: 'A swing high or low, known `right` bars after it happened.',
  time: 'A field of the bar’s open time, in the time zone of the strategy.',
  compare: 'Compares two values. Unknown where one of them is missing.',
  cross: '`left` crosses `right` on any of the last `within` base bars, this one included (default 1: on this bar).',
  between: 'lower <= value <= upper.',
  near: 'The two values differ by at most `tolerance`.',
  rising: 'The source rose strictly on each of the last `bars` bars.',
  falling: 'The source fell strictly on each of the last `bars` bars.',
  pattern:
    'A candlestick pattern of the given side on any of the last `within` base bars, this one included (default 1: on ' +
    'this bar).',
  all: 'Every item is true.',
  and: 'An alias of `all`.',
  any: 'At least one item is true.',
  or: 'An alias of `any`.',
  not: 'The item is false. Unknown stays unknown.',
  time_window: 'The bar opens on the given weekdays and dates, between the given times of day.',
  session: 'The bar opens during the given market session.',
  sequence: 'The steps happened one after the other, and the last one happens on this bar.',
  rolling_window: 'How often the condition was true in the last `window` bars.',
  state_machine: 'On from the bar that sets it until the bar that resets it, or for `ttlBars` bars.',
};

/**
 * Nanoseconds per bar of one node, measured on one core at a million bars (bench/evaluate.ts): most kernels take 1 to
 * 5, and comparisons, which write bits, less than 1.
 */
export const NS_PER_BAR: Readonly<Record<Kind, number>> = {
  const: 0,
  market: 0,
  indicator: 3,
  state: 2,
  rolling: 3,
  math: 1.2,
  shift: 0.3,
  percent_change: 4,
  param: 0,
  if: 1.5,
  bars_since: 1,
  value_when: 1.5,
  series: 0,
  capture: 1.5,
  pivot: 4,
  time: 2,
  compare: 0.7,
  cross: 0.7,
  between: 0.7,
  near: 0.7,
  rising: 0.7,
  falling: 0.7,
  pattern: 6,
  all: 0.7,
  and: 0.7,
  any: 0.7,
  or: 0.7,
  not: 0.7,
  time_window: 2,
  session: 2,
  sequence: 3,
  rolling_window: 2,
  state_machine: 2,
};

/**
 * `leaf` reads values or the clock, and counts as one condition of the tier limits; `temporal` follows other conditions
 * over several bars; `logic` joins the conditions of one bar.
 */
export const CONDITION_ROLES: Readonly<Record<ConditionKind, 'leaf' | 'temporal' | 'logic'>> = {
  compare: 'leaf',
  cross: 'leaf',
  between: 'leaf',
  near: 'leaf',
  rising: 'leaf',
  falling: 'leaf',
  pattern: 'leaf',
  time_window: 'leaf',
  session: 'leaf',
  sequence: 'temporal',
  rolling_window: 'temporal',
  state_machine: 'temporal',
  all: 'logic',
  and: 'logic',
  any: 'logic',
  or: 'logic',
  not: 'logic',
};

/** Writes the child expressions of a node. */
interface TextWriter {
  /** A child as it is. */
  readonly text: (child: RunnableExpression) => string;
  /** A child that stands beside an operator: sums and products in parentheses. */
  readonly operand: (child: RunnableExpression) => string;
}
type KindTexts = { readonly [K in keyof RunnableNodes]: (node: RunnableNodes[K], write: TextWriter) => string };

const COMPARE_SIGNS = { gt: '>', gte: '>=', lt: '<', lte: '<=', eq: '=', neq: '≠' } as const;
const CROSS_VERBS = { cross_up: 'crosses above', cross_down: 'crosses below', cross_any: 'crosses' } as const;
const MATH_SIGNS: Readonly<Record<string, string>> = { add: ' + ', sub: ' - ', mul: ' × ', div: ' / ' };

interface Placed {
  readonly timeframe?: string;
  readonly offset?: number;
  readonly instrument?: { readonly symbol: string };
}
/** `@SPX@4h[1]`: the instrument, timeframe and offset that a node names. */
const placeOf = ({ instrument, timeframe, offset }: Placed): string =>
  `${instrument ? `@${instrument.symbol}` : ''}${timeframe ? `@${timeframe}` : ''}${offset ? `[${offset}]` : ''}`;
const within = (bars: number): string => (bars === 1 ? '' : ` within ${bars} bars`);

/** Each kind as a person would write it. */
const KIND_TEXTS: KindTexts = {
  const: ({ value }) => String(value),
  market: (node) => `${node.field}${placeOf(node)}`,
  indicator: (node, write) => {
    const sources = [...(node.source ? [node.source] : []), ...(node.sources ?? [])].map(write.text);
    const args = [...sources, ...Object.values(node.args).map(String)].join(', ');
    return `${node.indicator}(${args})${node.output === 'value' ? '' : `.${node.output}`}${placeOf(node)}`;
  },
  state: (node) => `${node.field}${placeOf(node)}`,
  rolling: (node, write) => `${node.op}(${write.text(node.source)}, ${node.period} bars)${placeOf(node)}`,
  math: ({ op, args }, write) =>
    op in MATH_SIGNS && args.length > 1
      ? args.map(write.operand).join(MATH_SIGNS[op])
      : `${op}(${args.map(write.text).join(', ')})`,
  shift: ({ source, offset }, write) => `${write.operand(source)}[${offset}]`,
  percent_change: ({ source, bars }, write) => `percent change of ${write.text(source)} over ${bars} bars`,
  if: (node, write) => `if ${write.text(node.cond)} then ${write.text(node.then)} else ${write.text(node.else)}`,
  bars_since: ({ when }, write) => `bars since (${write.text(when)})`,
  value_when: ({ value, when, occurrence }, write) =>
    `${write.text(value)} when (${write.text(when)})${occurrence ? `, ${occurrence} before` : ''}`,
  series: (node) => `series ${node.name}${placeOf(node)}`,
  capture: ({ value, when }, write) => `${write.text(value)} captured at (${write.text(when)})`,
  pivot: (node) => `pivot ${node.pivotKind}(${node.left}, ${node.right})${placeOf(node)}`,
  time: ({ field }) => `time ${field}`,
  compare: ({ left, op, right, tolerance }, write) =>
    `${write.text(left)} ${COMPARE_SIGNS[op]} ${write.text(right)}${tolerance ? ` ± ${tolerance}` : ''}`,
  cross: (node, write) =>
    `${write.text(node.left)} ${CROSS_VERBS[node.op]} ${write.text(node.right)}${within(node.within)}`,
  between: ({ lower, value, upper }, write) => `${write.text(lower)} <= ${write.text(value)} <= ${write.text(upper)}`,
  near: ({ left, right, tolerance }, write) => `${write.text(left)} within ${tolerance} of ${write.text(right)}`,
  rising: ({ source, bars }, write) => `${write.text(source)} rising for ${bars} bars`,
  falling: ({ source, bars }, write) => `${write.text(source)} falling for ${bars} bars`,
  pattern: (node) => `${node.side === 'any' ? '' : `${node.side} `}${node.name}${placeOf(node)}${within(node.within)}`,
  all: ({ items }, write) =>
    items.map((item) => (item.kind === 'any' ? `(${write.text(item)})` : write.text(item))).join(' and '),
  any: ({ items }, write) =>
    items.map((item) => (item.kind === 'all' ? `(${write.text(item)})` : write.text(item))).join(' or '),
  not: ({ item }, write) => `not (${write.text(item)})`,
  time_window: ({ weekdays, between, dates, timezone }) => {
    const hours = between ? `${between.from}–${between.to}` : '';
    const days = dates ? `${dates.from ?? ''}…${dates.to ?? ''}` : '';
    return ['time in', weekdays?.join(' ') ?? '', hours, days, timezone].filter((word) => word !== '').join(' ');
  },
  session: ({ name }) => `${name} session`,
  sequence: ({ steps }, write) => steps.map((step) => write.text(step.expr)).join(', then '),
  rolling_window: ({ mode, value, expr, window }, write) =>
    `${mode}${value === undefined ? '' : ` ${value}`} of (${write.text(expr)}) in ${window} bars`,
  state_machine: ({ set, reset, ttlBars }, write) => {
    const until = reset ? ` until (${write.text(reset)})` : '';
    return `on from (${write.text(set)})${until}${ttlBars ? ` for ${ttlBars} bars` : ''}`;
  },
};

const MAX_TEXT = 160;
/** Deeper than this, a graph that shares nodes could write an exponential text. */
const MAX_TEXT_DEPTH = 8;

/** An expression as a person would write it, in at most 160 characters: for rule texts, samples and explain. */
export const textOf = (expression: RunnableExpression): string => shortened(wholeTextOf(expression));

/** The same, however long. */
export const wholeTextOf = (expression: RunnableExpression): string => writeText(expression, 0);
/** A text of at most 160 characters, the last of which is … where more was cut off. */
export const shortened = (text: string): string => (text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT - 1)}…`);

function writeText(expression: RunnableExpression, depth: number): string {
  if (depth > MAX_TEXT_DEPTH) return '…';
  const text = (child: RunnableExpression): string => writeText(child, depth + 1);
  const operand = (child: RunnableExpression): string =>
    child.kind === 'math' && child.op in MATH_SIGNS ? `(${text(child)})` : text(child);
  return kindText(expression.kind, expression, { text, operand });
}

/** The text of the node's own kind; the type parameter lets the compiler see that entry and node belong together. */
function kindText<K extends keyof RunnableNodes>(kind: K, node: RunnableNodes[K], write: TextWriter): string {
  return KIND_TEXTS[kind](node, write);
}
