// Extremes of a moving window by SIMD kernels (windowExtremes.wat), a block of rows at a time. Addresses and sizes are
// in bytes.
import { memoryUnderOwned } from '../../kernels/ownedColumns.ts';
import { kernelMemory, simdMemory, compileModule } from '../../kernels/simdMemory.ts';
import { ColumnModule } from '../columnMemory.ts';
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

const extremeKernels = new ColumnModule<ExtremeKernels>(compileModule(WINDOWEXTREMES_WASM));

/** Names of the kernels for one end of a window. */
interface Extreme {
  readonly ofFour: 'largestOfFour' | 'smallestOfFour';
  readonly by4: 'largestBy4' | 'smallestBy4';
  readonly by16: 'largestBy16' | 'smallestBy16';
}
const EXTREMES: Readonly<Record<'largest' | 'smallest', Extreme>> = {
  largest: { ofFour: 'largestOfFour', by4: 'largestBy4', by16: 'largestBy16' },
  smallest: { ofFour: 'smallestOfFour', by4: 'smallestBy4', by16: 'smallestBy16' },
};

/** The highest or lowest of source[row-length+1 … row], the latest of equals, for rows first+length-1 … n-1. */
export function writeExtremes(
  extreme: keyof typeof EXTREMES,
  source: Float64Array,
  first: number,
  length: number,
  out: Float64Array,
): true {
  const n = source.length;
  const memory = memoryUnderOwned(out);
  const leastRows = memory === undefined ? BLOCK_ROWS : IN_PLACE_ROWS;
  const block = extremeRows(length, leastRows);
  const { values } = simdMemory(extremeCells(length, leastRows) * NUMBER_BYTES);
  let row = first + length - 1;
  while (row < n) {
    // Further blocks begin with an even row: a write across two cache lines takes longer.
    const rows = Math.min(block - (row & 1), n - row);
    const start = row - length + 1;
    if (memory !== undefined && rows % PAD === 0) {
      const address = out.byteOffset + row * NUMBER_BYTES;
      blockExtremes(extreme, source, start, 0, rows, length, { memory, address });
    } else {
      blockExtremes(extreme, source, start, 0, rows, length);
      out.set(values.subarray(0, rows), row);
    }
    row += rows;
  }
  return true;
}

const NUMBER_BYTES = 8;
/** Cells past the last row that a kernel may read and write. */
const PAD = 8;
const padded = (cells: number): number => Math.ceil(cells / PAD) * PAD;
const sizeOf = (rows: number): number => padded(rows) * NUMBER_BYTES;
/** Rows of a block, which fit the L1 cache twice. */
const BLOCK_ROWS = 2048;
/** Rows of a block that is not copied out: the L1 cache needs only what is still read of it. */
const IN_PLACE_ROWS = 8192;
/** Rows of a block. Long windows need long blocks: their first `length` rows are computed again. */
export const extremeRows = (length: number, least = BLOCK_ROWS): number => padded(Math.max(least, 4 * length));
/** Cells of the memory that a block of extremes takes: a multiple of 2. */
export const extremeCells = (length: number, least = BLOCK_ROWS): number =>
  Math.ceil((extremeRows(length, least) + length + 2 * PAD) / 2) * 2;

/** Where a block of extremes is written, if not where it is computed. */
interface Place {
  readonly memory: WebAssembly.Memory;
  readonly address: number;
}

/**
 * For each of `rows` rows of the source from `start` on, writes the extreme of the `length` rows that begin there, the
 * latest of equals. It writes from a cell of the kernels' memory on, or at `place`, where it writes whole groups of PAD
 * rows.
 *
 * Windows of 1, 4, 16, 64, … cells: each is the extreme of four adjacent smaller ones, and the last is that of four
 * which overlap to make up `length`. That is a few passes without a branch. A scan for the extreme branches on prices,
 * which no processor predicts: it takes up to ten times as long (bench/indicators.ts).
 */
export function blockExtremes(
  extreme: keyof typeof EXTREMES,
  source: Float64Array,
  start: number,
  cell: number,
  rows: number,
  length: number,
  place?: Place,
): void {
  const { ofFour, by4, by16 } = EXTREMES[extreme];
  const address = cell * NUMBER_BYTES;
  const here: Place = { memory: kernelMemory, address };
  const there = place ?? here;
  // From an even row on, so that the cell of an even row shares a cache line with the next.
  const lead = length >= 4 ? start & 1 : 0;
  const cells = lead + rows + length - 1;
  let width = length >= 16 ? 16 : length >= 4 ? 4 : 1;
  if (width === 1) simdMemory(0).values.set(source.subarray(start, start + cells), cell);
  let to = 4 * width < length ? here : there;
  const column = extremeKernels.read(source, start - lead, start - lead + cells, PAD, to.memory);
  let { kernels } = column;
  // Where the windows of `width` cells are, indexed by their first cells. The first pass indexes them by their last.
  let windows = address + (lead + width - 1) * NUMBER_BYTES;
  for (let isFirst = width > 1; ; isFirst = false) {
    const isLast = 4 * width >= length;
    const back = Math.min(length - width, 3 * width);
    const second = windows + Math.min(width, back) * NUMBER_BYTES;
    const third = windows + Math.min(2 * width, back) * NUMBER_BYTES;
    const fourth = windows + back * NUMBER_BYTES;
    const size = sizeOf(isLast ? rows : cells - lead - 4 * width + 1);
    if (isFirst) {
      const pass = kernels[width === 16 ? by16 : by4];
      pass(column.address, address, sizeOf(cells), windows, second, third, fourth, to.address, size);
    } else {
      kernels[ofFour](windows, second, third, fourth, to.address, size);
    }
    if (isLast) return;
    windows = address;
    width *= 4;
    to = 4 * width < length ? here : there;
    kernels = extremeKernels.on(column.memory, to.memory);
  }
}
