// Moments and quantiles of a list of numbers; null where a list is too short for them.

/** Neumaier's compensated sum. */
export function sum(values: ArrayLike<number>): number {
  let total = 0;
  let lost = 0;
  for (let index = 0; index < values.length; index++) {
    const value = values[index];
    const next = total + value;
    lost += Math.abs(total) >= Math.abs(value) ? total - next + value : value - next + total;
    total = next;
  }
  return total + lost;
}

export const mean = (values: ArrayLike<number>): number | null =>
  values.length === 0 ? null : sum(values) / values.length;

/** Sum of |value - mean|^power. */
function centralSum(values: ArrayLike<number>, center: number, power: number): number {
  const parts = new Float64Array(values.length);
  for (let index = 0; index < values.length; index++) parts[index] = (values[index] - center) ** power;
  return sum(parts);
}

/** Divisor n - ddof. */
export function standardDeviation(values: ArrayLike<number>, ddof = 1): number | null {
  if (values.length <= ddof) return null;
  return Math.sqrt(centralSum(values, mean(values)!, 2) / (values.length - ddof));
}

/** Sample covariance, divisor n - 1. */
export function covariance(a: ArrayLike<number>, b: ArrayLike<number>): number | null {
  if (a.length < 2) return null;
  const [meanA, meanB] = [mean(a)!, mean(b)!];
  const parts = new Float64Array(a.length);
  for (let index = 0; index < a.length; index++) parts[index] = (a[index] - meanA) * (b[index] - meanB);
  return sum(parts) / (a.length - 1);
}

/** Population skewness g1 and raw kurtosis m4/m2² (3 for a normal distribution). */
export function populationShape(values: ArrayLike<number>): { skew: number; kurtosis: number } | null {
  const n = values.length;
  if (n === 0) return null;
  const center = mean(values)!;
  const variance = centralSum(values, center, 2) / n;
  if (variance === 0) return null;
  return {
    skew: centralSum(values, center, 3) / n / variance ** 1.5,
    kurtosis: centralSum(values, center, 4) / n / variance ** 2,
  };
}

/** Bias-corrected sample skewness G1 (pandas' skew; Joanes and Gill 1998). */
export function sampleSkew(values: ArrayLike<number>): number | null {
  const n = values.length;
  const shape = n < 3 ? null : populationShape(values);
  return shape === null ? null : (shape.skew * Math.sqrt(n * (n - 1))) / (n - 2);
}

/** Bias-corrected excess kurtosis G2 (pandas' kurt). */
export function sampleExcessKurtosis(values: ArrayLike<number>): number | null {
  const n = values.length;
  const shape = n < 4 ? null : populationShape(values);
  return shape === null ? null : ((n - 1) / ((n - 2) * (n - 3))) * ((n + 1) * (shape.kurtosis - 3) + 6);
}

/** Linear between neighbours, of values in ascending order (numpy's default). */
export function percentile(ascending: ArrayLike<number>, percent: number): number | null {
  if (ascending.length === 0) return null;
  const rank = (percent / 100) * (ascending.length - 1);
  const below = Math.floor(rank);
  const above = Math.min(below + 1, ascending.length - 1);
  return ascending[below] + (ascending[above] - ascending[below]) * (rank - below);
}
