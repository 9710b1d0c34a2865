// Sums over a moving window: exact ones for means that are compared with prices, re-seeded ones for second moments.
// Each is a TypeScript loop over one segment of rows, which windows of unusual length and unusual rows take, and a SIMD
// kernel that gives the same bits.
import { drawBands } from './simd/bands.ts';
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
 * which is what fsum(window)/length gives. Two windows of one mean and lengths that are double each other give equal
 * numbers, and a window of equal values is that value (the quotient alone may be off: in three bits 3 × 6 is 16, and 16
 * / 3 is 5): a tie is not a cross (semantics §1.5).
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
 * The means and variances of rollingMean and rollingVariance, and `up` or `down` standard deviations above or below the
 * mean.
 */
export function rollingBands(
  source: Float64Array,
  first: number,
  length: number,
  ddof: number,
  up: number,
  down: number,
  upper: Float64Array,
  middle: Float64Array,
  lower: Float64Array,
): void {
  if (length > MAX_BLOCK_LENGTH) {
    rollingMean(source, first, length, middle);
    rollingVariance(source, first, length, upper, ddof);
    for (let row = first + length - 1; row < source.length; row++) {
      const deviation = Math.sqrt(upper[row]);
      upper[row] = middle[row] + deviation * up;
      lower[row] = middle[row] - deviation * down;
    }
    return;
  }
  const means = exactSums(length, length);
  const spreads = variances(length, ddof, 1);
  overSegments(source, first, length, [middle, upper, lower], {
    pair(block, a, b, toA, toB, rowsA, rowsB) {
      means.pair(block, a, b, toA, toB, rowsA, rowsB);
      spreads.pair(block, a, b, toA, toB, rowsA, rowsB);
    },
    pairs(block, at, interval, count) {
      means.pairs(block, at, interval, count);
      spreads.pairs(block, at, interval, count);
    },
    finish(block) {
      writeFlatBlock(block, length);
      drawBands(block.targets, block.rows, up, down);
    },
  });
}

/**
 * Two segments of exact sums over a divisor.
 *
 * Where all values are positive and none is more than twice another, as most prices of a segment are, a difference of
 * two of them is exact (Sterbenz) and smaller than the sum, whose rounding error then takes two subtractions (Dekker's
 * FastTwoSum) and not twelve: the same bits in half the time. A segment shows only at its end that it was not so; where
 * one was not, the next ones of its block are not tried.
 */
function exactSums(length: number, divisor: number): BlockKernel {
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

/** The same over a whole column, one row after the other. */
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
 * `out`. Of rows `stride` apart, such a window holds one and the row `length - stride` after it: only those are
 * compared.
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

/** Rows far from each other are rarely equal where prices are coarse. */
const apartOf = (length: number): number => (length < 8 ? 1 : length >> 2);

/** The same for a block of means, its first results. */
export function writeFlatBlock({ source, from, end, address, targets }: Block, length: number): void {
  const apart = apartOf(length);
  const { kernels, values, cell } = targets[0];
  const last = address + (end - from - apart) * NUMBER_BYTES;
  // Most blocks have none, which a kernel finds out in a fifth of the time.
  if (kernels.mayBeFlat(address, last, apart * NUMBER_BYTES, (length - apart) * NUMBER_BYTES) !== 0)
    writeFlat(source, from, end, length, values, cell - (from + length - 1));
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
  if (length <= MAX_BLOCK_LENGTH) return overSegments(source, first, length, [out], variances(length, ddof));
  const n = source.length;
  for (let row = first + length - 1; row < n; row = segmentEnd(row, length, n))
    varianceSegment(source, row, segmentEnd(row, length, n), length, ddof, out, 0);
}

/**
 * Two segments of variances, the results of this index. Where the sums of one have lost digits, it is computed again,
 * row by row.
 */
function variances(length: number, ddof: number, index = 0): BlockKernel {
  const inverse = 1 / length;
  const correction = length / (length - ddof);
  const again = ({ source, from, targets }: Block, at: number, to: number, rows: number): void => {
    const { values, cell } = targets[index];
    const row = from + at + length - 1;
    varianceSegment(source, row, row + rows, length, ddof, values, cell + to - row);
  };
  return {
    pair(block, a, b, toA, toB, rowsA, rowsB) {
      const { address, targets } = block;
      const { kernels, cell } = targets[index];
      const lost = kernels.variances(
        address + a * NUMBER_BYTES,
        address + b * NUMBER_BYTES,
        (cell + toA) * NUMBER_BYTES,
        (cell + toB) * NUMBER_BYTES,
        length * NUMBER_BYTES,
        Math.max(rowsA, rowsB) * NUMBER_BYTES,
        inverse,
        correction,
      );
      if (lost & 1) again(block, a, toA, rowsA);
      if (lost & 2 && b !== a) again(block, b, toB, rowsB);
    },
    pairs(block, at, interval, count) {
      const { address, targets } = block;
      const { kernels, cell } = targets[index];
      const lost = kernels.pairsOfVariances(
        address + at * NUMBER_BYTES,
        (cell + at) * NUMBER_BYTES,
        length * NUMBER_BYTES,
        interval * NUMBER_BYTES,
        count,
        inverse,
        correction,
      );
      if (lost === 0) return;
      for (let pair = 0; pair < count; pair++) {
        const [a, b] = [at + pair * interval, at + (count + pair) * interval];
        if ((lost >>> (2 * pair)) & 1) again(block, a, a, interval);
        if ((lost >>> (2 * pair)) & 2) again(block, b, b, interval);
      }
    },
  };
}

/** out[row + shift] = the variance of the window, for the rows of one segment. */
export function varianceSegment(
  source: Float64Array,
  start: number,
  end: number,
  length: number,
  ddof: number,
  out: Float64Array,
  shift: number,
): void {
  const inverse = 1 / length;
  const correction = length / (length - ddof);
  let row = start;
  while (row < end) {
    let mean = 0;
    for (let i = row - length + 1; i <= row; i++) mean += source[i];
    const center = mean * inverse;
    let sum = 0;
    let squares = 0;
    for (let i = row - length + 1; i <= row; i++) {
      const deviation = source[i] - center;
      sum += deviation;
      squares += deviation * deviation;
    }
    mean = sum * inverse;
    const variance = squares * inverse - mean * mean;
    // Below that share, the spread is only the rounding of the mean.
    out[row + shift] = variance < 1e-12 * squares * inverse ? 0 : variance * correction;
    // Where the mean of equal values is not that value, every row would start again, to no other numbers.
    if (isFlat(source, row - length + 1, row))
      for (; row + 1 < end && source[row + 1] === source[row]; row++) out[row + 1 + shift] = out[row + shift];
    for (row++; row < end; row++) {
      const dropped = source[row - length] - center;
      const added = source[row] - center;
      const removed = dropped * dropped;
      sum += added - dropped;
      squares += added * added - removed;
      const offset = sum * inverse;
      const spread = squares * inverse - offset * offset;
      // Not `<`: a residue below zero, or NaN, is a loss of digits too.
      if (!(spread >= 1e-6 * squares * inverse) || removed > 1e3 * squares) break;
      out[row + shift] = spread * correction;
    }
  }
}

function isFlat(source: Float64Array, first: number, last: number): boolean {
  for (let row = first; row < last; row++) if (source[row] !== source[last]) return false;
  return true;
}
