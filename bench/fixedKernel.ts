// The fixed kernel: the loop beside which the cost of every task is stored. It must never change, or the stored costs
// compare with another one.

export const FIXED_KERNEL = 'fixed kernel';

const ROWS = 10_000;
const source = Float64Array.from({ length: ROWS }, (_, row) => 100 + ((row * 7_919) % 1_000) / 100);
const out = new Float64Array(ROWS);

/** A recurrence, a comparison that the branch predictor cannot learn, and a store per row: about what our loops do. */
export function fixedKernel(): number {
  let average = source[0];
  let crossings = 0;
  for (let row = 0; row < ROWS; row++) {
    average += (source[row] - average) * 0.125;
    if (source[row] > average) crossings++;
    out[row] = average;
  }
  return crossings;
}
