// The kernels that read columns in place, in memory that threads share (inPlace.wat). Addresses are in bytes.
import { ColumnModule } from '../columnMemory.ts';
import { memoryUnder } from '../../kernels/sharedMemory.ts';
import { compileModule } from '../../kernels/simdMemory.ts';
import { scanMemory } from '../../simulate/rowScan.ts';
import { INPLACE_WASM } from '../wasm.ts';

export interface InPlaceKernels {
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
