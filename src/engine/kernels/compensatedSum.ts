// The compensated sum: what each addition loses is summed as well, so that the order of the values changes at most the
// last bit (Kahan and Babuska, as Neumaier has it).

/**
 * What the addition of two numbers has lost: total + value - next, exactly (Knuth's TwoSum, which has no branch).
 * @param next total + value, as rounded
 */
export function lostIn(total: number, value: number, next: number): number {
  const part = next - total;
  return total - (next - part) + (value - part);
}

/** Σ values[first … end-1] */
export function compensatedSum(values: ArrayLike<number>, first = 0, end = values.length): number {
  let total = 0;
  let lost = 0;
  for (let index = first; index < end; index++) {
    const value = values[index];
    const next = total + value;
    lost += lostIn(total, value, next);
    total = next;
  }
  return total + lost;
}
