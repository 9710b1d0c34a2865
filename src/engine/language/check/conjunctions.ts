// Conjunctions: what an entry or exit requires on one bar: contradictions, constant and redundant conditions.
import type { Condition, Entry, Exit, Expression, Param } from '../grammar/ast.ts';
import { conditionKindIfAny, joinOf } from '../../definitions/expressions/expressionRegistry.ts';
import { isWithin } from '../../definitions/expressions/intervals.ts';
import type { ConditionChild } from '../../definitions/expressions/places.ts';
import { ANY_RELATION } from '../../definitions/expressions/relations.ts';
import { boundsOf, InferredRanges, constantTruth, type KeyOf } from './inferredRanges.ts';
import type { IssueLog } from '../issues/issues.ts';
import type { PatchOperation } from '../issues/patch.ts';
import { isExtreme, possibleRelations } from './priceOrder.ts';
import { Ranges } from './ranges.ts';
import type { PointerOf } from './sectionChecks.ts';

interface ConjunctionContext {
  readonly log: IssueLog;
  readonly pointerOf: PointerOf;
  readonly keyOf: KeyOf;
  readonly isValid: (expression: Expression) => boolean;
  readonly params: readonly Param[];
}

/** Warns of conditions that can never be true, are always true, or add nothing. */
export class Conjunctions {
  readonly #context: ConjunctionContext;
  readonly #ranges: Ranges;
  /** Conditions already reported as contradictions. */
  readonly #contradictions = new Set<ConditionChild>();

  constructor(context: ConjunctionContext) {
    this.#context = context;
    this.#ranges = new Ranges(context.params);
  }

  checkEntry(entry: Entry): void {
    const conjuncts = [entry.setup, entry.trigger, ...(Array.isArray(entry.filters) ? entry.filters : [])];
    const valid = conjuncts.filter((one) => one !== undefined && this.#context.isValid(one)) as Condition[];
    const contradiction = this.#contradiction(valid);
    if (contradiction !== null) {
      this.#contradictions.add(contradiction);
      const isAlone = isImpossible(contradiction, this.#ranges, this.#context.keyOf);
      this.#warn(
        'CONTRADICTION',
        contradiction,
        isAlone
          ? 'This can never be true, so the entry never trades.'
          : 'This can never be true together with the other conditions of the entry, so the entry never trades.',
        this.#adviceOn(contradiction) ?? { suggestion: 'Loosen or remove one of the conditions.' },
      );
    }
    this.#checkConjuncts(valid);
  }

  checkExit(exit: Exit): void {
    if (exit.when === undefined || !this.#context.isValid(exit.when)) return;
    const contradiction = this.#contradiction([exit.when]);
    if (contradiction !== null && !isLeaf(contradiction)) {
      this.#warn('CONSTANT_CONDITION', contradiction, 'This exit can never be true.', {
        suggestion: 'Loosen or remove one of its conditions.',
      });
    }
    this.#checkConjuncts([exit.when]);
  }

  /** Reports a condition that is the same on every bar, and alternatives that add nothing, wherever they stand. */
  checkCondition(condition: Condition): void {
    if (isLeaf(condition)) this.#checkConstant(condition);
    const joins = conditionKindIfAny(condition)?.joins;
    if (joins?.by === 'any') this.#checkAlternatives(joins.parts(condition));
  }

  #checkConstant(leaf: Condition): void {
    const { keyOf } = this.#context;
    const sides = conditionKindIfAny(leaf)?.sides?.of(leaf);
    const isSelf = sides !== undefined && keyOf(sides.left) === keyOf(sides.right);
    if (isSelf || this.#contradictions.has(leaf)) return;
    const constant = constantTruth(leaf, this.#ranges, keyOf);
    if (constant === 'always')
      this.#warn('CONSTANT_CONDITION', leaf, 'This is true on every bar.', { suggestion: 'Remove it.' });
    if (constant === 'never') {
      const bounds = { suggestion: 'Check the bounds: no value of the operands can meet them.' };
      this.#warn('CONSTANT_CONDITION', leaf, 'This is never true.', this.#adviceOn(leaf) ?? bounds);
    }
  }

  /** The condition that makes all of these impossible together; null when they are possible. */
  #contradiction(conjuncts: readonly ConditionChild[]): ConditionChild | null {
    if (conjuncts.length === 0) return null;
    return new InferredRanges(this.#ranges, this.#context.keyOf).assumeAll(conjuncts);
  }

  /** Everything that must be true on the same bar, out of nested lists. */
  #flattened(conditions: readonly ConditionChild[]): ConditionChild[] {
    return conditions.flatMap((one) => {
      const joins = conditionKindIfAny(one)?.joins;
      return joins?.by === 'all' ? this.#flattened(joins.parts(one)) : [one];
    });
  }

  /** Warns of what the conditions of one bar repeat or imply, and of two crosses among them. */
  #checkConjuncts(conditions: readonly ConditionChild[]): void {
    const conjuncts = this.#flattened(conditions);
    this.#checkDuplicates(conjuncts);
    this.#checkImplied(conjuncts, 'narrower');
    const { keyOf } = this.#context;
    const crosses = conjuncts.filter((one) => conditionKindIfAny(one)?.isEvent?.(one) === true);
    const second = crosses.find((one) => keyOf(one) !== keyOf(crosses[0]));
    if (second !== undefined) {
      this.#warn('SIMULTANEOUS_CROSSES', second, 'Two crosses have to happen on the same bar, which is rare.', {
        suggestion: 'Give one of them `within`, or replace one by a comparison.',
      });
    }
  }

  /** Warns of alternatives that add nothing or are never true. */
  #checkAlternatives(items: readonly ConditionChild[]): void {
    this.#checkDuplicates(items);
    this.#checkImplied(items, 'wider');
    for (const item of items) {
      if (joinOf(item) !== 'all') continue;
      const contradiction = this.#contradiction([item]);
      if (contradiction !== null && !isImpossible(contradiction, this.#ranges, this.#context.keyOf)) {
        this.#warn('CONSTANT_CONDITION', item, 'This alternative is never true.', {
          suggestion: 'Loosen or remove one of its conditions.',
        });
      }
    }
  }

  #checkDuplicates(items: readonly ConditionChild[]): void {
    const seen = new Set<number>();
    for (const item of items) {
      const key = this.#context.keyOf(item);
      if (seen.has(key))
        this.#warn('REDUNDANT_CONDITION', item, 'The same condition is in this list already.', {
          suggestion: 'Remove it.',
        });
      seen.add(key);
    }
  }

  /**
   * Of two bounds on one value, the wider adds nothing in a conjunction, and the narrower adds nothing among
   * alternatives.
   */
  #checkImplied(items: readonly ConditionChild[], kept: 'narrower' | 'wider'): void {
    const { keyOf } = this.#context;
    const bounded = items.flatMap((item) => {
      const found = boundsOf(item, this.#ranges, keyOf);
      return found === undefined ? [] : [{ item, ...found }];
    });
    for (const { item, key, bounds } of bounded) {
      const isImplied = bounded.some((other) => {
        if (other.item === item || other.key !== key || keyOf(other.item) === keyOf(item)) return false;
        const [inner, outer] = kept === 'narrower' ? [other.bounds, bounds] : [bounds, other.bounds];
        return isWithin(inner, outer) && !isWithin(outer, inner);
      });
      if (isImplied)
        this.#warn('REDUNDANT_CONDITION', item, 'Another condition on the same value makes this one redundant.', {
          suggestion: 'Remove it.',
        });
    }
  }

  #warn(
    code: 'CONTRADICTION' | 'CONSTANT_CONDITION' | 'REDUNDANT_CONDITION' | 'SIMULTANEOUS_CROSSES',
    at: ConditionChild,
    message: string,
    advice: Advice,
  ): void {
    const { log, pointerOf } = this.#context;
    log.add(code, pointerOf(at), { message, ...advice });
  }

  /** What helps where a comparison or cross can never be true because of what it compares; undefined elsewhere. */
  #adviceOn(leaf: ConditionChild): Advice | undefined {
    const { keyOf, pointerOf } = this.#context;
    const kind = conditionKindIfAny(leaf);
    const sides = kind?.comparesOrder === true ? kind.sides?.of(leaf) : undefined;
    if (sides === undefined) return undefined;
    const { left, right } = sides;
    if (keyOf(left) === keyOf(right))
      return { suggestion: 'Both sides are the same value: compare with something else.' };
    if (possibleRelations(left, right) === ANY_RELATION) return undefined;
    const suggestion = 'One side is an extreme that includes the other on the same bar: give the extreme "offset": 1.';
    // Of the bars before this one, it can be exceeded, which is what every author of such a condition means.
    const [extreme, ...others] = [left, right].filter((side) => isExtreme(side));
    const patch = [{ op: 'add', path: pointerOf(extreme ?? leaf, 'offset'), value: 1 } as const];
    return extreme === undefined || others.length > 0 ? { suggestion } : { suggestion, patch };
  }
}

interface Advice {
  readonly suggestion: string;
  readonly patch?: readonly PatchOperation[];
}

/** Whether a leaf is never true by itself, which is reported at the leaf. */
const isImpossible = (leaf: ConditionChild, ranges: Ranges, keyOf: KeyOf): boolean =>
  isLeaf(leaf) && constantTruth(leaf, ranges, keyOf) === 'never';

/** Conditions that do not join others on the same bar. */
const isLeaf = (condition: ConditionChild): boolean => joinOf(condition) === undefined;
