// Ranges: the numbers that a value can take in any market, by interval arithmetic over its expression.
import type { OutputDefinition } from '../../indicators/definition.ts';
import { findIndicator } from '../../indicators/registry.ts';
import type { Expression, Node, Nodes, Param, Value, ValueKind } from '../grammar/ast.ts';
import type { STATE_FIELDS, TIME_FIELDS } from '../../definitions/words.ts';
import { isParamRef } from '../grammar/shapes.ts';

/** Numbers from `lo` to `hi`, without an end that is open. A missing value is in no range. */
export interface Range {
  readonly lo: number;
  readonly hi: number;
  readonly isLoOpen: boolean;
  readonly isHiOpen: boolean;
}

export const range = (lo: number, hi: number, isLoOpen = false, isHiOpen = false): Range => ({
  lo,
  hi,
  isLoOpen,
  isHiOpen,
});
export const EVERYTHING = range(-Infinity, Infinity);
const NOT_NEGATIVE = range(0, Infinity);

export const isEmpty = ({ lo, hi, isLoOpen, isHiOpen }: Range): boolean =>
  lo > hi || (lo === hi && (isLoOpen || isHiOpen));
/** The only number in a range; undefined when there are more. */
export const pointOf = ({ lo, hi }: Range): number | undefined => (lo === hi && Number.isFinite(lo) ? lo : undefined);

/** The numbers that are in both ranges; empty when `lo` is above `hi`. */
export function intersect(a: Range, b: Range): Range {
  const lo = Math.max(a.lo, b.lo);
  const hi = Math.min(a.hi, b.hi);
  const isLoOpen = (a.lo === lo && a.isLoOpen) || (b.lo === lo && b.isLoOpen);
  const isHiOpen = (a.hi === hi && a.isHiOpen) || (b.hi === hi && b.isHiOpen);
  return { lo, hi, isLoOpen, isHiOpen };
}

/** Everything in `a` is in `b`. */
export function isWithin(a: Range, b: Range): boolean {
  const isAbove = a.lo > b.lo || (a.lo === b.lo && (a.isLoOpen || !b.isLoOpen));
  return isAbove && (a.hi < b.hi || (a.hi === b.hi && (a.isHiOpen || !b.isHiOpen)));
}

const hull = (ranges: readonly Range[]): Range =>
  ranges.length === 0
    ? EVERYTHING
    : range(Math.min(...ranges.map(({ lo }) => lo)), Math.max(...ranges.map(({ hi }) => hi)));

/** day_of_week is 1 (Monday) to 7 (Sunday). */
const TIME_RANGES: Readonly<Record<(typeof TIME_FIELDS)[number], Range>> = {
  minute: range(0, 59),
  hour: range(0, 23),
  day_of_week: range(1, 7),
  day_of_month: range(1, 31),
  month: range(1, 12),
  year: EVERYTHING,
  minute_of_day: range(0, 1_439),
  week_of_year: range(1, 53),
};

interface StateValues {
  readonly range: Range;
  /** Whole numbers only. */
  readonly isDiscrete: boolean;
}
const COUNT: StateValues = { range: NOT_NEGATIVE, isDiscrete: true };
/** Sizes, prices, drawdowns. */
const UNSIGNED: StateValues = { range: NOT_NEGATIVE, isDiscrete: false };
/** Profits and what they change. */
const SIGNED: StateValues = { range: EVERYTHING, isDiscrete: false };
const STATE_VALUES: Readonly<Record<(typeof STATE_FIELDS)[number], StateValues>> = {
  position_exists: { range: range(0, 1), isDiscrete: true },
  position_side: { range: range(-1, 1), isDiscrete: true },
  position_size: UNSIGNED,
  position_entry_price: UNSIGNED,
  position_unrealized_pnl: SIGNED,
  position_unrealized_pnl_pct: SIGNED,
  position_realized_pnl: SIGNED,
  position_bars_since_entry: COUNT,
  position_bars_since_exit: COUNT,
  position_highest_since_entry: UNSIGNED,
  position_lowest_since_entry: UNSIGNED,
  position_mfe_pct: SIGNED,
  position_mae_pct: SIGNED,
  position_stop_price: UNSIGNED,
  position_average_price: UNSIGNED,
  open_positions_count: COUNT,
  account_balance: SIGNED,
  account_equity: SIGNED,
  account_gross_exposure: UNSIGNED,
  account_used_margin: UNSIGNED,
  account_available_collateral: SIGNED,
  account_margin_utilization: SIGNED,
  account_drawdown: UNSIGNED,
  account_max_drawdown: UNSIGNED,
  account_day_pnl_pct: SIGNED,
  trades_count_total: COUNT,
  trades_count_today: COUNT,
  wins_streak: COUNT,
  losses_streak: COUNT,
  last_trade_pnl: SIGNED,
  last_trade_pnl_pct: SIGNED,
  last_entry_price: UNSIGNED,
  last_exit_price: UNSIGNED,
};

type ByKind<R extends unknown[], T> = { readonly [K in ValueKind]: (node: Nodes[K], ...rest: R) => T };
const always = () => true;
const never = () => false;

/**
 * Whether the values of a kind are counts, flags, clock fields or rounded numbers, so that `eq` on them is intended.
 */
const IS_DISCRETE: ByKind<[], boolean> = {
  const: never,
  market: never,
  indicator: (node) => outputOf(node)?.kind === 'flag',
  state: ({ field }) => STATE_VALUES[field].isDiscrete,
  rolling: ({ op }) => op === 'argmax' || op === 'argmin',
  math: ({ op, args }) => ['sign', 'round', 'floor', 'ceil'].includes(op) || args.every(isDiscreteOrWhole),
  shift: ({ source }) => isDiscrete(source),
  percent_change: never,
  param: never,
  if: (node) => isDiscreteOrWhole(node.then) && isDiscreteOrWhole(node.else),
  bars_since: always,
  value_when: ({ value }) => isDiscrete(value),
  series: never,
  capture: ({ value }) => isDiscrete(value),
  pivot: never,
  time: always,
};

export const isDiscrete = (value: Value): boolean => discreteOf(value.kind, value);
const discreteOf = <K extends ValueKind>(kind: K, node: Nodes[K]): boolean => IS_DISCRETE[kind](node);
const isDiscreteOrWhole = (value: Value): boolean =>
  (value.kind === 'const' && Number.isInteger(value.value)) || isDiscrete(value);

function outputOf({ indicator, output }: Node<'indicator'>): OutputDefinition | undefined {
  const outputs = findIndicator(indicator)?.outputs ?? [];
  return output === undefined ? outputs[0] : outputs.find(({ name }) => name === output);
}

/** The ranges of the values of one valid strategy; params are within their declared bounds. */
export class Ranges {
  readonly #params: ReadonlyMap<string, Param>;
  readonly #known = new Map<Expression, Range>();

  constructor(params: readonly Param[]) {
    this.#params = new Map(params.map((param) => [param.name, param]));
  }

  of(value: Value): Range {
    const found = this.#known.get(value);
    if (found !== undefined) return found;
    const made = rangeOfKind(value.kind, value, this);
    this.#known.set(value, made);
    return made;
  }

  /** The range of a number, or of the parameter in its place. */
  ofNumber(number: unknown): Range {
    if (typeof number === 'number') return range(number, number);
    return isParamRef(number) ? this.#ofParam(number.param) : EVERYTHING;
  }

  #ofParam(name: string): Range {
    const param = this.#params.get(name);
    if (param === undefined) return EVERYTHING;
    if (param.type === 'bool') return range(0, 1);
    const numbers = (param.values ?? []).filter((value) => typeof value === 'number');
    if (numbers.length > 0) return hull(numbers.map((value) => range(value, value)));
    return param.type === 'choice' ? EVERYTHING : range(param.min ?? -Infinity, param.max ?? Infinity);
  }
}

/** Where the values of each kind lie. */
const RANGES: ByKind<[Ranges], Range> = {
  const: ({ value }, ranges) => ranges.ofNumber(value),
  market: () => NOT_NEGATIVE,
  indicator: (node) => {
    const { min = -Infinity, max = Infinity } = outputOf(node) ?? {};
    return range(min, max);
  },
  state: ({ field }) => STATE_VALUES[field].range,
  rolling: (node, ranges) => rollingRange(node, ranges),
  math: (node, ranges) => mathRange(node, ranges),
  shift: ({ source }, ranges) => ranges.of(source),
  // A value that is never negative can fall by 100 % at most.
  percent_change: ({ source }, ranges) => (ranges.of(source).lo >= 0 ? range(-100, Infinity) : EVERYTHING),
  param: ({ name }, ranges) => ranges.ofNumber({ param: name }),
  if: (node, ranges) => hull([ranges.of(node.then), ranges.of(node.else)]),
  bars_since: () => NOT_NEGATIVE,
  value_when: ({ value }, ranges) => ranges.of(value),
  series: () => EVERYTHING,
  capture: ({ value }, ranges) => ranges.of(value),
  pivot: () => NOT_NEGATIVE,
  time: ({ field }) => TIME_RANGES[field],
};
const rangeOfKind = <K extends ValueKind>(kind: K, node: Nodes[K], ranges: Ranges): Range => RANGES[kind](node, ranges);

function rollingRange({ op, period, source }: Node<'rolling'>, known: Ranges): Range {
  const { lo, hi } = known.of(source);
  const most = known.ofNumber(period).hi;
  switch (op) {
    case 'max':
    case 'min':
    case 'avg':
    case 'median':
    case 'quantile':
      return range(lo, hi);
    case 'sum':
      return range(lo >= 0 ? lo : lo * most, hi <= 0 ? hi : hi * most);
    case 'std':
    case 'var':
      return NOT_NEGATIVE;
    case 'percentile_rank':
      return range(0, 100);
    case 'argmax':
    case 'argmin':
      return range(0, most);
    case 'zscore':
    case 'slope':
      return EVERYTHING;
  }
}

function mathRange({ op, args }: Node<'math'>, known: Ranges): Range {
  const ranges = args.map((arg) => known.of(arg));
  const [a, b = EVERYTHING, c = EVERYTHING] = ranges;
  const lows = ranges.map(({ lo }) => lo);
  const highs = ranges.map(({ hi }) => hi);
  switch (op) {
    case 'add':
      return range(sum(lows, -Infinity), sum(highs, Infinity));
    case 'sub':
      return range(
        sum([a.lo, ...highs.slice(1).map((hi) => -hi)], -Infinity),
        sum([a.hi, ...lows.slice(1).map((lo) => -lo)], Infinity),
      );
    case 'mul':
      return ranges.reduce((left, right) => product(left, right));
    case 'min':
      return range(Math.min(...lows), Math.min(...highs));
    case 'max':
      return range(Math.max(...lows), Math.max(...highs));
    case 'neg':
      return range(-a.hi, -a.lo);
    case 'abs':
      return a.lo >= 0 ? a : range(a.hi <= 0 ? -a.hi : 0, Math.max(-a.lo, a.hi));
    case 'sign':
      return range(-1, 1);
    case 'exp':
    case 'sqrt':
      return NOT_NEGATIVE;
    case 'clamp':
      return range(Math.max(b.lo, Math.min(c.lo, a.lo)), Math.max(b.hi, Math.min(c.hi, a.hi)));
    case 'floor':
    case 'ceil':
    case 'round':
      return range(Math.floor(a.lo), Math.ceil(a.hi));
    case 'div':
    case 'pow':
    case 'log':
    case 'mod':
      return EVERYTHING;
  }
}

/** A sum; `unknown` where opposite infinities meet. */
function sum(terms: readonly number[], unknown: number): number {
  const total = terms.reduce((left, right) => left + right, 0);
  return Number.isNaN(total) ? unknown : total;
}

function product(a: Range, b: Range): Range {
  const corners = [a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi].map((corner) =>
    Number.isNaN(corner) ? 0 : corner,
  );
  return range(Math.min(...corners), Math.max(...corners));
}
