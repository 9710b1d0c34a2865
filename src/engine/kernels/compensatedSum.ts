// Neumaier's compensated sum: the order of the values changes at most the last bit.

/** Σ values[first … end-1] */
export function compensatedSum(values: ArrayLike<number>, first = 0, end = values.length): number {
  let total = 0;
  let lost = 0;
  for (let index = first; index < end; index++) {
    const value = values[index];
    const next = total + value;
    lost += Math.abs(total) >= Math.abs(value) ? total - next + value : value - next + total;
    total = next;
  }
  return total + lost;
}
