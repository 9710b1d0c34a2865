// Bits of conditions: on which rows each was true or unknown, and on which it alone kept its rule from being true.
import { joinOf } from '../definitions/expressions/expressionRegistry.ts';
import { newWords } from '../kernels/sharedBuffer.ts';
import { countBits, wordCount } from '../kernels/bits.ts';
import type { EvaluatedPlan } from '../evaluate/evaluatePlan.ts';
import type { RecordedCondition } from '../evaluate/stateful.ts';
import type { ConditionNode } from '../plan/plan.ts';

/** The rows of the evaluated window, [start, end). */
export interface Window {
  readonly start: number;
  readonly end: number;
}

/** Bits of one condition node, one per row. */
export interface ConditionBits {
  readonly node: ConditionNode;
  readonly isTrue: Uint32Array;
  readonly isUnknown: Uint32Array;
  /** The rows on which it was evaluated; null: all of the window. */
  readonly evaluatedRows: Uint32Array | null;
}

/** The most leaves of one conjunction whose pairs are all examined. */
export const PAIRED_LEAVES = 32;

/** The bits of every condition node of the rules. */
export function conditionBits(
  nodes: readonly ConditionNode[],
  evaluated: EvaluatedPlan,
  recorded: ReadonlyMap<object, RecordedCondition>,
): ConditionBits[] {
  let nothing: Uint32Array | null = null;
  return nodes.map((node) => {
    // Every member is named: a spread takes ten times as long.
    if (node.slot !== null) {
      const { isTrue, isUnknown } = evaluated.condition(node.slot);
      return { node, isTrue, isUnknown, evaluatedRows: null };
    }
    const kept = recorded.get(node.expression);
    if (kept !== undefined) {
      const { isTrue, isUnknown, evaluatedRows } = kept;
      return { node, isTrue, isUnknown, evaluatedRows };
    }
    nothing ??= new Uint32Array(wordCount(evaluated.market.base.length));
    return { node, isTrue: nothing, isUnknown: nothing, evaluatedRows: nothing };
  });
}

/** Whether a node is a leaf conjunct: the rule needs it to be true, and it is not itself an `all`. */
const isLeafConjunct = ({ node }: ConditionBits): boolean => node.isConjunct && joinOf(node) !== 'all';

/** The leaf conjuncts of one entry or exit. */
export const conjunctsOf = (bits: readonly ConditionBits[], kind: 'entry' | 'exit', index: number): ConditionBits[] =>
  bits.filter(
    (condition) =>
      condition.node.ruleIndex === index &&
      (condition.node.role === 'exit') === (kind === 'exit') &&
      isLeafConjunct(condition),
  );

/** For each conjunct of every entry and exit, the rows on which it alone was false. */
export function soleBlockers(bits: readonly ConditionBits[], window: Window): ReadonlyMap<ConditionBits, Uint32Array> {
  const found = new Map<ConditionBits, Uint32Array>();
  for (const conjuncts of conjunctsByRule(bits)) {
    const rows = soleBlockerRows(conjuncts, window);
    for (let index = 0; index < conjuncts.length; index++) found.set(conjuncts[index], rows[index]);
  }
  return found;
}

/** The conjuncts of each entry and exit, in one pass over all nodes. */
function conjunctsByRule(bits: readonly ConditionBits[]): readonly ConditionBits[][] {
  const entries: ConditionBits[][] = [];
  const exits: ConditionBits[][] = [];
  for (const condition of bits) {
    if (!isLeafConjunct(condition)) continue;
    const { role, ruleIndex } = condition.node;
    ((role === 'exit' ? exits : entries)[ruleIndex] ??= []).push(condition);
  }
  return [...entries, ...exits].filter((conjuncts) => conjuncts !== undefined);
}

/**
 * For each conjunct, the rows on which it is false and all others are true, computed by prefix and suffix conjunctions.
 */
function soleBlockerRows(conjuncts: readonly ConditionBits[], window: Window): Uint32Array[] {
  const words = wordCount(window.end);
  // For each conjunct but the last, the conjunction of those after it.
  const suffixes = conjuncts.slice(1).map(({ isTrue }) => firstWords(isTrue, words));
  for (let c = suffixes.length - 2; c >= 0; c--) intersect(suffixes[c], suffixes[c + 1]);
  let prefix: Uint32Array | null = null;
  return conjuncts.map((conjunct, c) => {
    const rows = falseRows(conjunct, words);
    if (prefix !== null) intersect(rows, prefix);
    if (c === suffixes.length) return rows;
    intersect(rows, suffixes[c]);
    if (prefix === null) prefix = firstWords(conjunct.isTrue, words);
    else intersect(prefix, conjunct.isTrue);
    return rows;
  });
}

function falseRows({ isTrue, isUnknown, evaluatedRows }: ConditionBits, words: number): Uint32Array {
  const rows = newWords(words);
  const unknownWords = Math.min(words, isUnknown.length);
  for (let w = 0; w < unknownWords; w++) rows[w] = ~(isTrue[w] | isUnknown[w]);
  for (let w = unknownWords; w < words; w++) rows[w] = ~isTrue[w];
  if (evaluatedRows !== null) intersect(rows, evaluatedRows);
  return rows;
}

function firstWords(words: Uint32Array, count: number): Uint32Array {
  const first = newWords(count);
  for (let w = 0; w < count; w++) first[w] = words[w];
  return first;
}

function intersect(words: Uint32Array, others: Uint32Array): void {
  for (let w = 0; w < words.length; w++) words[w] &= others[w];
}

/** Pairs of conjuncts of one rule that were each true at some time but never together. */
export type NeverTogether = (conjuncts: readonly ConditionBits[]) => [ConditionBits, ConditionBits][];

/** Pairs of conjuncts of one rule that are each true at some time but never together. */
export function neverTogether(conjuncts: readonly ConditionBits[], window: Window): [ConditionBits, ConditionBits][] {
  const leaves = conjuncts
    .filter(({ evaluatedRows, isTrue }) => evaluatedRows === null && countBits(isTrue, window.start, window.end) > 0)
    .slice(0, PAIRED_LEAVES);
  const pairs: [ConditionBits, ConditionBits][] = [];
  for (const [index, a] of leaves.entries()) {
    for (const b of leaves.slice(index + 1)) if (!meet(a.isTrue, b.isTrue, window)) pairs.push([a, b]);
  }
  return pairs;
}

/** Whether both are true on any row of the window. */
export function meet(a: Uint32Array, b: Uint32Array, window: Window): boolean {
  const first = window.start >>> 5;
  const last = (window.end - 1) >>> 5;
  for (let w = first; w <= last; w++) {
    let word = a[w] & b[w];
    if (w === first) word &= -1 << (window.start & 31);
    if (w === last && (window.end & 31) !== 0) word &= (1 << (window.end & 31)) - 1;
    if (word !== 0) return true;
  }
  return false;
}
