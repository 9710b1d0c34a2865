// Inferred ranges: what a true condition says about the values it reads, and whether several can be true at once.
import type { KnownValues } from '../../definitions/expressions/expressionDefinition.ts';
import { conditionKindIfAny, joinOf } from '../../definitions/expressions/expressionRegistry.ts';
import { EVERYTHING, intersect, isEmpty, pointOf, type Range } from '../../definitions/expressions/intervals.ts';
import type { Child, ConditionChild, ValueChild } from '../../definitions/expressions/places.ts';
import {
  allowed,
  ANY_RELATION,
  EQUAL,
  flipped,
  GREATER,
  LESS,
  type Comparison,
} from '../../definitions/expressions/relations.ts';
import { possibleRelations } from './priceOrder.ts';
import type { Ranges } from './ranges.ts';

export type KeyOf = (expression: Child) => number;

/** What is known about the values when several conditions are true at once. */
export class InferredRanges implements KnownValues {
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
  assume(condition: ConditionChild, isNegated = false): ConditionChild | null {
    // A value in the place of a condition, which was reported, says nothing.
    const { joins, infers = null } = conditionKindIfAny(condition) ?? {};
    if (joins === undefined) return infers === null || infers.assume(condition, isNegated, this) ? null : condition;
    const parts = joins.parts(condition);
    if (joins.by === 'not') return this.assume(parts[0], !isNegated);
    return (joins.by === 'all') === isNegated
      ? this.#assumeAny(condition, parts, isNegated)
      : this.assumeAll(parts, isNegated);
  }

  /** The same of several conditions. */
  assumeAll(items: readonly ConditionChild[], isNegated = false): ConditionChild | null {
    const isJunction = (item: ConditionChild): boolean => joinOf(item) !== undefined;
    for (const item of [...items.filter((one) => !isJunction(one)), ...items.filter(isJunction)]) {
      const contradiction = this.assume(item, isNegated);
      if (contradiction !== null) return contradiction;
    }
    return null;
  }

  #assumeAny(whole: ConditionChild, items: readonly ConditionChild[], isNegated: boolean): ConditionChild | null {
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

  ofNumber(number: unknown): Range {
    return this.#ranges.ofNumber(number);
  }

  of(value: ValueChild): Range {
    return intersect(this.#ranges.of(value), this.#bounds.get(this.#keyOf(value)) ?? EVERYTHING);
  }

  narrow(value: ValueChild, bounds: Range): boolean {
    const narrowed = intersect(this.of(value), bounds);
    this.#bounds.set(this.#keyOf(value), narrowed);
    return !isEmpty(narrowed);
  }

  compare({ left, right, relation }: Comparison, isNegated: boolean): boolean {
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
      const [x, y] = [pointOf(this.of(left)), pointOf(this.of(right))];
      return x === undefined || x !== y;
    }
    const rightRange = this.of(right);
    return (
      this.narrow(left, allowed(wanted, rightRange)) && this.narrow(right, allowed(flipped(wanted), this.of(left)))
    );
  }
}

/** Whether the ranges of its operands alone make a leaf true or false wherever the operands are known. */
export function constantTruth(leaf: ConditionChild, ranges: Ranges, keyOf: KeyOf): 'always' | 'never' | undefined {
  const infers = conditionKindIfAny(leaf)?.infers ?? null;
  if (infers === null) return undefined;
  const canBe = (isNegated: boolean): boolean => infers.assume(leaf, isNegated, new InferredRanges(ranges, keyOf));
  if (!canBe(false)) return 'never';
  return infers.isAlways(leaf, ranges, () => canBe(true)) ? 'always' : undefined;
}

/** The bounds that a leaf sets on one value by a number; undefined when the leaf does not compare with a number. */
export function boundsOf(
  leaf: ConditionChild,
  ranges: Ranges,
  keyOf: KeyOf,
): { key: number; bounds: Range } | undefined {
  const found = conditionKindIfAny(leaf)?.infers?.bounds(leaf, ranges);
  return found && { key: keyOf(found.value), bounds: found.bounds };
}
