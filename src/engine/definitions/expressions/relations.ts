// Relations: how two values may compare on one bar, and what a comparison says about the range of a value.
import type { CompareOp, MARKET_FIELDS } from '../words.ts';
import type { ValueChild } from './places.ts';
import { pointOf, range, type Range } from './intervals.ts';

/** How two values may compare: any of these bits. */
export const LESS = 1;
export const EQUAL = 2;
export const GREATER = 4;
export const ANY_RELATION = LESS | EQUAL | GREATER;
export const flipped = (relation: number): number =>
  (relation & EQUAL) | (relation & LESS ? GREATER : 0) | (relation & GREATER ? LESS : 0);

export const RELATIONS: Readonly<Record<CompareOp, number>> = {
  gt: GREATER,
  gte: GREATER | EQUAL,
  lt: LESS,
  lte: LESS | EQUAL,
  eq: EQUAL,
  neq: LESS | GREATER,
};

/** One comparison: `left` compares to `right` in one of the ways of `relation`. */
export interface Comparison {
  readonly left: ValueChild;
  readonly right: ValueChild;
  readonly relation: number;
}

/** The range a value must be in to compare this way to some value in `other`. */
export function allowed(relation: number, other: Range): Range {
  if (relation === EQUAL) return other;
  const lo = relation & LESS ? -Infinity : other.lo;
  const hi = relation & GREATER ? Infinity : other.hi;
  const isStrict = (relation & EQUAL) === 0;
  return range(
    lo,
    hi,
    lo !== -Infinity && (isStrict || other.isLoOpen),
    hi !== Infinity && (isStrict || other.isHiOpen),
  );
}

/** The bounds that a comparison sets on one side by a number on the other; undefined where neither is a number. */
export function boundsOfComparison(
  { left, right, relation }: Comparison,
  rangeOf: (value: ValueChild) => Range,
): { value: ValueChild; bounds: Range } | undefined {
  if (relation === (LESS | GREATER)) return undefined;
  const [a, b] = [pointOf(rangeOf(left)), pointOf(rangeOf(right))];
  if (a === undefined && b !== undefined) return { value: left, bounds: allowed(relation, range(b, b)) };
  if (b === undefined && a !== undefined) return { value: right, bounds: allowed(flipped(relation), range(a, a)) };
  return undefined;
}

/** A field of the bars of one series, some bars ago. */
export interface BarField {
  readonly field: (typeof MARKET_FIELDS)[number];
  readonly place: string;
}
/** `kind` max: at least every value of `of` in a window that ends with this bar; min: at most. */
export interface Extreme {
  readonly kind: 'max' | 'min';
  readonly of: BarField;
}

/** The bars that a node names, as one text. */
export const barsNamed = (node: { timeframe?: unknown; offset?: unknown; instrument?: unknown }): string =>
  JSON.stringify([node.timeframe ?? null, node.instrument ?? null, node.offset ?? 0]);
