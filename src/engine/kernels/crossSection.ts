// Cross sections: one number at an instant from the values of all members there, or a place among them.
import { upperBound } from './search.ts';

export const CROSS_SECTION_OPS = [
  'rank',
  'percentile',
  'zscore',
  'mean',
  'median',
  'min',
  'max',
  'count',
  'share',
] as const;
export type CrossSectionOp = (typeof CROSS_SECTION_OPS)[number];

/**
 * Writes the answers of `op` for `count` members: one per member for `rank`, `percentile` and `zscore`, else the same
 * for all. Without as many members as `minCount` they are NaN.
 * @param values those of the members, in the order of the list; of a condition, 1 for true and 0 for false
 * @param bySymbol the members in the order of symbols, in which sums run
 * @param sorted scratch of at least `count` values
 */
export function crossSection(
  op: CrossSectionOp,
  minCount: number,
  count: number,
  values: Float64Array,
  bySymbol: Int32Array,
  sorted: Float64Array,
  out: Float64Array,
): void {
  if (count < minCount || count === 0) {
    out.fill(NaN, 0, count);
    return;
  }
  switch (op) {
    case 'rank':
      ranks(count, values, ascending(count, values, sorted), out);
      return;
    case 'percentile':
      percentiles(count, values, ascending(count, values, sorted), out);
      return;
    case 'zscore':
      zscores(count, values, bySymbol, out);
      return;
    case 'mean':
      out.fill(sumOf(count, values, bySymbol) / count, 0, count);
      return;
    case 'median': {
      const whole = ascending(count, values, sorted);
      const middle = count >> 1;
      out.fill(count % 2 === 1 ? whole[middle] : (whole[middle - 1] + whole[middle]) / 2, 0, count);
      return;
    }
    case 'min':
      out.fill(extreme(Math.min, count, values), 0, count);
      return;
    case 'max':
      out.fill(extreme(Math.max, count, values), 0, count);
      return;
    case 'count':
      out.fill(sumOf(count, values, bySymbol), 0, count);
      return;
    case 'share':
      out.fill((100 * sumOf(count, values, bySymbol)) / count, 0, count);
  }
}

function ascending(count: number, values: Float64Array, sorted: Float64Array): Float64Array {
  const whole = sorted.subarray(0, count);
  whole.set(values.subarray(0, count));
  return whole.sort();
}

function extreme(choose: (a: number, b: number) => number, count: number, values: Float64Array): number {
  let [found] = values;
  for (let at = 1; at < count; at++) found = choose(found, values[at]);
  return found;
}

function sumOf(count: number, values: Float64Array, bySymbol: Int32Array): number {
  let sum = 0;
  for (let at = 0; at < count; at++) sum += values[bySymbol[at]];
  return sum;
}

/** 1 for the largest; of equal ones the earlier in the list comes first. */
function ranks(count: number, values: Float64Array, sorted: Float64Array, out: Float64Array): void {
  /** By the first place of a value that several members have: how many of them have their rank; null: there is none. */
  let ranked: Int32Array | null = null;
  for (let member = 0; member < count; member++) {
    const first = countLess(sorted, values[member]);
    const notGreater = countNotGreater(sorted, first);
    out[member] = count - notGreater + 1;
    if (notGreater === first + 1) continue;
    ranked ??= new Int32Array(count);
    out[member] += ranked[first]++;
  }
}

/** 100·(rank − 0.5)/n in ascending order; equal values have the mean of their ranks. */
function percentiles(count: number, values: Float64Array, sorted: Float64Array, out: Float64Array): void {
  for (let member = 0; member < count; member++) {
    const less = countLess(sorted, values[member]);
    const notGreater = countNotGreater(sorted, less);
    const rank = (less + 1 + notGreater) / 2;
    out[member] = (100 * (rank - 0.5)) / count;
  }
}

/** Distances from the mean in standard deviations of n − 1; 0 where all are equal. */
function zscores(count: number, values: Float64Array, bySymbol: Int32Array, out: Float64Array): void {
  const mean = sumOf(count, values, bySymbol) / count;
  let squares = 0;
  for (let at = 0; at < count; at++) squares += (values[bySymbol[at]] - mean) ** 2;
  const deviation = Math.sqrt(squares / (count - 1));
  for (let member = 0; member < count; member++) out[member] = deviation > 0 ? (values[member] - mean) / deviation : 0;
}

/**
 * How many of the ascending values are less. Which half is next is added as a number: a branch would be mispredicted
 * every other time, and half of a cross section is these searches.
 */
function countLess(sorted: Float64Array, value: number): number {
  let from = 0;
  let left = sorted.length;
  while (left > 1) {
    const half = left >>> 1;
    from += half * +(sorted[from + half - 1] < value);
    left -= half;
  }
  return from + +(sorted[from] < value);
}

/** How many of the ascending values are not greater than the one at `first`, before which all are less. */
function countNotGreater(sorted: Float64Array, first: number): number {
  const value = sorted[first];
  if (!(sorted[first + 1] <= value)) return first + 1;
  return upperBound(sorted, value);
}
