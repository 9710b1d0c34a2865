// Exact sums over a moving window by a SIMD kernel: bit for bit those of kernels/rollingSums.ts.
import { apartOf, writeFlat } from '../../kernels/rollingSums.ts';
import { MAX_BLOCK_LENGTH, overSegments, type Block, type BlockKernel } from './blocks.ts';

const NUMBER_BYTES = 8;

/** See `rollingSum`; null: the window is too long. */
export function writeSums(source: Float64Array, first: number, length: number, out: Float64Array): true | null {
  if (length > MAX_BLOCK_LENGTH) return null;
  overSegments(source, first, length, [out], exactSums(length, 1));
  return true;
}

/** See `rollingMean`; null: the window is too long. */
export function writeMeans(source: Float64Array, first: number, length: number, out: Float64Array): true | null {
  if (length > MAX_BLOCK_LENGTH) return null;
  overSegments(source, first, length, [out], {
    ...exactSums(length, length),
    finish: (block) => writeFlatBlock(block, length),
  });
  return true;
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

/** `writeFlat` for a block of means, which are the first of its columns of results. */
export function writeFlatBlock({ source, from, end, address, targets }: Block, length: number): void {
  const apart = apartOf(length);
  const { kernels, values, cell } = targets[0];
  const last = address + (end - from - apart) * NUMBER_BYTES;
  // Most blocks have no such window, which a kernel finds out in a fifth of the time.
  if (kernels.mayBeFlat(address, last, apart * NUMBER_BYTES, (length - apart) * NUMBER_BYTES) !== 0)
    writeFlat(source, from, end, length, values, cell - (from + length - 1));
}
