// Scans and flaws of bars by kernels that read columns in place, in memory that threads share (inPlace.wat): two rows
// at a time and without a branch on new extremes, which is mispredicted. Addresses are in bytes, and each function
// returns null where no kernel can read the columns.
import { scanMemory, type RowScans } from '../../simulate/rowScan.ts';
import { ColumnModule } from '../columnMemory.ts';
import { memoryUnder } from '../../kernels/sharedMemory.ts';
import { compileModule } from '../../kernels/simdMemory.ts';
import { INPLACE_WASM } from '../wasm.ts';
import type { Bars } from '../../bars/bars.ts';
import type { TimedPrices } from '../../bars/outliers.ts';

interface InPlaceKernels {
  /**
   * How many of `rows` rows come before the first whose `high` is at least `scanState[ABOVE]` or whose `low` is at
   * most `scanState[BELOW]`. BEST and WORST become the extremes of those rows, where these exceed what they were. A
   * `sign` of -0 negates the prices: then `high` is the column of lows, and `low` that of highs.
   */
  readonly passRows: (high: number, low: number, rows: number, sign: number) => number;
  /**
   * Like passRows, but also stops before a row whose `low` is at most BEST × FACTOR - OFFSET, with the row's own `high`
   * included in BEST. PEAK becomes the highest price seen; no level depends on it.
   */
  readonly trailRows: (high: number, low: number, rows: number, sign: number) => number;
  readonly countZeros: (column: number, rows: number) => number;
  /** Rows in which a = b and c = d. */
  readonly countEqualPairs: (a: number, b: number, c: number, d: number, rows: number) => number;
  /** See `nextCandidate` in bars/outliers.ts; at least two rows, of which each has a neighbor on either side. */
  readonly nextOutlying: (
    open: number,
    high: number,
    low: number,
    close: number,
    rows: number,
    spike: number,
    jump: number,
  ) => number;
}

const module = new ColumnModule<InPlaceKernels>(compileModule(INPLACE_WASM), scanMemory);

/** The kernels over these columns; null: they do not lie in one shared memory, and only TypeScript can read them. */
export function kernelsUnder(...columns: readonly Float64Array[]): InPlaceKernels | null {
  const [{ buffer }] = columns;
  if (columns.some((column) => column.buffer !== buffer)) return null;
  const shared = memoryUnder(columns[0]);
  return shared === undefined ? null : module.on(shared);
}

/** The scans of these columns; null: no kernel can read them. */
export function kernelScans(high: Float64Array, low: Float64Array): RowScans | null {
  const kernels = kernelsUnder(high, low);
  return kernels && new KernelScans(kernels, high, low);
}

class KernelScans implements RowScans {
  readonly #kernels: InPlaceKernels;
  readonly #high: number;
  readonly #low: number;

  constructor(kernels: InPlaceKernels, high: Float64Array, low: Float64Array) {
    this.#kernels = kernels;
    this.#high = high.byteOffset;
    this.#low = low.byteOffset;
  }

  passRows(side: 1 | -1, from: number, limit: number): number {
    const at = 8 * from;
    const rows = limit - from;
    if (side > 0) return from + this.#kernels.passRows(this.#high + at, this.#low + at, rows, 0);
    return from + this.#kernels.passRows(this.#low + at, this.#high + at, rows, -0);
  }

  trailRows(side: 1 | -1, from: number, limit: number): number {
    const at = 8 * from;
    const rows = limit - from;
    if (side > 0) return from + this.#kernels.trailRows(this.#high + at, this.#low + at, rows, 0);
    return from + this.#kernels.trailRows(this.#low + at, this.#high + at, rows, -0);
  }
}

export function countZeroVolume({ volume }: Bars, from: number, to: number): number | null {
  const kernels = kernelsUnder(volume);
  return kernels && kernels.countZeros(volume.byteOffset + 8 * from, to - from);
}

export function countFlat({ open, high, low, close }: Bars, from: number, to: number): number | null {
  const kernels = kernelsUnder(open, high, low, close);
  const at = (column: Float64Array): number => column.byteOffset + 8 * from;
  return kernels && kernels.countEqualPairs(at(high), at(low), at(open), at(close), to - from);
}

/** See `nextCandidate`. */
export function nextOutlying(
  { open, high, low, close }: TimedPrices,
  first: number,
  end: number,
  spike: number,
  jump: number,
): number | null {
  const kernels = end - first < 2 ? null : kernelsUnder(open, high, low, close);
  if (kernels === null) return null;
  const at = (column: Float64Array): number => column.byteOffset + 8 * first;
  return first + kernels.nextOutlying(at(open), at(high), at(low), at(close), end - first, spike, jump);
}
