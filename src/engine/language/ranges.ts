// Ranges: between which numbers a value can lie whatever the market does, by interval arithmetic over its expression.
import type { OutputDefinition } from '../indicators/definition.ts';
import { findIndicator } from '../indicators/registry.ts';
import type { Expression, MathValue, Param, RollingValue, Value } from './ast.ts';
import { isParamRef } from './canonical.ts';

/** Numbers from `lo` to `hi`; open ends are left out. Values that are missing are in no range. */
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
/** The one number it holds, undefined when there are more. */
export const pointOf = ({ lo, hi }: Range): number | undefined => (lo === hi && Number.isFinite(lo) ? lo : undefined);

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

/** Clock fields (day_of_week is 1 Monday … 7 Sunday); years are open. */
const TIME_RANGES: Readonly<Record<string, Range>> = {
  minute: range(0, 59),
  hour: range(0, 23),
  day_of_week: range(1, 7),
  day_of_month: range(1, 31),
  month: range(1, 12),
  minute_of_day: range(0, 1_439),
  week_of_year: range(1, 53),
};
const STATE_RANGES: Readonly<Record<string, Range>> = {
  position_exists: range(0, 1),
  position_side: range(-1, 1),
};
/** State fields that may be negative; every other is a count, a size, a price or a drawdown. */
const SIGNED_STATE = /pnl|balance|equity|collateral|mae|mfe|utilization/;
/** State fields and rolling results that are whole numbers, so that `eq` on them is meant. */
const DISCRETE_STATE =
  /^(position_exists|position_side|position_bars_.*|open_positions_count|trades_count_.*|.*_streak)$/;

/** Values of which `eq` and `neq` are no accident: counts, flags, clock fields, constants rounded to whole numbers. */
export function isDiscrete(expression: Expression): boolean {
  switch (expression.kind) {
    case 'time':
    case 'bars_since':
      return true;
    case 'state':
      return DISCRETE_STATE.test(expression.field);
    case 'rolling':
      return expression.op === 'argmax' || expression.op === 'argmin';
    case 'math':
      return ['sign', 'round', 'floor', 'ceil'].includes(expression.op) || expression.args.every(isDiscreteOrWhole);
    case 'indicator':
      return outputOf(expression)?.kind === 'flag';
    case 'if':
      return isDiscreteOrWhole(expression.then) && isDiscreteOrWhole(expression.else);
    case 'shift':
      return isDiscrete(expression.source);
    case 'value_when':
    case 'capture':
      return isDiscrete(expression.value);
    default:
      return false;
  }
}
const isDiscreteOrWhole = (expression: Expression): boolean =>
  (expression.kind === 'const' && Number.isInteger(expression.value)) || isDiscrete(expression);

function outputOf({ indicator, output }: Value & { kind: 'indicator' }): OutputDefinition | undefined {
  const outputs = findIndicator(indicator)?.outputs ?? [];
  return output === undefined ? outputs[0] : outputs.find(({ name }) => name === output);
}

/** Ranges of the values of one strategy without faults; params lie within their declared bounds. */
export class Ranges {
  readonly #params: ReadonlyMap<string, Param>;
  readonly #known = new Map<Expression, Range>();

  constructor(params: readonly Param[]) {
    this.#params = new Map(params.map((param) => [param.name, param]));
  }

  of(value: Value): Range {
    const found = this.#known.get(value);
    if (found !== undefined) return found;
    const made = this.#measure(value);
    this.#known.set(value, made);
    return made;
  }

  /** A number or a parameter in its place. */
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

  #measure(value: Value): Range {
    switch (value.kind) {
      case 'const':
        return this.ofNumber(value.value);
      case 'param':
        return this.#ofParam(value.name);
      case 'market':
      case 'pivot':
      case 'bars_since':
        return NOT_NEGATIVE;
      case 'time':
        return TIME_RANGES[value.field] ?? EVERYTHING;
      case 'state':
        return STATE_RANGES[value.field] ?? (SIGNED_STATE.test(value.field) ? EVERYTHING : NOT_NEGATIVE);
      case 'indicator': {
        const output = outputOf(value);
        if (output?.min !== undefined || output?.max !== undefined)
          return range(output.min ?? -Infinity, output.max ?? Infinity);
        return EVERYTHING;
      }
      case 'rolling':
        return this.#rolling(value);
      case 'math':
        return this.#math(value);
      case 'shift':
        return this.of(value.source);
      case 'if':
        return hull([this.of(value.then), this.of(value.else)]);
      case 'value_when':
      case 'capture':
        return this.of(value.value);
      case 'series':
        return EVERYTHING;
    }
  }

  #rolling({ op, period, source }: RollingValue): Range {
    const { lo, hi } = this.of(source);
    const most = this.ofNumber(period).hi;
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

  #math({ op, args }: MathValue): Range {
    const ranges = args.map((arg) => this.of(arg));
    const [a, b = EVERYTHING, c = EVERYTHING] = ranges;
    switch (op) {
      case 'add':
        return range(
          sum(
            ranges.map(({ lo }) => lo),
            -Infinity,
          ),
          sum(
            ranges.map(({ hi }) => hi),
            Infinity,
          ),
        );
      case 'sub':
        return range(
          sum([a.lo, ...ranges.slice(1).map(({ hi }) => -hi)], -Infinity),
          sum([a.hi, ...ranges.slice(1).map(({ lo }) => -lo)], Infinity),
        );
      case 'mul':
        return ranges.reduce((left, right) => product(left, right));
      case 'min':
        return range(Math.min(...ranges.map(({ lo }) => lo)), Math.min(...ranges.map(({ hi }) => hi)));
      case 'max':
        return range(Math.max(...ranges.map(({ lo }) => lo)), Math.max(...ranges.map(({ hi }) => hi)));
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
}

/** A sum in which opposite infinities say nothing. */
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
