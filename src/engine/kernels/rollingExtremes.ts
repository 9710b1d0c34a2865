// Extremes of a moving window: the highest and lowest values, and the rows they stand on.
import { Accelerator } from './accelerator.ts';

/** What writes `rollingMax` and `rollingMin` faster. */
export const EXTREMES = new Accelerator<
  (end: 'largest' | 'smallest', source: Float64Array, first: number, length: number, out: Float64Array) => true
>();

/** out[row] = the highest of source[row-length+1 … row], the latest of equals, for rows first+length-1 … n-1. */
export function rollingMax(source: Float64Array, first: number, length: number, out: Float64Array): void {
  if (EXTREMES.current?.('largest', source, first, length, out)) return;
  rollingMaxIndex(source, first, length, out);
  for (let row = first + length - 1; row < source.length; row++) out[row] = source[out[row]];
}

/** out[row] = the lowest of source[row-length+1 … row], the latest of equals, for rows first+length-1 … n-1. */
export function rollingMin(source: Float64Array, first: number, length: number, out: Float64Array): void {
  if (EXTREMES.current?.('smallest', source, first, length, out)) return;
  rollingMinIndex(source, first, length, out);
  for (let row = first + length - 1; row < source.length; row++) out[row] = source[out[row]];
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
