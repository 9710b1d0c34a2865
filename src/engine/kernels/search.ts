// Binary search in ascending numbers.

/** The first index whose value is at least `wanted`; `length` when there is none. */
export function lowerBound(ascending: Float64Array | Int32Array, wanted: number, length = ascending.length): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (ascending[middle] < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The first index whose value is above `wanted`; the length when there is none. */
export function upperBound(ascending: Float64Array | Int32Array, wanted: number): number {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (ascending[middle] <= wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}
