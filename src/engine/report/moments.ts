// Moments and quantiles of a list of numbers; null where a list is too short for them.
import { compensatedSum } from '../kernels/compensatedSum.ts';
import { cubeOf, fourthPowerOf } from '../kernels/powers.ts';
import { least, selectRank } from '../kernels/select.ts';

export const mean = (values: ArrayLike<number>): number | null =>
  values.length === 0 ? null : compensatedSum(values) / values.length;

/** Sums of the second, third and fourth powers of value - center. */
export interface CentralSums {
  readonly second: number;
  readonly third: number;
  readonly fourth: number;
}

/**
 * Each is compensated as in `compensatedSum`; in one pass without allocation: with `let [a, b] = [0, 0]`, V8 would
 * allocate every number that the loop assigns.
 */
export function centralSums(values: ArrayLike<number>, center: number): CentralSums {
  let second = 0;
  let third = 0;
  let fourth = 0;
  let lost2 = 0;
  let lost3 = 0;
  let lost4 = 0;
  let value = 0;
  let square = 0;
  let cube = 0;
  let power4 = 0;
  for (let index = 0; index < values.length; index++) {
    const next = values[index] - center;
    // Days without a position all have the same return.
    if (next !== value) {
      value = next;
      square = value * value;
      cube = cubeOf(value);
      power4 = fourthPowerOf(value);
    }
    const next2 = second + square;
    lost2 += second >= square ? second - next2 + square : square - next2 + second;
    second = next2;
    const next3 = third + cube;
    lost3 += Math.abs(third) >= Math.abs(cube) ? third - next3 + cube : cube - next3 + third;
    third = next3;
    const next4 = fourth + power4;
    lost4 += fourth >= power4 ? fourth - next4 + power4 : power4 - next4 + fourth;
    fourth = next4;
  }
  return { second: second + lost2, third: third + lost3, fourth: fourth + lost4 };
}

/** Compensated sum of (a - meanA)·(b - meanB). */
function productSum(a: ArrayLike<number>, meanA: number, b: ArrayLike<number>, meanB: number): number {
  let total = 0;
  let lost = 0;
  for (let index = 0; index < a.length; index++) {
    const value = (a[index] - meanA) * (b[index] - meanB);
    const next = total + value;
    lost += Math.abs(total) >= Math.abs(value) ? total - next + value : value - next + total;
    total = next;
  }
  return total + lost;
}

/** Divisor n - ddof. */
export function standardDeviation(
  values: ArrayLike<number>,
  ddof = 1,
  center: number | null = mean(values),
): number | null {
  if (values.length <= ddof || center === null) return null;
  return Math.sqrt(productSum(values, center, values, center) / (values.length - ddof));
}

/** Sample covariance of two lists with these means, divisor n - 1. */
export function covariance(
  a: ArrayLike<number>,
  meanA: number | null,
  b: ArrayLike<number>,
  meanB: number | null,
): number | null {
  return a.length < 2 || meanA === null || meanB === null ? null : productSum(a, meanA, b, meanB) / (a.length - 1);
}

/** Population skewness g1 and raw kurtosis m4/m2² (3 for a normal distribution). */
export interface Shape {
  readonly skew: number;
  readonly kurtosis: number;
}

/** null for an empty list, or one of equal values. */
export function populationShape(values: ArrayLike<number>): Shape | null {
  const center = mean(values);
  return center === null ? null : shapeOf(centralSums(values, center), values.length);
}

/** The same from the sums over n > 0 values; null when all are equal. */
export function shapeOf({ second, third, fourth }: CentralSums, n: number): Shape | null {
  const variance = second / n;
  if (variance === 0) return null;
  return { skew: third / n / variance ** 1.5, kurtosis: fourth / n / variance ** 2 };
}

/** Bias-corrected sample skewness G1 of n values (pandas' skew; Joanes and Gill 1998). */
export const sampleSkew = (shape: Shape | null, n: number): number | null =>
  shape === null || n < 3 ? null : (shape.skew * Math.sqrt(n * (n - 1))) / (n - 2);

/** Bias-corrected excess kurtosis G2 of n values (pandas' kurt). */
export const sampleExcessKurtosis = (shape: Shape | null, n: number): number | null =>
  shape === null || n < 4 ? null : ((n - 1) / ((n - 2) * (n - 3))) * ((n + 1) * (shape.kurtosis - 3) + 6);

/** Linear between neighbors, of values in ascending order (numpy's default). */
export function percentile(ascending: ArrayLike<number>, percent: number): number | null {
  if (ascending.length === 0) return null;
  const rank = (percent / 100) * (ascending.length - 1);
  const below = Math.floor(rank);
  const above = Math.min(below + 1, ascending.length - 1);
  return ascending[below] + (ascending[above] - ascending[below]) * (rank - below);
}

/** The same of values in any order, which it reorders; none of the first `lowest` may be larger than any other. */
export function percentileOf(values: Float64Array, percent: number, lowest = 0): number | null {
  if (values.length === 0) return null;
  const rank = (percent / 100) * (values.length - 1);
  const below = Math.floor(rank);
  selectRank(values, below, Math.min(lowest, below));
  const low = values[below];
  const high = below + 1 < values.length ? least(values, below + 1, values.length) : low;
  return low + (high - low) * (rank - below);
}
