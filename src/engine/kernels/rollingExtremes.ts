// Extremes of a moving window: the highest and lowest values, and the rows they stand on.
import { bestOfFourOn } from './simd/bestOfFour.ts';
import { memoryUnderOwned } from './simd/ownedColumns.ts';
import { columnKernels, type Readable } from './simd/rolling.ts';
import { kernelMemory, simdMemory } from './simd/simdMemory.ts';

/** out[row] = the highest of source[row-length+1 … row], the latest of equals, for rows first+length-1 … n-1. */
export function rollingMax(source: Float64Array, first: number, length: number, out: Float64Array): void {
  rollingExtreme(LARGEST, source, first, length, out);
}

/** out[row] = the lowest of source[row-length+1 … row], the latest of equals, for rows first+length-1 … n-1. */
export function rollingMin(source: Float64Array, first: number, length: number, out: Float64Array): void {
  rollingExtreme(SMALLEST, source, first, length, out);
}

export interface ExtremeKernels {
  readonly ofFour: 'largestOfFour' | 'smallestOfFour';
  readonly of4Rows: 'largestOf4Rows' | 'smallestOf4Rows';
  readonly of16Rows: 'largestOf16Rows' | 'smallestOf16Rows';
}
export const LARGEST: ExtremeKernels = {
  ofFour: 'largestOfFour',
  of4Rows: 'largestOf4Rows',
  of16Rows: 'largestOf16Rows',
};
export const SMALLEST: ExtremeKernels = {
  ofFour: 'smallestOfFour',
  of4Rows: 'smallestOf4Rows',
  of16Rows: 'smallestOf16Rows',
};

function rollingExtreme(
  kernels: ExtremeKernels,
  source: Float64Array,
  first: number,
  length: number,
  out: Float64Array,
): void {
  const n = source.length;
  const block = extremeRows(length);
  const { values } = simdMemory(extremeCells(length) * NUMBER_BYTES);
  const memory = memoryUnderOwned(out);
  let row = first + length - 1;
  while (row < n) {
    // Further blocks begin with an even row: what lies in two lines of the cache takes longer to write.
    const rows = Math.min(block - (row & 1), n - row);
    const start = row - length + 1;
    if (memory !== undefined && rows % PAD === 0) {
      const address = out.byteOffset + row * NUMBER_BYTES;
      blockExtremes(kernels, source, start, 0, rows, length, { memory, address });
    } else {
      blockExtremes(kernels, source, start, 0, rows, length);
      out.set(values.subarray(0, rows), row);
    }
    row += rows;
  }
}

const NUMBER_BYTES = 8;
/** Cells behind the last row that a kernel may read and write. */
const PAD = 8;
const padded = (cells: number): number => Math.ceil(cells / PAD) * PAD;
const sizeOf = (rows: number): number => padded(rows) * NUMBER_BYTES;
/** Rows of a block, which fit the first cache twice. Long windows need long blocks: their rows are computed again. */
export const extremeRows = (length: number): number => padded(Math.max(2048, 4 * length));
/** Cells of the memory that a block of extremes takes: a multiple of 2. */
export const extremeCells = (length: number): number => Math.ceil((extremeRows(length) + length + 2 * PAD) / 2) * 2;

/** Where a block of extremes is written, if not where it is computed. */
interface Place {
  readonly memory: WebAssembly.Memory;
  readonly address: number;
}

/**
 * Writes the extreme of the `length` rows of the source from each of `rows` rows on, the latest of equals: from a cell
 * of the kernels' memory on, or at a place, to which whole groups of PAD rows are written.
 *
 * Windows of 1, 4, 16, 64, … cells, each the extreme of four beside each other, up to the four that overlap to
 * `length`: a few passes without a branch. A scan for the extreme branches on prices, which no processor predicts: it
 * takes up to ten times as long (bench/indicators.ts).
 */
export function blockExtremes(
  { ofFour, of4Rows, of16Rows }: ExtremeKernels,
  source: Float64Array,
  start: number,
  cell: number,
  rows: number,
  length: number,
  place?: Place,
): void {
  const address = cell * NUMBER_BYTES;
  // From an even row on, so that cells of even rows lie in one line of the cache with the next.
  const lead = length >= 4 ? start & 1 : 0;
  const cells = lead + rows + length - 1;
  let width = 1;
  if (length >= 4) {
    const column: Readable = columnKernels.read(source, start - lead, start - lead + cells, PAD);
    width = length >= 16 ? 16 : 4;
    column.kernels[length >= 16 ? of16Rows : of4Rows](column.address, address, sizeOf(cells));
  } else {
    simdMemory(0).values.set(source.subarray(start, start + cells), cell);
  }
  // Where the extremes of `width` cells are, by their first cells. Those kernels have them by their last.
  let windows = address + (lead + width - 1) * NUMBER_BYTES;
  const best = (back: number, count: number, to: Place): void => {
    bestOfFourOn(to.memory)[ofFour](
      windows,
      windows + Math.min(width, back) * NUMBER_BYTES,
      windows + Math.min(2 * width, back) * NUMBER_BYTES,
      windows + back * NUMBER_BYTES,
      to.address,
      sizeOf(count),
    );
    windows = address;
  };
  const here = { memory: kernelMemory, address };
  for (; width * 4 <= length; width *= 4) best(3 * width, cells - lead - 4 * width + 1, here);
  if (windows !== address || length > width || place !== undefined) best(length - width, rows, place ?? here);
}

/** Up to this length, scanning a window whose extreme has left it is cheaper than keeping its candidates in order. */
const MAX_SCANNED = 32;

/**
 * out[row] = the row of the highest of source[row-length+1 … row], for rows first+length-1 … n-1. A new value equal to
 * the highest wins. When the highest leaves the window, the latest of equal values wins if `isLatest` (Aroon), else the
 * earliest (TA-Lib's MAXINDEX).
 */
export function rollingMaxIndex(
  source: Float64Array,
  first: number,
  length: number,
  out: Float64Array,
  isLatest = true,
): void {
  if (length > MAX_SCANNED) return longMaxIndex(source, first, length, out, isLatest);
  const n = source.length;
  let bestRow = -1;
  for (let row = first + length - 1; row < n; row++) {
    const oldest = row - length + 1;
    if (bestRow < oldest) {
      bestRow = oldest;
      for (let i = oldest + 1; i <= row; i++) {
        if (source[i] > source[bestRow] || (isLatest && source[i] === source[bestRow])) bestRow = i;
      }
    } else if (source[row] >= source[bestRow]) {
      bestRow = row;
    }
    out[row] = bestRow;
  }
}

/**
 * out[row] = the row of the lowest value of the same window; ties are settled as for the highest. The loops are written
 * twice: one for both, which multiplies by a sign, takes up to 1.6 times as long.
 */
export function rollingMinIndex(
  source: Float64Array,
  first: number,
  length: number,
  out: Float64Array,
  isLatest = true,
): void {
  if (length > MAX_SCANNED) return longMinIndex(source, first, length, out, isLatest);
  const n = source.length;
  let bestRow = -1;
  for (let row = first + length - 1; row < n; row++) {
    const oldest = row - length + 1;
    if (bestRow < oldest) {
      bestRow = oldest;
      for (let i = oldest + 1; i <= row; i++) {
        if (source[i] < source[bestRow] || (isLatest && source[i] === source[bestRow])) bestRow = i;
      }
    } else if (source[row] <= source[bestRow]) {
      bestRow = row;
    }
    out[row] = bestRow;
  }
}

/**
 * `rollingMaxIndex` in constant time per row whatever the length. The queue holds the rows that may yet become the
 * highest, their values descending; its head is what a scan of the window would find.
 */
function longMaxIndex(source: Float64Array, first: number, length: number, out: Float64Array, isLatest: boolean): void {
  const n = source.length;
  const queue = new Int32Array(length);
  let head = 0;
  let size = 0;
  let bestRow = -1;
  for (let row = first; row < n; row++) {
    const oldest = row - length + 1;
    if (size > 0 && queue[head] < oldest) {
      head = head + 1 === length ? 0 : head + 1;
      size--;
    }
    const value = source[row];
    for (; size > 0; size--) {
      const last = source[queue[(head + size - 1) % length]];
      if (!(isLatest ? last <= value : last < value)) break;
    }
    queue[(head + size++) % length] = row;
    if (oldest < first) continue;
    if (bestRow < oldest) bestRow = queue[head];
    else if (value >= source[bestRow]) bestRow = row;
    out[row] = bestRow;
  }
}

/** `rollingMinIndex` in constant time per row, as `longMaxIndex`. */
function longMinIndex(source: Float64Array, first: number, length: number, out: Float64Array, isLatest: boolean): void {
  const n = source.length;
  const queue = new Int32Array(length);
  let head = 0;
  let size = 0;
  let bestRow = -1;
  for (let row = first; row < n; row++) {
    const oldest = row - length + 1;
    if (size > 0 && queue[head] < oldest) {
      head = head + 1 === length ? 0 : head + 1;
      size--;
    }
    const value = source[row];
    for (; size > 0; size--) {
      const last = source[queue[(head + size - 1) % length]];
      if (!(isLatest ? last >= value : last > value)) break;
    }
    queue[(head + size++) % length] = row;
    if (oldest < first) continue;
    if (bestRow < oldest) bestRow = queue[head];
    else if (value <= source[bestRow]) bestRow = row;
    out[row] = bestRow;
  }
}
