// Extremes of a moving window: the highest and lowest values, and the rows they stand on.

/**
 * Van Herk and Gil-Werman: blocks as long as the window; a window is the end of one block and the beginning of the
 * next, whose extremes are carried backward and forward. Three comparisons per row whatever the length, nearly all of
 * them predictable.
 */
export function rollingMax(source: Float64Array, first: number, length: number, out: Float64Array): void {
  const n = source.length;
  const suffix = new Float64Array(length);
  for (let block = first; block < n; block += length) {
    const size = Math.min(length, n - block);
    let best = source[block];
    if (block > first) {
      for (let i = 0; i < size - 1; i++) {
        const value = source[block + i];
        if (value > best) best = value;
        const before = suffix[i + 1];
        out[block + i] = before > best ? before : best;
      }
    } else {
      for (let i = 0; i < size - 1; i++) if (source[block + i] > best) best = source[block + i];
    }
    if (source[block + size - 1] > best) best = source[block + size - 1];
    if (size === length) out[block + size - 1] = best;
    else if (block > first) out[block + size - 1] = suffix[size] > best ? suffix[size] : best;
    else return;
    best = source[block + size - 1];
    for (let i = size - 1; i >= 0; i--) {
      const value = source[block + i];
      if (value > best) best = value;
      suffix[i] = best;
    }
  }
}

export function rollingMin(source: Float64Array, first: number, length: number, out: Float64Array): void {
  const n = source.length;
  const suffix = new Float64Array(length);
  for (let block = first; block < n; block += length) {
    const size = Math.min(length, n - block);
    let best = source[block];
    if (block > first) {
      for (let i = 0; i < size - 1; i++) {
        const value = source[block + i];
        if (value < best) best = value;
        const before = suffix[i + 1];
        out[block + i] = before < best ? before : best;
      }
    } else {
      for (let i = 0; i < size - 1; i++) if (source[block + i] < best) best = source[block + i];
    }
    if (source[block + size - 1] < best) best = source[block + size - 1];
    if (size === length) out[block + size - 1] = best;
    else if (block > first) out[block + size - 1] = suffix[size] < best ? suffix[size] : best;
    else return;
    best = source[block + size - 1];
    for (let i = size - 1; i >= 0; i--) {
      const value = source[block + i];
      if (value < best) best = value;
      suffix[i] = best;
    }
  }
}

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
