// Zero: the two tests by which TA-Lib treats a rounding residue as zero.

/** TA-Lib's epsilon. A fixed band carries a unit: use it on ratios and on what TA-Lib itself tests so. */
export const EPSILON = 1e-14;

export const isZero = (value: number): boolean => value > -EPSILON && value < EPSILON;
/** Whether a difference of numbers of that size is only rounding. */
export const isZeroBeside = (value: number, scale: number): boolean => Math.abs(value) <= EPSILON * scale;
