// Variances over a moving window by SIMD kernels, bit for bit those of kernels/rollingVariance.ts, and bands around its
// mean (bands.wat), of columns in the kernels' memory or in memories of their own.
import { varianceSegment } from '../../kernels/rollingVariance.ts';
import { MAX_BLOCK_LENGTH, overSegments, type Block, type BlockKernel } from './blocks.ts';
import { exactSums, writeFlatBlock } from './sums.ts';
import { compileModule } from '../../kernels/simdMemory.ts';
import { BANDS_WASM } from '../wasm.ts';

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

/** Addresses and the size are in bytes; if the size is not a multiple of 16, the kernel writes past it. */
type Bands = (middle: number, variance: number, lower: number, size: number, up: number, down: number) => void;

/** A column of values, from a cell of a memory on. */
interface Cells {
  readonly memory: WebAssembly.Memory;
  readonly cell: number;
}

const module = compileModule(BANDS_WASM);
/** The instance last made for each memory of an upper band, with the memories of the other two. */
const instances = new WeakMap<WebAssembly.Memory, Readonly<Record<'middle' | 'lower', unknown>> & { bands: Bands }>();

/**
 * Reads the means and variances from the first two columns. Writes the upper band over the variances, and the lower
 * band to the third column.
 */
function drawBands([middle, upper, lower]: readonly Cells[], rows: number, up: number, down: number): void {
  const [meanAt, varianceAt, lowerAt] = [middle, upper, lower].map(({ cell }) => cell * NUMBER_BYTES);
  bandsOn(upper.memory, middle.memory, lower.memory)(meanAt, varianceAt, lowerAt, rows * NUMBER_BYTES, up, down);
}

function bandsOn(upper: WebAssembly.Memory, middle: WebAssembly.Memory, lower: WebAssembly.Memory): Bands {
  const known = instances.get(upper);
  if (known?.middle === middle && known.lower === lower) return known.bands;
  const { exports } = new WebAssembly.Instance(module, { host: { upper, middle, lower } });
  const bands = exports.bands as Bands;
  instances.set(upper, { middle, lower, bands });
  return bands;
}
