// Extremes of a moving window: the highest and lowest values, and the rows they stand on.
import { extremeKernels } from './simd/windowExtremes.ts';
import { memoryUnderOwned } from './simd/ownedColumns.ts';
import { kernelMemory, simdMemory } from './simd/simdMemory.ts';

/** out[row] = the highest of source[row-length+1 … row], the latest of equals, for rows first+length-1 … n-1. */
export function rollingMax(source: Float64Array, first: number, length: number, out: Float64Array): void {
  rollingExtreme(LARGEST, source, first, length, out);
}

/** out[row] = the lowest of source[row-length+1 … row], the latest of equals, for rows first+length-1 … n-1. */
export function rollingMin(source: Float64Array, first: number, length: number, out: Float64Array): void {
  rollingExtreme(SMALLEST, source, first, length, out);
}

/** Names of the kernels for one end of a window. */
interface Extreme {
  readonly ofFour: 'largestOfFour' | 'smallestOfFour';
  readonly by4: 'largestBy4' | 'smallestBy4';
  readonly by16: 'largestBy16' | 'smallestBy16';
}
export const LARGEST: Extreme = { ofFour: 'largestOfFour', by4: 'largestBy4', by16: 'largestBy16' };
export const SMALLEST: Extreme = { ofFour: 'smallestOfFour', by4: 'smallestBy4', by16: 'smallestBy16' };

function rollingExtreme(
  extreme: Extreme,
  source: Float64Array,
  first: number,
  length: number,
  out: Float64Array,
): void {
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
  { ofFour, by4, by16 }: Extreme,
  source: Float64Array,
  start: number,
  cell: number,
  rows: number,
  length: number,
  place?: Place,
): void {
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
