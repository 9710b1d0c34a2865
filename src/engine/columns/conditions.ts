// Leaf conditions over columns and numbers: which kernel writes the words, and which rows are unknown.
import { NOTHING_UNKNOWN, leadingOnes, type ConditionColumn, type ValueColumn } from './column.ts';
import {
  greaterOrEqual, greaterOrEqualNumber, greaterThan, greaterThanNumber, invert, lessOrEqualNumber, lessThanNumber, missingRows, within, withinNumber,
} from './kernels/compare.ts'; // prettier-ignore
import { and, delay, delayBits, or, throughoutRows } from './kernels/logic.ts';
import { trimUnknown } from './kernels/compare.ts';

export type Side = ValueColumn | number;
type CompareOp = 'gt' | 'gte' | 'lt' | 'lte' | 'eq' | 'neq';

const MIRRORED: Readonly<Record<CompareOp, CompareOp>> = {
  gt: 'lt',
  gte: 'lte',
  lt: 'gt',
  lte: 'gte',
  eq: 'eq',
  neq: 'neq',
};

/**
 * left op right on every row. With a tolerance, eq holds within it (|left - right| <= tolerance), gt and lt need more than it, gte and
 * lte allow for it.
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
      : compareColumns(MIRRORED[op], right, left, tolerance, rows, out);
  }
  if (op === 'neq') {
    const equal = compareColumns('eq', left, right, tolerance, rows, new Uint32Array(out.length));
    return invert(equal, rows, out);
  }
  if (typeof right === 'number') {
    if (right !== right) return { isTrue: out.fill(0), isUnknown: leadingOnes(rows) };
    compareNumber(op, left.values, right, tolerance, out);
    return { isTrue: out, isUnknown: missingRows([left]) };
  }
  comparePair(op, left.values, right.values, tolerance, out);
  return { isTrue: out, isUnknown: missingRows([left, right]) };
}

function compareNumber(
  op: Exclude<CompareOp, 'neq'>,
  values: Float64Array,
  number: number,
  tolerance: number,
  out: Uint32Array,
): void {
  switch (op) {
    case 'gt':
      return greaterThanNumber(values, number + tolerance, out);
    case 'gte':
      return greaterOrEqualNumber(values, number - tolerance, out);
    case 'lt':
      return lessThanNumber(values, number - tolerance, out);
    case 'lte':
      return lessOrEqualNumber(values, number + tolerance, out);
    case 'eq':
      return withinNumber(values, number, tolerance, out);
  }
}

function comparePair(
  op: Exclude<CompareOp, 'neq'>,
  a: Float64Array,
  b: Float64Array,
  tolerance: number,
  out: Uint32Array,
): void {
  const moved = (values: Float64Array, by: number): Float64Array =>
    by === 0 ? values : values.map((value) => value + by);
  switch (op) {
    case 'gt':
      return greaterThan(a, moved(b, tolerance), out);
    case 'gte':
      return greaterOrEqual(a, moved(b, -tolerance), out);
    case 'lt':
      return greaterThan(moved(b, -tolerance), a, out);
    case 'lte':
      return greaterOrEqual(moved(b, tolerance), a, out);
    case 'eq':
      return within(a, b, tolerance, out);
  }
}

/** The truth of one comparison of two numbers; 2: unknown. */
export function compareNumbers(op: CompareOp, left: number, right: number, tolerance: number): 0 | 1 | 2 {
  if (left !== left || right !== right) return 2;
  switch (op) {
    case 'gt':
      return left > right + tolerance ? 1 : 0;
    case 'gte':
      return left >= right - tolerance ? 1 : 0;
    case 'lt':
      return left < right - tolerance ? 1 : 0;
    case 'lte':
      return left <= right + tolerance ? 1 : 0;
    case 'eq':
      return Math.abs(left - right) <= tolerance ? 1 : 0;
    case 'neq':
      return Math.abs(left - right) > tolerance ? 1 : 0;
  }
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
 * cross_up: left[t-1] <= right[t-1] and left[t] > right[t], a Kleene and of the two comparisons; the row before the first is missing.
 */
export function crossColumns(
  direction: 'up' | 'down' | 'any',
  left: Side,
  right: Side,
  rows: number,
  out: Uint32Array,
): ConditionColumn {
  if (direction === 'any') {
    const up = crossColumns('up', left, right, rows, new Uint32Array(out.length));
    return or([up, crossColumns('down', left, right, rows, new Uint32Array(out.length))], out);
  }
  const isUp = direction === 'up';
  const after = compareColumns(isUp ? 'gt' : 'lt', left, right, 0, rows, new Uint32Array(out.length));
  const before = compareColumns(isUp ? 'lte' : 'gte', left, right, 0, rows, out);
  return and([delay(before, 1, rows), after], new Uint32Array(out.length));
}

/** Strictly higher (lower) than the row before, `bars` rows in a row. */
export function movingColumn(
  direction: 'rising' | 'falling',
  source: ValueColumn,
  bars: number,
  rows: number,
  out: Uint32Array,
): ConditionColumn {
  const { values } = source;
  const sign = direction === 'rising' ? 1 : -1;
  for (let row = 1; row < rows; row++)
    out[row >>> 5] |= (sign * values[row] > sign * values[row - 1] ? 1 : 0) << (row & 31);
  const missing = missingRows([source]);
  const before = delayBits(missing, 1, rows, 1);
  for (let w = 0; w < missing.length; w++) before[w] |= missing[w];
  const step: ConditionColumn = { isTrue: out, isUnknown: trimUnknown(before) };
  return bars === 1 ? step : throughoutRows(step, bars, rows);
}
