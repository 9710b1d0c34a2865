// Sums without rounding until the end: Shewchuk's non-overlapping partials, as Python's math.fsum keeps them.

/** The sum of finite numbers, rounded once. */
export function exactSum(numbers: readonly number[]): number {
  let partials: number[] = [];
  for (const number of numbers) {
    const kept: number[] = [];
    let x = number;
    for (const partial of partials) {
      const [large, small] = Math.abs(x) < Math.abs(partial) ? [partial, x] : [x, partial];
      const high = large + small;
      const low = small - (high - large);
      if (low !== 0) kept.push(low);
      x = high;
    }
    partials = [...kept, x];
  }
  // Partials do not overlap and grow: adding from the largest down rounds once, up to a tie that the next partial
  // decides.
  return partials.reduceRight((sum, partial) => sum + partial, 0);
}
