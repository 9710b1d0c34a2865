// Rolling windows over dense columns: the `rolling` operations that no indicator has (sums, extremes, ranks and scores are the indicators' own).
import { rollingMaxIndex, rollingMinIndex } from '../../indicators/extremes.ts';
import type { RollingValue } from '../../language/ast.ts';

/** Values that a rolling operation reads, the current one included: percentile_rank ranks it among `period` others, as the indicator does. */
export const windowOf = (op: RollingValue['op'], period: number): number =>
  op === 'percentile_rank' ? period + 1 : period;

/** How many rows ago the highest (lowest) of the last `period` values was, the latest of equals. */
export function rollingRowsAgo(values: Float64Array, period: number, of: 'max' | 'min', out: Float64Array): void {
  if (of === 'max') rollingMaxIndex(values, 0, period, out);
  else rollingMinIndex(values, 0, period, out);
  for (let row = period - 1; row < out.length; row++) out[row] = row - out[row];
}

/** Rows of the window kept in ascending order by insertion: O(period) a row, cheap for the periods people use. */
class SortedWindow {
  readonly sorted: Float64Array;
  length = 0;
  constructor(period: number) {
    this.sorted = new Float64Array(period);
  }
  /** The first index whose value is not below `value`. */
  lowerBound(value: number): number {
    let low = 0;
    let high = this.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.sorted[middle] < value) low = middle + 1;
      else high = middle;
    }
    return low;
  }
  insert(value: number): void {
    const index = this.lowerBound(value);
    this.sorted.copyWithin(index + 1, index, this.length);
    this.sorted[index] = value;
    this.length++;
  }
  remove(value: number): void {
    const index = this.lowerBound(value);
    this.sorted.copyWithin(index, index + 1, this.length);
    this.length--;
  }
}

/** The `fraction` quantile of the last `period` values, linear between neighbours (numpy's default, Hyndman and Fan 1996 type 7). */
export function rollingQuantile(values: Float64Array, period: number, fraction: number, out: Float64Array): void {
  const window = new SortedWindow(period);
  const rank = fraction * (period - 1);
  const below = Math.floor(rank);
  const above = Math.min(below + 1, period - 1);
  for (let row = 0; row < values.length; row++) {
    if (row >= period) window.remove(values[row - period]);
    window.insert(values[row]);
    if (row < period - 1) continue;
    const low = window.sorted[below];
    out[row] = low + (window.sorted[above] - low) * (rank - below);
  }
}

/**
 * Slope a row of the least-squares line through the last `period` values; missing for a period of 1. Summed anew a row over the differences
 * of values equally far from the middle: a flat window has slope 0 to the last bit, and no running sum cancels.
 */
export function rollingSlope(values: Float64Array, period: number, out: Float64Array): void {
  const middle = (period - 1) / 2;
  const spread = (period * (period * period - 1)) / 12;
  for (let row = period - 1; row < values.length; row++) {
    const first = row - period + 1;
    let moment = 0;
    for (let index = 0; index < middle; index++)
      moment += (middle - index) * (values[row - index] - values[first + index]);
    out[row] = moment / spread;
  }
}
