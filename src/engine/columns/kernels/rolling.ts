// Rolling windows over dense columns: the `rolling` operations that are not sums (those are the indicators' own, summed exactly).

/**
 * The greatest (sign 1) or least (sign -1) of the last `period` values, and where: `at` takes how many rows ago, the latest of equals.
 * A monotonic queue: each value is pushed and popped once (Lemire 2006, "Streaming maximum-minimum filter").
 */
export function rollingExtreme(
  values: Float64Array,
  period: number,
  sign: 1 | -1,
  out: Float64Array | null,
  at: Float64Array | null,
): void {
  const n = values.length;
  const queue = new Int32Array(Math.min(period, n) + 1);
  const size = queue.length;
  let head = 0;
  let count = 0;
  for (let row = 0; row < n; row++) {
    const value = sign * values[row];
    while (count > 0 && sign * values[queue[(head + count - 1) % size]] <= value) count--;
    queue[(head + count) % size] = row;
    count++;
    if (queue[head] <= row - period) {
      head = (head + 1) % size;
      count--;
    }
    if (row < period - 1) continue;
    if (out) out[row] = values[queue[head]];
    if (at) at[row] = row - queue[head];
  }
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

/** How many percent of the last `period` values, this one included, are at most this one (pandas' rolling rank, method max). */
export function rollingPercentileRank(values: Float64Array, period: number, out: Float64Array): void {
  for (let row = period - 1; row < values.length; row++) {
    let atMost = 0;
    for (let before = row - period + 1; before <= row; before++) atMost += values[before] <= values[row] ? 1 : 0;
    out[row] = (100 * atMost) / period;
  }
}

/**
 * Slope a row of the least-squares line through the last `period` values; missing for a period of 1. Summed anew a row from the middle of
 * the window, so that a straight line gives its slope without the cancellation of running sums.
 */
export function rollingSlope(values: Float64Array, period: number, out: Float64Array): void {
  const middle = (period - 1) / 2;
  const spread = (period * (period * period - 1)) / 12;
  for (let row = period - 1; row < values.length; row++) {
    const first = row - period + 1;
    let moment = 0;
    for (let index = 0; index < period; index++) moment += (index - middle) * values[first + index];
    out[row] = moment / spread;
  }
}
