// Condition statistics (semantics §6.1): how often each condition of a rule was true, on which bars, and what its two
// sides were. Results list them as `ruleStatsSummary.rules`.
import { KeptByRange } from '../bars/keptByRange.ts';
import { countBits, nextBit, popcount, trailingZeros } from '../kernels/bits.ts';
import type { ValueColumn } from '../kernels/column.ts';
import type { EvaluatedPlan } from '../evaluate/evaluatePlan.ts';
import type { ConditionNode, Slot } from '../plan/plan.ts';
import type { ConditionBits, Window } from './conditionBits.ts';

/** Five numbers of one side of a comparison over at most SAMPLED_ROWS rows of the window. */
export interface SideStats {
  readonly min: number | null;
  readonly max: number | null;
  readonly mean: number | null;
  readonly last: number | null;
  /** How many rows were sampled. */
  readonly sampled: number;
}

/** The statistics of one condition of a rule. */
export interface ConditionStats {
  readonly nodeId: string;
  readonly path: string;
  readonly role: ConditionNode['role'];
  readonly kind: string;
  readonly text: string;
  /** On how many bars it was evaluated. */
  readonly evaluated: number;
  readonly trueCount: number;
  readonly falseCount: number;
  readonly unknownCount: number;
  /** trueCount / evaluated. */
  readonly trueRate: number | null;
  /** Bar open time, ms. */
  readonly firstTrueAt: number | null;
  readonly lastTrueAt: number | null;
  /** Number of changes between true and not true inside the window. */
  readonly transitions: number;
  readonly maxStreakTrue: number;
  /**
   * Bars on which every other conjunct of the rule was true and only this one was false; null: it is not a conjunct.
   */
  readonly soleBlockerCount: number | null;
  readonly leftStats: SideStats | null;
  readonly rightStats: SideStats | null;
}

/** The most rows that statistics of values sample, evenly spaced. */
export const SAMPLED_ROWS = 4096;

/** The statistics of every condition over the rows of the window, in the order of `bits`. */
export function conditionStatistics(
  bits: readonly ConditionBits[],
  blockers: ReadonlyMap<ConditionBits, Uint32Array>,
  evaluated: EvaluatedPlan,
  window: Window,
): ConditionStats[] {
  // A cross up and a cross down have the same two sides.
  const sides = new Map<Slot, SideStats>();
  const sideOf = (slot: Slot | null): SideStats | null => {
    if (slot === null) return null;
    let known = sides.get(slot);
    if (known === undefined) {
      known =
        wholeSideStats(slot, evaluated, window) ??
        sideStats(slot, evaluated, sampledRows(evaluated.market.base.time, window));
      sides.set(slot, known);
    }
    return known;
  };
  return bits.map((condition) => {
    const { node, isTrue, isUnknown, evaluatedRows } = condition;
    const blocked = blockers.get(condition);
    const rows =
      evaluatedRows === null ? window.end - window.start : countBits(evaluatedRows, window.start, window.end);
    const trueCount = countBits(isTrue, window.start, window.end);
    const unknownCount = countBits(isUnknown, window.start, window.end);
    const { firstTrueAt, lastTrueAt, transitions, maxStreakTrue } = streaksOf(
      isTrue,
      window,
      evaluated.market.base.time,
    );
    return {
      nodeId: node.nodeId,
      path: node.path,
      role: node.role,
      kind: node.kind,
      text: node.text,
      evaluated: rows,
      trueCount,
      falseCount: rows - trueCount - unknownCount,
      unknownCount,
      trueRate: rows === 0 ? null : trueCount / rows,
      firstTrueAt,
      lastTrueAt,
      transitions,
      maxStreakTrue,
      soleBlockerCount: blocked === undefined ? null : countBits(blocked, window.start, window.end),
      leftStats: sideOf(node.left),
      rightStats: sideOf(node.right),
    };
  });
}

/** First and last true bar, changes and the longest streak, word by word. */
function streaksOf(
  isTrue: Uint32Array,
  { start, end }: Window,
  time: Float64Array,
): Pick<ConditionStats, 'firstTrueAt' | 'lastTrueAt' | 'transitions' | 'maxStreakTrue'> {
  const first = nextBit(isTrue, start, end);
  let transitions = 0;
  let neighbors = 0;
  let carry = 0;
  // The first row of the window has no row before it.
  let mask = -2 << (start & 31);
  const lastWord = (end - 1) >> 5;
  for (let w = start >>> 5; w <= lastWord; w++) {
    const word = isTrue[w];
    const before = (word << 1) | carry;
    if (w === lastWord) mask &= -1 >>> (31 - ((end - 1) & 31));
    transitions += popcount((word ^ before) & mask);
    neighbors |= word & before & mask;
    carry = word >>> 31;
    mask = -1;
  }
  if (first >= end) return { firstTrueAt: null, lastTrueAt: null, transitions, maxStreakTrue: 0 };
  return {
    firstTrueAt: time[first],
    lastTrueAt: time[lastBit(isTrue, end)],
    transitions,
    // No two neighboring rows are true, as in every cross.
    maxStreakTrue: neighbors === 0 ? 1 : longestStreak(isTrue, start, end),
  };
}

/** The last row before `end` that is true; there is one. */
function lastBit(isTrue: Uint32Array, end: number): number {
  let w = (end - 1) >>> 5;
  let word = isTrue[w] & (-1 >>> (31 - ((end - 1) & 31)));
  while (word === 0) word = isTrue[--w];
  return w * 32 + 31 - Math.clz32(word);
}

function longestStreak(isTrue: Uint32Array, start: number, end: number): number {
  let longest = 0;
  let streak = 0;
  for (let w = start >>> 5; w * 32 < end; w++) {
    let word = isTrue[w] | 0;
    if (w * 32 < start) word &= -1 << (start & 31);
    if (end - w * 32 < 32) word &= (1 << (end & 31)) - 1;
    if (word === 0) {
      streak = 0;
      continue;
    }
    if (word === -1) {
      streak += 32;
      longest = Math.max(longest, streak);
      continue;
    }
    // One run of ones after the other. A run that begins at bit 0 continues the streak of the word before.
    let bits = word;
    let passed = 0;
    while (bits !== 0) {
      const zeros = trailingZeros(bits);
      if (zeros > 0) streak = 0;
      bits >>>= zeros;
      const ones = trailingZeros(~bits);
      streak += ones;
      if (streak > longest) longest = streak;
      bits >>>= ones;
      passed += zeros + ones;
    }
    if (passed < 32) streak = 0;
  }
  return longest;
}

const keptRows = new KeptByRange<Float64Array, Int32Array>();

/**
 * Evenly spaced rows of the window, at most SAMPLED_ROWS, the first and the last included.
 * @param time the times of the bars; their runs over the same window share the rows
 */
const sampledRows = (time: Float64Array, { start, end }: Window): Int32Array =>
  keptRows.get(time, start, end, () => spacedRows(start, end));

function spacedRows(start: number, end: number): Int32Array {
  const rows = end - start;
  const sampled = new Int32Array(Math.min(rows, SAMPLED_ROWS));
  const step = sampled.length > 1 ? (rows - 1) / (sampled.length - 1) : 0;
  for (let index = 0; index < sampled.length; index++) sampled[index] = start + Math.floor(index * step);
  if (sampled.length > 0) sampled[sampled.length - 1] = end - 1;
  return sampled;
}

const SAMPLED_VALUES = new Float64Array(SAMPLED_ROWS);

function sideStats(slot: Slot, evaluated: EvaluatedPlan, rows: Int32Array): SideStats {
  const number = evaluated.numberAt(slot);
  if (number !== undefined) {
    const value = finiteOrNull(number);
    return { min: value, max: value, mean: value, last: value, sampled: 1 };
  }
  evaluated.readRows(slot, rows, SAMPLED_VALUES);
  return statsOf(SAMPLED_VALUES.subarray(0, rows.length));
}

/** The statistics of each column over its last window: the runs of a batch share columns. */
const keptStats = new WeakMap<ValueColumn, Window & { readonly stats: SideStats }>();

/** Statistics of a window that is short enough to sample every row; null: it is longer, or the side has no column. */
function wholeSideStats(slot: Slot, evaluated: EvaluatedPlan, { start, end }: Window): SideStats | null {
  const column = end - start <= SAMPLED_ROWS ? evaluated.columnAt(slot) : null;
  if (column === null) return null;
  const kept = keptStats.get(column);
  if (kept !== undefined && kept.start === start && kept.end === end) return kept.stats;
  const stats = statsOf(column.values.subarray(start, end));
  keptStats.set(column, { start, end, stats });
  return stats;
}

/** The statistics of the values of a window, or of a sample of it. */
function statsOf(values: Float64Array): SideStats {
  let count = 0;
  let min = Infinity;
  let max = -Infinity;
  let total = 0;
  for (let at = 0; at < values.length; at++) {
    const value = values[at];
    // NaN: missing.
    if (value !== value) continue;
    count++;
    total += value;
    if (value < min) min = value;
    if (value > max) max = value;
  }
  const known = count > 0;
  return {
    // Adding 0 turns -0 into 0.
    min: known ? min + 0 : null,
    max: known ? max + 0 : null,
    mean: known ? finiteOrNull(total / count) : null,
    last: values.length === 0 ? null : finiteOrNull(values[values.length - 1]),
    sampled: values.length,
  };
}

/** A constant that divides by zero is missing, and so is the mean of numbers whose sum overflows. */
export const finiteOrNull = (value: number): number | null => (Number.isFinite(value) ? value : null);
