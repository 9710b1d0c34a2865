// Exact sums over a moving window, for means that are compared with prices.
import { Accelerator } from './accelerator.ts';
import { segmentEnd } from './segments.ts';

type Write = (source: Float64Array, first: number, length: number, out: Float64Array) => true | null;

/** What writes `rollingSum` faster. */
export const SUMS = new Accelerator<Write>();
/** What writes `rollingMean` faster. */
export const MEANS = new Accelerator<Write>();

/**
 * out[row] = Σ source[row-length+1 … row], rows first+length-1 … n-1, rounded once. The running sum is kept as an
 * unevaluated pair high + low (Knuth's TwoSum), which loses nothing for values of similar size.
 */
export function rollingSum(source: Float64Array, first: number, length: number, out: Float64Array): void {
  if (!SUMS.current?.(source, first, length, out)) sums(source, first, length, 1, out);
}

/**
 * out[row] = Σ source[row-length+1 … row] / length, rows first+length-1 … n-1: the sum rounded once, then the quotient,
 * which is what fsum(window)/length gives. Two windows with the same mean, one twice as long as the other, give equal
 * numbers. A window of equal values gives that value; the quotient alone may be off (in three bits 3 × 6 is 16, and 16
 * / 3 is 5). So a tie is not a cross (semantics §1.5).
 */
export function rollingMean(source: Float64Array, first: number, length: number, out: Float64Array): void {
  if (length === 1) {
    for (let row = first; row < source.length; row++) out[row] = source[row];
    return;
  }
  if (MEANS.current?.(source, first, length, out)) return;
  sums(source, first, length, length, out);
  writeFlat(source, first, source.length, length, out, 0);
}

/** Runs `sumSegment` over a whole column. */
function sums(source: Float64Array, first: number, length: number, divisor: number, out: Float64Array): void {
  const n = source.length;
  for (let row = first + length - 1; row < n; row = segmentEnd(row, length, n))
    sumSegment(source, row, segmentEnd(row, length, n), length, divisor, out);
}

/** out[row] = the exact sum of the window over a divisor, for the rows of one segment. */
export function sumSegment(
  source: Float64Array,
  start: number,
  end: number,
  length: number,
  divisor: number,
  out: Float64Array,
): void {
  let high = 0;
  let low = 0;
  for (let i = start - length + 1; i < start; i++) {
    const value = source[i];
    const sum = high + value;
    const part = sum - high;
    low += high - (sum - part) + (value - part);
    high = sum;
  }
  // The first row drops nothing: its window holds length - 1 values so far.
  let dropped = 0;
  for (let row = start; row < end; row++) {
    const added = source[row];
    // The change first, so that only one addition per row depends on the previous row.
    const change = added - dropped;
    const back = change - added;
    const changeLow = added - (change - back) - (dropped + back);
    const sum = high + change;
    const part = sum - high;
    low += high - (sum - part) + (change - part) + changeLow;
    high = sum;
    dropped = source[row - length + 1];
    out[row] = (high + low) / divisor;
  }
}

/**
 * Writes the value of each window of equal values in source[from … end-1] to its last row, `shift` cells later in
 * `out`. Only rows `stride` apart are compared, each with the row `length - stride` after it: every window holds one
 * such pair.
 */
export function writeFlat(
  source: Float64Array,
  from: number,
  end: number,
  length: number,
  out: Float64Array,
  shift: number,
): void {
  const apart = apartOf(length);
  const stride = length - apart;
  for (let row = from; row + apart < end; row += stride) {
    const value = source[row];
    if (source[row + apart] !== value) continue;
    let first = row;
    while (first > from && source[first - 1] === value) first--;
    let last = row;
    while (last + 1 < end && source[last + 1] === value) last++;
    for (let i = first + length - 1; i <= last; i++) out[i + shift] = source[i];
    while (row + stride + apart <= last) row += stride;
  }
}

/** Where prices are coarse, neighboring rows are often equal, but rows far from each other rarely are. */
export const apartOf = (length: number): number => (length < 8 ? 1 : length >> 2);
