// Extremes of a moving window: the highest and lowest values, and the rows they stand on.
import { simd, simdMemory } from './simd/simd.ts';

/** out[row] = the highest of source[row-length+1 … row], the latest of equals, for rows first+length-1 … n-1. */
export function rollingMax(source: Float64Array, first: number, length: number, out: Float64Array): void {
  rollingExtreme('largestOfFour', source, first, length, out);
}

/** out[row] = the lowest of source[row-length+1 … row], the latest of equals, for rows first+length-1 … n-1. */
export function rollingMin(source: Float64Array, first: number, length: number, out: Float64Array): void {
  rollingExtreme('smallestOfFour', source, first, length, out);
}

/**
 * Windows of 1, 4, 16, … rows, each the extreme of four beside each other, up to the four that overlap to `length`:
 * a few passes without a branch, over a block that stays in the cache. A scan for the extreme branches on prices, which
 * no processor predicts: it takes up to ten times as long (bench/indicators.ts).
 */
function rollingExtreme(
  of: 'largestOfFour' | 'smallestOfFour',
  source: Float64Array,
  first: number,
  length: number,
  out: Float64Array,
): void {
  const n = source.length;
  // Long windows need long blocks: the rows of a window before a block are computed again.
  const block = Math.max(BLOCK, 4 * length);
  const { values } = simdMemory((block + length + PAD) * 8);
  for (let start = first; start + length <= n; start += block) {
    const rows = Math.min(block, n - length + 1 - start);
    values.set(source.subarray(start, start + rows + length - 1));
    // Cell i holds the extreme of `width` rows from start + i on.
    let width = 1;
    for (; width * 4 <= length; width *= 4)
      simd[of](0, width * 8, width * 16, width * 24, sizeOf(rows + length - 4 * width));
    const last = length - width;
    if (last > 0) simd[of](0, Math.min(width, last) * 8, Math.min(2 * width, last) * 8, last * 8, sizeOf(rows));
    out.set(values.subarray(0, rows), start + length - 1);
  }
}

/** Rows of a block, which fit the first cache twice. */
const BLOCK = 2048;
/** Cells behind the last row that a kernel may read and write. */
const PAD = 8;
const sizeOf = (rows: number): number => Math.ceil(rows / PAD) * PAD * 8;

/** Up to this length, scanning a window whose extreme has left it is cheaper than keeping its candidates in order. */
const MAX_SCANNED = 32;

/**
 * The row of the highest value. A new value equal to the highest wins. When the highest leaves the window, the latest
 * of equal values wins if `isLatest` (Aroon), else the earliest (TA-Lib's MAXINDEX).
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

/** The row of the lowest value; ties are settled as for the highest. */
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
 * The same in constant time per row whatever the length. The queue holds the rows that may yet become the highest,
 * their values descending; its head is what a scan of the window would find.
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
