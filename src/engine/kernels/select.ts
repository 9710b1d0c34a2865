// Selection: the value at a rank without sorting the others.

/** Fewer values than this are sorted, which is quicker. */
const SORTED_LENGTH = 24;

/** Of more values than this, the pivot is selected from a sample: worth its cost from a few hundred on. */
const SAMPLED_LENGTH = 600;

/**
 * Reorders values [from, to) so that the one at index `rank` stands where sorting would put it, none before it is
 * larger and none after it is smaller (Hoare's quickselect). No value is NaN. The pivot is the median of three, or, as
 * Floyd and Rivest have it, of a sample: then one pass leaves few values, and its branches are mostly predicted where
 * the rank is near an end.
 */
export function selectRank(values: Float64Array, rank: number, from = 0, to = values.length): void {
  let first = from;
  let last = to - 1;
  while (last - first >= SORTED_LENGTH) {
    if (last - first >= SAMPLED_LENGTH) selectSample(values, rank, first, last);
    const pivot =
      last - first >= SAMPLED_LENGTH
        ? values[rank]
        : medianOf(values[first], values[(first + last) >>> 1], values[last]);
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

/**
 * Selects the rank in a sample of the values around it, so large that the result is near the value at this rank among
 * all.
 */
function selectSample(values: Float64Array, rank: number, first: number, last: number): void {
  const length = last - first + 1;
  const place = rank - first + 1;
  const logLength = Math.log(length);
  const size = 0.5 * Math.exp((2 * logLength) / 3);
  const shift = 0.5 * Math.sqrt((logLength * size * (length - size)) / length) * Math.sign(place - length / 2);
  const from = Math.max(first, Math.floor(rank - (place * size) / length + shift));
  const to = Math.min(last, Math.floor(rank + ((length - place) * size) / length + shift));
  selectRank(values, rank, from, to + 1);
}

const medianOf = (a: number, b: number, c: number): number =>
  a < b ? (b < c ? b : a < c ? c : a) : a < c ? a : b < c ? c : b;

/** The least of values [from, to); Infinity when there is none. */
export function least(values: Float64Array, from: number, to: number): number {
  let found = Infinity;
  for (let index = from; index < to; index++) if (values[index] < found) found = values[index];
  return found;
}
