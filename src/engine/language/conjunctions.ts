// Conjunctions: what an entry or exit asks for all at once: contradictions, leaves that never change, leaves that add nothing.
import type { Condition, Entry, Exit, Expression, Param } from './ast.ts';
import { boundsOf, Facts, verdictOf, type KeyOf } from './facts.ts';
import type { IssueLog } from './issues.ts';
import { isWithin, Ranges } from './ranges.ts';
import type { PointerOf } from './rules.ts';

export interface ConjunctionContext {
  readonly log: IssueLog;
  readonly pointerOf: PointerOf;
  readonly keyOf: KeyOf;
  readonly isSound: (expression: Expression) => boolean;
  readonly params: readonly Param[];
}

/** Warns of what cannot be, or need not be, in the conditions of sound rules. */
export class Conjunctions {
  readonly #context: ConjunctionContext;
  readonly #ranges: Ranges;
  /** Leaves already said to make an entry impossible. */
  readonly #blamed = new Set<Condition>();

  constructor(context: ConjunctionContext) {
    this.#context = context;
    this.#ranges = new Ranges(context.params);
  }

  checkEntry(entry: Entry): void {
    const conjuncts = [entry.setup, entry.trigger, ...(Array.isArray(entry.filters) ? entry.filters : [])];
    const sound = conjuncts.filter((one) => one !== undefined && this.#context.isSound(one)) as Condition[];
    const culprit = this.#culprit(sound);
    if (culprit !== null) {
      this.#blamed.add(culprit);
      this.#warn(
        'CONTRADICTION',
        culprit,
        'this can never be true together with the rest: the entry never trades',
        'loosen one of the conditions',
      );
    }
    this.#checkGroup(sound);
  }

  checkExit(exit: Exit): void {
    if (exit.when === undefined || !this.#context.isSound(exit.when)) return;
    const culprit = this.#culprit([exit.when]);
    if (culprit !== null && !isLeaf(culprit)) {
      this.#warn('CONSTANT_CONDITION', culprit, 'this exit can never be true', 'loosen one of its conditions');
    }
    this.#checkGroup([exit.when]);
  }

  /** Leaves that are the same on every bar, and lists that name a condition twice, wherever they stand. */
  checkLeaf(condition: Condition): void {
    const { keyOf } = this.#context;
    const isSelf =
      (condition.kind === 'compare' || condition.kind === 'cross' || condition.kind === 'near') &&
      keyOf(condition.left) === keyOf(condition.right);
    const isSaid = isSelf || !isLeaf(condition) || this.#blamed.has(condition);
    const verdict = isSaid ? undefined : verdictOf(condition, this.#ranges, keyOf);
    if (verdict !== undefined) {
      const message = verdict === 'always' ? 'this is true on every bar' : 'this is true on no bar';
      this.#warn(
        'CONSTANT_CONDITION',
        condition,
        message,
        verdict === 'always' ? 'remove it' : 'check the bounds of its operands',
      );
    }
    if (condition.kind === 'any' || condition.kind === 'or') this.#checkAlternatives(condition.items);
  }

  #culprit(conjuncts: readonly Condition[]): Condition | null {
    if (conjuncts.length === 0) return null;
    const all: Condition = { kind: 'all', items: [...conjuncts] };
    const culprit = new Facts(this.#ranges, this.#context.keyOf).add(all);
    return culprit === all ? conjuncts[0] : culprit;
  }

  /** Everything that must hold at once, through nested lists. */
  #flat(conditions: readonly Condition[]): Condition[] {
    return conditions.flatMap((one) => (one.kind === 'all' || one.kind === 'and' ? this.#flat(one.items) : [one]));
  }

  #checkGroup(conditions: readonly Condition[]): void {
    const conjuncts = this.#flat(conditions);
    this.#checkDuplicates(conjuncts);
    this.#checkImplied(conjuncts, 'narrower');
    const { keyOf } = this.#context;
    const crosses = conjuncts.filter((one) => one.kind === 'cross' && (one.within ?? 1) === 1);
    const second = crosses.find((one) => keyOf(one) !== keyOf(crosses[0]));
    if (second !== undefined) {
      this.#warn(
        'SIMULTANEOUS_CROSSES',
        second,
        'two crosses must happen on the same bar, which is rare',
        'give one a `within`, or compare instead',
      );
    }
  }

  #checkAlternatives(items: readonly Condition[]): void {
    this.#checkDuplicates(items);
    this.#checkImplied(items, 'wider');
    for (const item of items) {
      if (item.kind !== 'all' && item.kind !== 'and') continue;
      const culprit = this.#culprit([item]);
      if (culprit !== null && !isImpossible(culprit, this.#ranges, this.#context.keyOf)) {
        this.#warn('CONSTANT_CONDITION', item, 'this alternative is true on no bar', 'loosen one of its conditions');
      }
    }
  }

  #checkDuplicates(items: readonly Condition[]): void {
    const seen = new Set<number>();
    for (const item of items) {
      const key = this.#context.keyOf(item);
      if (seen.has(key)) this.#warn('REDUNDANT_CONDITION', item, 'this condition is there already', 'remove it');
      seen.add(key);
    }
  }

  /** Of bounds on one value, in a conjunction the wider adds nothing, among alternatives the narrower. */
  #checkImplied(items: readonly Condition[], kept: 'narrower' | 'wider'): void {
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
        this.#warn('REDUNDANT_CONDITION', item, 'another condition on the same value decides this one', 'remove it');
    }
  }

  #warn(
    code: 'CONTRADICTION' | 'CONSTANT_CONDITION' | 'REDUNDANT_CONDITION' | 'SIMULTANEOUS_CROSSES',
    at: Condition,
    message: string,
    suggestion: string,
  ): void {
    const { log, pointerOf } = this.#context;
    log.add(code, pointerOf(at), { message, suggestion });
  }
}

/** Whether a leaf is false by itself, and so has been told already. */
const isImpossible = (leaf: Condition, ranges: Ranges, keyOf: KeyOf): boolean =>
  isLeaf(leaf) && verdictOf(leaf, ranges, keyOf) === 'never';

/** Conditions that are no combination of others. */
function isLeaf({ kind }: Condition): boolean {
  return !['all', 'and', 'any', 'or', 'not'].includes(kind);
}
