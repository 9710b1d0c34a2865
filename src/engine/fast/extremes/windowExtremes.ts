// Extremes of a moving window (windowExtremes.wat). Addresses and sizes are in bytes.
import { ColumnModule } from '../columnMemory.ts';
import { compileModule } from '../../kernels/simdMemory.ts';
import { WINDOWEXTREMES_WASM } from '../wasm.ts';

/** Writes the best of four columns, the latest of equals; each begins later than the one before. */
type BestOfFour = (a: number, b: number, c: number, d: number, out: number, size: number) => void;

/**
 * Writes windows, the best of each row of a source and the 3 or 15 before it, and the best of those at four addresses
 * and the rows after each. `out` may be `windows` or before it. Both sizes are multiples of 64.
 */
type BestOfWindows = (
  source: number,
  windows: number,
  size: number,
  a: number,
  b: number,
  c: number,
  d: number,
  out: number,
  outSize: number,
) => void;

/** The first address is of a column, in the memory that they are made for; `out` is where results are written. */
interface ExtremeKernels {
  readonly largestOfFour: BestOfFour;
  readonly smallestOfFour: BestOfFour;
  readonly largestBy4: BestOfWindows;
  readonly smallestBy4: BestOfWindows;
  readonly largestBy16: BestOfWindows;
  readonly smallestBy16: BestOfWindows;
}

export const extremeKernels = new ColumnModule<ExtremeKernels>(compileModule(WINDOWEXTREMES_WASM));
