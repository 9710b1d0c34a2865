// Inferred ranges: what a true condition says about the values it reads, and whether several can be true at once.
import type { Condition, Expression, Value } from '../grammar/ast.ts';
import { CONDITION_ROLES } from '../grammar/kinds.ts';
import type { COMPARE_OPS } from '../../definitions/words.ts';
import { findPattern } from '../../patterns/patternRegistry.ts';
import { ANY_RELATION, EQUAL, flipped, GREATER, LESS, possibleRelations } from './priceOrder.ts';
import { EVERYTHING, intersect, isEmpty, isWithin, pointOf, range, type Range, type Ranges } from './ranges.ts';

const RELATIONS: Readonly<Record<(typeof COMPARE_OPS)[number], number>> = {
  gt: GREATER,
  gte: GREATER | EQUAL,
  lt: LESS,
  lte: LESS | EQUAL,
  eq: EQUAL,
  neq: LESS | GREATER,
};

/** One comparison: `left` compares to `right` in one of the ways of `relation`. */
interface Comparison {
  readonly left: Value;
  readonly right: Value;
  readonly relation: number;
}
export type KeyOf = (expression: Expression) => number;

/** The comparison that a true leaf implies on this bar; undefined when it implies none. */
function comparisonOf(leaf: Condition): Comparison | undefined {
  if (leaf.kind === 'compare') {
    const isExact = leaf.tolerance === undefined || leaf.tolerance === 0;
    return isExact ? { left: leaf.left, right: leaf.right, relation: RELATIONS[leaf.op] } : undefined;
  }
  if (leaf.kind === 'cross') {
    if (leaf.within !== undefined && leaf.within !== 1) return undefined;
    const relation = leaf.op === 'cross_up' ? GREATER : leaf.op === 'cross_down' ? LESS : LESS | GREATER;
    return { left: leaf.left, right: leaf.right, relation };
  }
  return undefined;
}

/** The range a value must be in to compare this way to some value in `other`. */
function allowed(relation: number, other: Range): Range {
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

/** What is known about the values when several conditions are true at once. */
export class InferredRanges {
  readonly #ranges: Ranges;
  readonly #keyOf: KeyOf;
  readonly #bounds: Map<number, Range>;
  readonly #relations: Map<string, number>;

  constructor(ranges: Ranges, keyOf: KeyOf, from?: InferredRanges) {
    this.#ranges = ranges;
    this.#keyOf = keyOf;
    this.#bounds = new Map(from?.bounds);
    this.#relations = new Map(from?.relations);
  }

  get bounds(): ReadonlyMap<number, Range> {
    return this.#bounds;
  }
  get relations(): ReadonlyMap<string, number> {
    return this.#relations;
  }

  /**
   * Assumes that a condition is true (false when `isNegated`). Returns null when that is possible given what is known,
   * else the condition that contradicts it. The leaves of a conjunction come before its disjunctions, so that the
   * author's order does not matter.
   */
  assume(condition: Condition, isNegated = false): Condition | null {
    switch (condition.kind) {
      case 'not':
        return this.assume(condition.item, !isNegated);
      case 'all':
      case 'and':
        return isNegated ? this.#assumeAny(condition, condition.items, true) : this.#assumeAll(condition.items, false);
      case 'any':
      case 'or':
        return isNegated ? this.#assumeAll(condition.items, true) : this.#assumeAny(condition, condition.items, false);
      default:
        return this.#assumeLeaf(condition, isNegated) ? null : condition;
    }
  }

  #assumeAll(items: readonly Condition[], isNegated: boolean): Condition | null {
    const isJunction = ({ kind }: Condition): boolean => CONDITION_ROLES[kind] === 'logic';
    for (const item of [...items.filter((one) => !isJunction(one)), ...items.filter(isJunction)]) {
      const contradiction = this.assume(item, isNegated);
      if (contradiction !== null) return contradiction;
    }
    return null;
  }

  #assumeAny(whole: Condition, items: readonly Condition[], isNegated: boolean): Condition | null {
    const possible: InferredRanges[] = [];
    for (const item of items) {
      const branch = new InferredRanges(this.#ranges, this.#keyOf, this);
      if (branch.assume(item, isNegated) === null) possible.push(branch);
    }
    if (possible.length === 0) return whole;
    if (possible.length === 1) {
      for (const [key, bounds] of possible[0].bounds) this.#bounds.set(key, bounds);
      for (const [key, relation] of possible[0].relations) this.#relations.set(key, relation);
    }
    return null;
  }

  #assumeLeaf(leaf: Condition, isNegated: boolean): boolean {
    if (leaf.kind === 'between' && !isNegated) {
      const { lo } = this.#rangeOf(leaf.lower);
      const { hi } = this.#rangeOf(leaf.upper);
      return this.#narrow(leaf.value, range(lo, hi));
    }
    if (leaf.kind === 'near' && !isNegated) {
      const slack = this.#ranges.ofNumber(leaf.tolerance).hi;
      const { lo, hi } = this.#rangeOf(leaf.right);
      return this.#narrow(leaf.left, range(lo - slack, hi + slack));
    }
    if (leaf.kind === 'pattern') {
      const { side = 'any' } = leaf;
      return isNegated || side === 'any' || findPattern(leaf.name)!.sides.includes(side);
    }
    // A cross that did not happen says nothing about how the two values compare.
    const comparison = leaf.kind === 'compare' || !isNegated ? comparisonOf(leaf) : undefined;
    return comparison === undefined || this.#assumeComparison(comparison, isNegated);
  }

  #rangeOf(value: Value): Range {
    return intersect(this.#ranges.of(value), this.#bounds.get(this.#keyOf(value)) ?? EVERYTHING);
  }

  #narrow(value: Value, bounds: Range): boolean {
    const narrowed = intersect(this.#rangeOf(value), bounds);
    this.#bounds.set(this.#keyOf(value), narrowed);
    return !isEmpty(narrowed);
  }

  #assumeComparison({ left, right, relation }: Comparison, isNegated: boolean): boolean {
    const wanted = isNegated ? ANY_RELATION & ~relation : relation;
    const [a, b] = [this.#keyOf(left), this.#keyOf(right)];
    if (a === b) return (wanted & EQUAL) !== 0;
    const pair = a < b ? `${a} ${b}` : `${b} ${a}`;
    const possible = possibleRelations(left, right);
    const before = this.#relations.get(pair) ?? (a < b ? possible : flipped(possible));
    const known = before & (a < b ? wanted : flipped(wanted));
    this.#relations.set(pair, known);
    if (known === 0) return false;
    if (wanted === (LESS | GREATER)) {
      const [x, y] = [pointOf(this.#rangeOf(left)), pointOf(this.#rangeOf(right))];
      return x === undefined || x !== y;
    }
    const rightRange = this.#rangeOf(right);
    return (
      this.#narrow(left, allowed(wanted, rightRange)) &&
      this.#narrow(right, allowed(flipped(wanted), this.#rangeOf(left)))
    );
  }
}

/** Whether the ranges of its operands alone make a leaf true or false wherever the operands are known. */
export function constantTruth(leaf: Condition, ranges: Ranges, keyOf: KeyOf): 'always' | 'never' | undefined {
  if (leaf.kind === 'time_window') {
    return leaf.weekdays === undefined && leaf.between === undefined && leaf.dates === undefined ? 'always' : undefined;
  }
  if (new InferredRanges(ranges, keyOf).assume(leaf) !== null) return 'never';
  if (leaf.kind === 'compare')
    return new InferredRanges(ranges, keyOf).assume(leaf, true) !== null ? 'always' : undefined;
  if (leaf.kind !== 'between') return undefined;
  const { hi, isHiOpen } = ranges.of(leaf.lower);
  const { lo, isLoOpen } = ranges.of(leaf.upper);
  return hi <= lo && isWithin(ranges.of(leaf.value), range(hi, lo, isHiOpen, isLoOpen)) ? 'always' : undefined;
}

/** The bounds that a leaf sets on one value by a number; undefined when the leaf does not compare with a number. */
export function boundsOf(leaf: Condition, ranges: Ranges, keyOf: KeyOf): { key: number; bounds: Range } | undefined {
  if (leaf.kind === 'between') {
    const [lo, hi] = [pointOf(ranges.of(leaf.lower)), pointOf(ranges.of(leaf.upper))];
    return lo === undefined || hi === undefined ? undefined : { key: keyOf(leaf.value), bounds: range(lo, hi) };
  }
  if (leaf.kind !== 'compare') return undefined;
  const comparison = comparisonOf(leaf);
  if (comparison === undefined || comparison.relation === (LESS | GREATER)) return undefined;
  const { left, right, relation } = comparison;
  const [a, b] = [pointOf(ranges.of(left)), pointOf(ranges.of(right))];
  if (a === undefined && b !== undefined) return { key: keyOf(left), bounds: allowed(relation, range(b, b)) };
  if (b === undefined && a !== undefined) return { key: keyOf(right), bounds: allowed(flipped(relation), range(a, a)) };
  return undefined;
}
