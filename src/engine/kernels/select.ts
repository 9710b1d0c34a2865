// Selection: the value at a rank without sorting the others.

/** Fewer values than this are sorted, which is quicker. */
const SORTED_LENGTH = 24;

/**
 * Reorders values [from, to) so that the one at index `rank` stands where sorting would put it, none before it is
 * larger and none after it is smaller (Hoare's quickselect, the median of three as pivot). No value is NaN.
 */
export function selectRank(values: Float64Array, rank: number, from = 0, to = values.length): void {
  let first = from;
  let last = to - 1;
  while (last - first >= SORTED_LENGTH) {
    const pivot = medianOf(values[first], values[(first + last) >>> 1], values[last]);
    let left = first;
    let right = last;
    while (left <= right) {
      while (values[left] < pivot) left++;
      while (values[right] > pivot) right--;
      if (left > right) break;
      const swapped = values[left];
      values[left++] = values[right];
      values[right--] = swapped;
    }
    // Everything between right and left equals the pivot.
    if (rank <= right) last = right;
    else if (rank >= left) first = left;
    else return;
  }
  values.subarray(first, last + 1).sort();
}

const medianOf = (a: number, b: number, c: number): number =>
  a < b ? (b < c ? b : a < c ? c : a) : a < c ? a : b < c ? c : b;

/** The least of values [from, to); Infinity when there is none. */
export function least(values: Float64Array, from: number, to: number): number {
  let found = Infinity;
  for (let index = from; index < to; index++) if (values[index] < found) found = values[index];
  return found;
}
