// The kernels over a moving window (columns.wat). Addresses and sizes are in bytes.
import { ColumnModule, type ReadColumn } from '../columnMemory.ts';
import { compileModule } from '../../kernels/simdMemory.ts';
import { COLUMNS_WASM } from '../wasm.ts';

type Sums<Result> = (
  a: number,
  b: number,
  outA: number,
  outB: number,
  length: number,
  size: number,
  divisor: number,
) => Result;

/**
 * The first address of each is of a column, in the memory that the kernels are made for; in `stochastic` it is `close`.
 */
interface ColumnKernels {
  /**
   * Writes 100·(close - low)/(high - low), 0 where the range is at most `epsilon` of |high| + |low|, both in the
   * kernels' memory. The size is a multiple of 16.
   */
  readonly stochastic: (high: number, low: number, close: number, out: number, size: number, epsilon: number) => void;
  /** The exact sums of two segments, over a divisor. Sizes are multiples of 8. */
  readonly sums: Sums<void>;
  /** The same in half the time. 0: a value is not positive, or more than twice another, and the sums mean nothing. */
  readonly tightSums: Sums<number>;
  /**
   * The sums of whole segments, `interval` bytes each, in pairs of one of the first half and one of the second. With
   * `isTried` it takes half the time as long as the values are as `tightSums` needs them. 1: they all are.
   */
  readonly pairsOfSums: (
    source: number,
    out: number,
    length: number,
    interval: number,
    pairs: number,
    divisor: number,
    isTried: number,
  ) => number;
  /**
   * Whether a value equals the next one and the one `apart` later, at `a` or `stride`, two `strides`, … later, before
   * `end`. Not 0: it does.
   */
  readonly mayBeFlat: (a: number, end: number, apart: number, stride: number) => number;
  /** The variances of two segments; bit 0 or 1 is set where the first or the second must be computed otherwise. */
  readonly variances: (
    a: number,
    b: number,
    outA: number,
    outB: number,
    length: number,
    size: number,
    inverse: number,
    correction: number,
  ) => number;
  /** The same for up to 16 whole segments, in such pairs: two bits for each pair, from the lowest on. */
  readonly pairsOfVariances: (
    source: number,
    out: number,
    length: number,
    interval: number,
    pairs: number,
    inverse: number,
    correction: number,
  ) => number;
}

export type Readable = ReadColumn<ColumnKernels>;

export const columnKernels = new ColumnModule<ColumnKernels>(compileModule(COLUMNS_WASM));
