// Sums over a moving window: exact ones for means that are compared with prices, re-seeded ones for second moments.

/**
 * Rows between two restarts of a running sum, at absolute row numbers so that a value never depends on where a run
 * began. A naive running variance drifts to 3e-8 over a million rows; restarted, it stays at 2e-13. Long windows
 * restart less often, because a restart costs `length` additions.
 */
const reseedRows = (length: number): number => Math.max(256, 8 * length);

/**
 * out[row] = Σ source[row-length+1 … row], rows first+length-1 … n-1, rounded once. The running sum is kept as an
 * unevaluated pair high + low (Knuth's TwoSum), which loses nothing for values of similar size.
 */
export function rollingSum(source: Float64Array, first: number, length: number, out: Float64Array): void {
  const n = source.length;
  const interval = reseedRows(length);
  let row = first + length - 1;
  while (row < n) {
    const stop = Math.min(n, (Math.floor(row / interval) + 1) * interval);
    let high = 0;
    let low = 0;
    for (let i = row - length + 1; i <= row; i++) {
      const value = source[i];
      const sum = high + value;
      const part = sum - high;
      low += high - (sum - part) + (value - part);
      high = sum;
    }
    out[row] = high + low;
    for (row++; row < stop; row++) {
      const added = source[row];
      const dropped = source[row - length];
      // The change first, so that only one addition per row depends on the previous row.
      const change = added - dropped;
      const back = change - added;
      const changeLow = added - (change - back) - (dropped + back);
      const sum = high + change;
      const part = sum - high;
      low += high - (sum - part) + (change - part) + changeLow;
      high = sum;
      out[row] = high + low;
    }
  }
}

/**
 * out[row] = Σ source[row-length+1 … row] / length, rows first+length-1 … n-1: the sum rounded once, then the quotient,
 * which is what fsum(window)/length gives. Two windows of one mean and lengths that are double each other give equal
 * numbers, and a window of equal values is that value (the quotient alone may be off: in three bits 3 × 6 is 16, and 16
 * / 3 is 5): a tie is not a cross (semantics §1.5).
 */
export function rollingMean(source: Float64Array, first: number, length: number, out: Float64Array): void {
  const n = source.length;
  const interval = reseedRows(length);
  // The first row of the run of equal values that ends at the previous row.
  let runStart = first;
  for (let i = first + 1; i < Math.min(n, first + length - 1); i++) if (source[i] !== source[i - 1]) runStart = i;
  let row = first + length - 1;
  while (row < n) {
    const stop = Math.min(n, (Math.floor(row / interval) + 1) * interval);
    let high = 0;
    let low = 0;
    for (let i = row - length + 1; i < row; i++) {
      const value = source[i];
      const sum = high + value;
      const part = sum - high;
      low += high - (sum - part) + (value - part);
      high = sum;
    }
    // The first row of the stretch drops nothing: its window holds length - 1 values so far.
    let dropped = 0;
    let previous = row > first ? source[row - 1] : NaN;
    for (; row < stop; row++) {
      const added = source[row];
      const change = added - dropped;
      const back = change - added;
      const changeLow = added - (change - back) - (dropped + back);
      const sum = high + change;
      const part = sum - high;
      low += high - (sum - part) + (change - part) + changeLow;
      high = sum;
      if (added !== previous) runStart = row;
      previous = added;
      dropped = source[row - length + 1];
      out[row] = row - runStart >= length - 1 ? added : (high + low) / length;
    }
  }
}

/**
 * out[row] = the variance of source[row-length+1 … row] with divisor length - ddof, never negative and exactly 0 for
 * equal values. Deviations are measured from the mean of a nearby window and recomputed in two passes at absolute rows,
 * and wherever their sums have lost digits: a spread below 1e-6 of the deviations (TA-Lib's threshold), or an outlier
 * that has just left.
 */
export function rollingVariance(
  source: Float64Array,
  first: number,
  length: number,
  out: Float64Array,
  ddof = 0,
): void {
  const n = source.length;
  const interval = reseedRows(length);
  const inverse = 1 / length;
  const correction = length / (length - ddof);
  let row = first + length - 1;
  let stop = row;
  let shift = 0;
  let sum = 0;
  let squares = 0;
  while (row < n) {
    let mean = 0;
    for (let i = row - length + 1; i <= row; i++) mean += source[i];
    shift = mean * inverse;
    sum = 0;
    squares = 0;
    for (let i = row - length + 1; i <= row; i++) {
      const deviation = source[i] - shift;
      sum += deviation;
      squares += deviation * deviation;
    }
    mean = sum * inverse;
    const variance = squares * inverse - mean * mean;
    // Below that share, the spread is only the rounding of the mean.
    out[row] = variance < 1e-12 * squares * inverse ? 0 : variance * correction;
    // Where the mean of equal values is not that value, every row would start again, to no other numbers.
    if (isFlat(source, row - length + 1, row))
      for (; row + 1 < n && source[row + 1] === source[row]; row++) out[row + 1] = out[row];
    stop = Math.min(n, (Math.floor(row / interval) + 1) * interval);
    for (row++; row < stop; row++) {
      const dropped = source[row - length] - shift;
      const added = source[row] - shift;
      const removed = dropped * dropped;
      sum += added - dropped;
      squares += added * added - removed;
      const offset = sum * inverse;
      const spread = squares * inverse - offset * offset;
      // Not `<`: a residue below zero, or NaN, is a loss of digits too.
      if (!(spread >= 1e-6 * squares * inverse) || removed > 1e3 * squares) break;
      out[row] = spread * correction;
    }
  }
}

function isFlat(source: Float64Array, first: number, last: number): boolean {
  for (let row = first; row < last; row++) if (source[row] !== source[last]) return false;
  return true;
}
