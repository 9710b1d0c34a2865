// Exact sums over a moving window, for means that are compared with prices: a SIMD kernel, and a TypeScript loop over
// one segment of rows that gives the same bits and serves windows of unusual length.
import { type Block, type BlockKernel, MAX_BLOCK_LENGTH, overSegments, segmentEnd } from './segments.ts';

const NUMBER_BYTES = 8;

/**
 * out[row] = Σ source[row-length+1 … row], rows first+length-1 … n-1, rounded once. The running sum is kept as an
 * unevaluated pair high + low (Knuth's TwoSum), which loses nothing for values of similar size.
 */
export function rollingSum(source: Float64Array, first: number, length: number, out: Float64Array): void {
  if (length > MAX_BLOCK_LENGTH) return longSums(source, first, length, 1, out);
  overSegments(source, first, length, [out], exactSums(length, 1));
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
  if (length > MAX_BLOCK_LENGTH) {
    longSums(source, first, length, length, out);
    writeFlat(source, first, source.length, length, out, 0);
    return;
  }
  overSegments(source, first, length, [out], {
    ...exactSums(length, length),
    finish: (block) => writeFlatBlock(block, length),
  });
}

/**
 * Two segments of exact sums over a divisor.
 *
 * In most segments of prices, all values are positive and none is more than twice another. Then the difference of two
 * values is exact (Sterbenz) and smaller than the sum, so that the rounding error of the sum takes two subtractions
 * (Dekker's FastTwoSum) instead of twelve: the same bits in half the time. Only the end of a segment shows whether its
 * values were like that. When they were not, the next segments of the block are not tried.
 */
export function exactSums(length: number, divisor: number): BlockKernel {
  // The sum of one value is no larger than its change.
  const isTried = length > 1;
  const window = length * NUMBER_BYTES;
  return {
    pair({ address, targets }, a, b, toA, toB, rowsA, rowsB) {
      const { kernels, cell } = targets[0];
      const [inA, inB] = [address + a * NUMBER_BYTES, address + b * NUMBER_BYTES];
      const [outA, outB] = [(cell + toA) * NUMBER_BYTES, (cell + toB) * NUMBER_BYTES];
      const size = Math.max(rowsA, rowsB) * NUMBER_BYTES;
      if (isTried && kernels.tightSums(inA, inB, outA, outB, window, size, divisor) === 1) return;
      kernels.sums(inA, inB, outA, outB, window, size, divisor);
    },
    pairs({ address, targets }, at, interval, count) {
      const { kernels, cell } = targets[0];
      const size = interval * NUMBER_BYTES;
      const [from, to] = [address + at * NUMBER_BYTES, (cell + at) * NUMBER_BYTES];
      kernels.pairsOfSums(from, to, window, size, count, divisor, Number(isTried));
    },
  };
}

/** Runs `sumSegment` over a whole column, for windows that are too long for blocks. */
function longSums(source: Float64Array, first: number, length: number, divisor: number, out: Float64Array): void {
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
function writeFlat(
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
const apartOf = (length: number): number => (length < 8 ? 1 : length >> 2);

/** `writeFlat` for a block of means, which are the first of its columns of results. */
export function writeFlatBlock({ source, from, end, address, targets }: Block, length: number): void {
  const apart = apartOf(length);
  const { kernels, values, cell } = targets[0];
  const last = address + (end - from - apart) * NUMBER_BYTES;
  // Most blocks have no such window, which a kernel finds out in a fifth of the time.
  if (kernels.mayBeFlat(address, last, apart * NUMBER_BYTES, (length - apart) * NUMBER_BYTES) !== 0)
    writeFlat(source, from, end, length, values, cell - (from + length - 1));
}
