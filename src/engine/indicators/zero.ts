// Zero: the two tests by which TA-Lib takes a rounding residue for nothing.

/** TA-Lib's epsilon. A fixed band carries a unit: use it on ratios and on what TA-Lib itself tests so. */
export const EPSILON = 1e-14;

export const isZero = (value: number): boolean => value > -EPSILON && value < EPSILON;
/** A difference of numbers of that size which is rounding only. */
export const isZeroBeside = (value: number, scale: number): boolean => Math.abs(value) <= EPSILON * scale;
