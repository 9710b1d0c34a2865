// Variances over a moving window and bands around its mean by SIMD kernels: bit for bit those of
// kernels/rollingVariance.ts.
import { varianceSegment } from '../../kernels/rollingVariance.ts';
import { drawBands } from './bands.ts';
import { MAX_BLOCK_LENGTH, overSegments, type Block, type BlockKernel } from './blocks.ts';
import { exactSums, writeFlatBlock } from './sums.ts';

const NUMBER_BYTES = 8;

/** See `rollingVariance`; null: the window is too long. */
export function writeVariances(
  source: Float64Array,
  first: number,
  length: number,
  out: Float64Array,
  ddof: number,
): true | null {
  if (length > MAX_BLOCK_LENGTH) return null;
  overSegments(source, first, length, [out], variances(length, ddof));
  return true;
}

/** See `rollingBands`; null: the window is too long. */
export function writeBands(
  source: Float64Array,
  first: number,
  length: number,
  ddof: number,
  up: number,
  down: number,
  upper: Float64Array,
  middle: Float64Array,
  lower: Float64Array,
): true | null {
  if (length > MAX_BLOCK_LENGTH) return null;
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
  return true;
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
