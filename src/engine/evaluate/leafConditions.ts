// Leaf conditions over columns and numbers: the kernel that computes them, and the rows that are unknown.
import { type ConditionColumn, type ValueColumn } from '../kernels/column.ts';
import { NOTHING_UNKNOWN, leadingOnes, wordCount } from '../kernels/bits.ts';
import {
  compareBlocks,
  greaterThan,
  invert,
  lessThan,
  missingRows,
  trimUnknown,
  within,
  withinNumber,
} from '../kernels/compare.ts';
import { compareNumbers, type CompareOp } from '../kernels/compareNumbers.ts';
import { newKeptWords, newWords } from '../kernels/sharedBuffer.ts';
import { becomesTrue, delayBits, or, throughoutRows } from '../kernels/logic.ts';
import { MIRRORED_OPS } from '../definitions/words.ts';

type Side = ValueColumn | number;

/**
 * left op right on every row. With a tolerance, eq is true within it (|left - right| <= tolerance), gt and lt require a
 * larger difference, and gte and lte may be missed by at most the tolerance.
 */
export function compareColumns(
  op: CompareOp,
  left: Side,
  right: Side,
  tolerance: number,
  rows: number,
  out: Uint32Array,
): ConditionColumn {
  if (typeof left === 'number') {
    return typeof right === 'number'
      ? constantCondition(op, left, right, tolerance, rows, out)
      : compareColumns(MIRRORED_OPS[op], right, left, tolerance, rows, out);
  }
  switch (op) {
    case 'gte':
      return invert(compareColumns('lt', left, right, tolerance, rows, out), rows, out);
    case 'lte':
      return invert(compareColumns('gt', left, right, tolerance, rows, out), rows, out);
    case 'neq':
      return invert(compareColumns('eq', left, right, tolerance, rows, out), rows, out);
  }
  if (typeof right === 'number') {
    if (right !== right) return { isTrue: out.fill(0), isUnknown: leadingOnes(rows) };
    compareValues(op, left.values, right, tolerance, out);
    return { isTrue: out, isUnknown: missingRows([left]) };
  }
  compareValues(op, left.values, right.values, tolerance, out);
  return { isTrue: out, isUnknown: missingRows([left, right]) };
}

function compareValues(
  op: 'gt' | 'lt' | 'eq',
  left: Float64Array,
  right: Float64Array | number,
  tolerance: number,
  out: Uint32Array,
): void {
  switch (op) {
    case 'gt':
      return greaterThan(left, movedBy(right, tolerance), out);
    case 'lt':
      return lessThan(left, movedBy(right, -tolerance), out);
    case 'eq':
      return typeof right === 'number'
        ? withinNumber(left, right, tolerance, out)
        : within(left, right, tolerance, out);
  }
}

function movedBy(side: Float64Array | number, by: number): Float64Array | number {
  if (by === 0) return side;
  return typeof side === 'number' ? side + by : side.map((value) => value + by);
}

function constantCondition(
  op: CompareOp,
  left: number,
  right: number,
  tolerance: number,
  rows: number,
  out: Uint32Array,
): ConditionColumn {
  const truth = compareNumbers(op, left, right, tolerance);
  if (truth === 1) out.set(leadingOnes(rows));
  return { isTrue: out, isUnknown: truth === 2 ? leadingOnes(rows) : NOTHING_UNKNOWN };
}

/**
 * cross_up: left[t-1] <= right[t-1] and left[t] > right[t], combined by a Kleene and. The row before the first is
 * missing. One comparison serves both: where both sides are known, `left <= right` is `not left > right`.
 */
export function crossColumns(
  direction: CrossDirection,
  left: Side,
  right: Side,
  rows: number,
  out: Uint32Array,
): ConditionColumn {
  const compared = (op: 'gt' | 'lt'): ConditionColumn =>
    compareColumns(op, left, right, 0, rows, direction === 'any' ? newKeptWords(out.length) : out);
  return crossOf(
    direction,
    () => compared('gt'),
    () => compared('lt'),
    rows,
    out,
  );
}

/** The rows on which the left of two columns is greater, and those on which it is less. */
export interface ComparedSides {
  readonly greater: ConditionColumn;
  readonly less: ConditionColumn;
}

/** Both comparisons at once: valid until the run ends. */
export function compareSides(left: ValueColumn, right: ValueColumn, rows: number): ComparedSides {
  const greater = newWords(wordCount(rows));
  const less = newWords(wordCount(rows));
  compareBlocks(left.values, right.values, greater, less);
  const isUnknown = missingRows([left, right]);
  return { greater: { isTrue: greater, isUnknown }, less: { isTrue: less, isUnknown } };
}

type CrossDirection = 'up' | 'down' | 'any';

/** `crossColumns`, given the two comparisons; `out` may be one of their columns. */
export function crossOf(
  direction: CrossDirection,
  greater: () => ConditionColumn,
  less: () => ConditionColumn,
  rows: number,
  out: Uint32Array,
): ConditionColumn {
  if (direction !== 'any') return becomesTrue(direction === 'up' ? greater() : less(), rows, out);
  const both = [greater(), less()].map((column) => becomesTrue(column, rows, newKeptWords(out.length)));
  return or(both, out);
}

/** Strictly higher (or lower) than the row before, `bars` times in a row. */
export function movingColumn(
  direction: 'rising' | 'falling',
  source: ValueColumn,
  bars: number,
  rows: number,
  out: Uint32Array,
): ConditionColumn {
  const { values } = source;
  // The column is compared with itself moved by one: bit r of `moved` belongs to row r + 1.
  const moved = newKeptWords(wordCount(Math.max(0, rows - 1)));
  if (direction === 'rising') greaterThan(values.subarray(1), values.subarray(0, -1), moved);
  else greaterThan(values.subarray(0, -1), values.subarray(1), moved);
  out.set(delayBits(moved, 1, rows, 0));
  const missing = missingRows([source]);
  const before = delayBits(missing, 1, rows, 1);
  for (let w = 0; w < missing.length; w++) before[w] |= missing[w];
  const step: ConditionColumn = { isTrue: out, isUnknown: trimUnknown(before) };
  return bars === 1 ? step : throughoutRows(step, bars, rows);
}
