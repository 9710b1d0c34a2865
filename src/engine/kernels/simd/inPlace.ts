// The kernels that read columns in place, in memory that threads share (inPlace.wat). Addresses are in bytes.
import { ColumnModule } from './columnMemory.ts';
import { compileModule } from './simdMemory.ts';
import { memoryUnder } from './sharedMemory.ts';
import { INPLACE_WASM } from './wasm.ts';

export interface InPlaceKernels {
  /**
   * How many of `rows` rows pass before one of which `high` is at least `state[ABOVE]` or `low` at most
   * `state[BELOW]`; `state[BEST]` and `state[WORST]` become the extremes of those, if they exceed what they were. The
   * sign of `sign` is that of the prices: for -0 they are negated, and `high` is the lower of the two columns.
   */
  readonly passRows: (high: number, low: number, rows: number, sign: number) => number;
  /**
   * The same up to a row of which `low` is at most BEST × FACTOR - OFFSET, where BEST knows the row itself. PEAK is a
   * highest price that moves no level.
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

const memory = new WebAssembly.Memory({ initial: 1 });
/** What the last call left, and what the next one is given: numbers in arguments would be objects. */
export const state = new Float64Array(memory.buffer, 0, 7);
export const ABOVE = 0;
export const BELOW = 1;
export const BEST = 2;
export const WORST = 3;
export const PEAK = 4;
export const FACTOR = 5;
export const OFFSET = 6;

const module = new ColumnModule<InPlaceKernels>(compileModule(INPLACE_WASM), memory);

/** The kernels over these columns; null: they do not lie in one shared memory, and only TypeScript can read them. */
export function kernelsUnder(...columns: readonly Float64Array[]): InPlaceKernels | null {
  const [{ buffer }] = columns;
  if (columns.some((column) => column.buffer !== buffer)) return null;
  const shared = memoryUnder(columns[0]);
  return shared === undefined ? null : module.on(shared);
}
