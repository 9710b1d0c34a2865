// Variances over a moving window, from sums that restart at fixed rows, and bands around its mean: a SIMD kernel, and a
// TypeScript loop over one segment of rows that gives the same bits and serves windows of unusual length and rows that
// have lost digits.
import { exactSums, rollingMean, writeFlatBlock } from './rollingSums.ts';
import { type Block, type BlockKernel, MAX_BLOCK_LENGTH, overSegments, segmentEnd } from './segments.ts';
import { drawBands } from './simd/bands.ts';

const NUMBER_BYTES = 8;

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
 * Two segments of variances, written to the target at `index`. A segment whose sums have lost digits is computed again,
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
    // When rounding makes the mean of equal values another number, every row would start again and give the same
    // result.
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
