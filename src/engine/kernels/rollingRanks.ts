// Rolling windows over dense columns: the `rolling` operations that are not also indicators.
import { MIN_RANKED_PERIOD, overRankedWindows } from './rankedValues.ts';
import { lowerBound } from './search.ts';
import { rollingMaxIndex, rollingMinIndex } from './rollingExtremes.ts';

/** How many rows ago the highest (lowest) of the last `period` values was, the latest of equals. */
export function rollingRowsAgo(values: Float64Array, period: number, of: 'max' | 'min', out: Float64Array): void {
  if (of === 'max') rollingMaxIndex(values, 0, period, out);
  else rollingMinIndex(values, 0, period, out);
  for (let row = period - 1; row < out.length; row++) out[row] = row - out[row];
}

/** The values of a short window in ascending order, by insertion. */
class SortedWindow {
  readonly sorted: Float64Array;
  length = 0;
  constructor(period: number) {
    this.sorted = new Float64Array(period);
  }
  insert(value: number): void {
    const index = lowerBound(this.sorted, value, this.length);
    this.sorted.copyWithin(index + 1, index, this.length);
    this.sorted[index] = value;
    this.length++;
  }
  remove(value: number): void {
    const index = lowerBound(this.sorted, value, this.length);
    this.sorted.copyWithin(index, index + 1, this.length);
    this.length--;
  }
}

/**
 * The `fraction` quantile of the last `period` values, linear between neighbors (numpy's default, Hyndman and Fan 1996
 * type 7).
 */
export function rollingQuantile(
  values: Float64Array,
  period: number,
  fraction: number,
  out: Float64Array,
  poll?: () => void,
): void {
  const rank = fraction * (period - 1);
  const below = Math.floor(rank);
  const above = Math.min(below + 1, period - 1);
  if (period >= MIN_RANKED_PERIOD) {
    overRankedWindows(
      values,
      period,
      (row, window) => {
        const low = window.nth(below);
        out[row] = low + (window.nth(above) - low) * (rank - below);
      },
      poll,
    );
    return;
  }
  const window = new SortedWindow(period);
  for (let row = 0; row < values.length; row++) {
    if (row >= period) window.remove(values[row - period]);
    window.insert(values[row]);
    if (row < period - 1) continue;
    const low = window.sorted[below];
    out[row] = low + (window.sorted[above] - low) * (rank - below);
  }
}

/** How many rows are scanned between two polls: about 5 ms at the longest windows. */
export const SCANNED_ROWS = 1_024;

/**
 * Slope per row of the least-squares line through the last `period` values; missing for a period of 1. Each row sums
 * the differences of values equally far from the middle, so that a flat window has slope 0 exactly and no running sum
 * cancels.
 */
export function rollingSlope(values: Float64Array, period: number, out: Float64Array, poll?: () => void): void {
  const middle = (period - 1) / 2;
  const spread = (period * (period * period - 1)) / 12;
  for (let row = period - 1; row < values.length; row++) {
    if (row % SCANNED_ROWS === 0) poll?.();
    const first = row - period + 1;
    let moment = 0;
    for (let index = 0; index < middle; index++)
      moment += (middle - index) * (values[row - index] - values[first + index]);
    out[row] = moment / spread;
  }
}
