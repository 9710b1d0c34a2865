// Tolerances: how far from TA-Lib a number may be, and how differences are measured.

/** |a-b| <= TOLERANCE·max(1, |a|, |b|), unless TA-Lib's own versions differ by more. */
export const TOLERANCE = 1e-9;
const WIDER: Readonly<Record<string, number>> = {
  CORREL: 2e-7,
  LINEARREG_SLOPE: 2e-7,
  LINEARREG_ANGLE: 2e-7,
  BETA: 4e-8,
};

export const toleranceOf = (talib: string): number => WIDER[talib] ?? TOLERANCE;

/** The largest |a-b|/max(1, |a|, |b|) and its row; Infinity where only one of the two is missing. */
export function largestDifference(ours: Float64Array, theirs: Float64Array): { difference: number; row: number } {
  let difference = 0;
  let row = 0;
  for (let i = 0; i < theirs.length; i++) {
    const a = ours[i];
    const b = theirs[i];
    const isMissing = Number.isNaN(a) || Number.isNaN(b);
    const here = isMissing
      ? Number.isNaN(a) === Number.isNaN(b)
        ? 0
        : Infinity
      : a === b
        ? 0
        : Math.abs(a - b) / Math.max(1, Math.abs(a), Math.abs(b));
    if (here > difference) {
      difference = here;
      row = i;
    }
  }
  return { difference, row };
}
