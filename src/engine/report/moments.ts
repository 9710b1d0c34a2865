// Moments and quantiles of a list of numbers; null where a list is too short for them.
import { compensatedSum, lostIn } from '../kernels/compensatedSum.ts';
import { least, selectRank } from '../kernels/select.ts';
import { powerSums, type PowerSums } from './returnSums.ts';

/**
 * The most that rounding can add to a return, or to equity as a fraction of its peak: a denominator up to this counts
 * as zero (semantics §5). Equity is rounded about twice, each time by 2^-53 of what the leverage lets it hold. The
 * quotient of two equities is therefore off by up to 4.4e-13 at the highest leverage, 1000. The sums are compensated
 * and add nothing to that.
 */
export const ROUNDING = 1e-12;

/** The arithmetic mean, summed with compensation. */
export const mean = (values: ArrayLike<number>): number | null =>
  values.length === 0 ? null : compensatedSum(values) / values.length;

/** The standard deviation with divisor n - ddof. */
export function standardDeviation(
  values: ArrayLike<number>,
  ddof = 1,
  center: number | null = mean(values),
): number | null {
  const square = variance(values, ddof, center);
  return square === null ? null : Math.sqrt(square);
}

/** The variance with divisor n - ddof. */
export const variance = (values: ArrayLike<number>, ddof: number, center: number | null): number | null =>
  values.length <= ddof || center === null ? null : squareSum(values, center) / (values.length - ddof);

/** Σ(value - center)², compensated. */
function squareSum(values: ArrayLike<number>, center: number): number {
  let total = 0;
  let lost = 0;
  for (let index = 0; index < values.length; index++) {
    const difference = values[index] - center;
    const square = difference * difference;
    const next = total + square;
    lost += lostIn(total, square, next);
    total = next;
  }
  return total + lost;
}

/** Population skewness g1 and raw kurtosis m4/m2² (3 for a normal distribution). */
export interface Shape {
  readonly skew: number;
  readonly kurtosis: number;
}

/** null for an empty list of returns, or when all are equal. */
export function populationShape(values: ArrayLike<number>): Shape | null {
  const center = mean(values);
  return center === null ? null : shapeOf(powerSums(values, center), values.length);
}

/** The shape of n > 0 returns from their power sums; null when all are equal up to rounding. */
export function shapeOf({ second, third, fourth }: PowerSums, n: number): Shape | null {
  const variance = second / n;
  if (variance <= ROUNDING ** 2) return null;
  return { skew: third / n / variance ** 1.5, kurtosis: fourth / n / variance ** 2 };
}

/** Bias-corrected sample skewness G1 of n values (pandas' skew; Joanes and Gill 1998). */
export const sampleSkew = (shape: Shape | null, n: number): number | null =>
  shape === null || n < 3 ? null : (shape.skew * Math.sqrt(n * (n - 1))) / (n - 2);

/** Bias-corrected excess kurtosis G2 of n values (pandas' kurt). */
export const sampleExcessKurtosis = (shape: Shape | null, n: number): number | null =>
  shape === null || n < 4 ? null : ((n - 1) / ((n - 2) * (n - 3))) * ((n + 1) * (shape.kurtosis - 3) + 6);

/**
 * The percentile of values in ascending order, linear between neighbors (numpy's default).
 * @param first the rank of the first value in `ascending`, when those before it are left out
 * @param count how many values there are in all
 */
export function percentile(
  ascending: ArrayLike<number>,
  percent: number,
  first = 0,
  count = ascending.length,
): number | null {
  if (count === 0) return null;
  const rank = (percent / 100) * (count - 1);
  const below = Math.floor(rank);
  const low = ascending[below - first];
  return low + (ascending[Math.min(below + 1, count - 1) - first] - low) * (rank - below);
}

/** `percentile` of values in any order, which it reorders. */
export function percentileOf(values: Float64Array, percent: number): number | null {
  if (values.length === 0) return null;
  const rank = (percent / 100) * (values.length - 1);
  const below = Math.floor(rank);
  selectRank(values, below);
  const low = values[below];
  const high = below + 1 < values.length ? least(values, below + 1, values.length) : low;
  return low + (high - low) * (rank - below);
}
