// The normal distribution, to double precision.

/**
 * Φ(x), the standard normal distribution function: the Taylor-like series of Marsaglia (2004, "Evaluating the normal
 * distribution") near the middle, Lentz's continued fraction of the Mills ratio in the tails.
 */
export function normalCdf(x: number): number {
  if (x !== x) return NaN;
  if (x < -38) return 0;
  if (x > 38) return 1;
  const density = Math.exp(-0.5 * x * x) / Math.sqrt(2 * Math.PI);
  if (Math.abs(x) < 4) {
    let term = x;
    let sum = x;
    for (let odd = 3; Math.abs(term) > 1e-17 * Math.abs(sum); odd += 2) {
      term *= (x * x) / odd;
      sum += term;
    }
    return 0.5 + sum * density;
  }
  const tail = Math.abs(x);
  let fraction = 0;
  for (let level = 200; level >= 1; level--) fraction = level / (tail + fraction);
  const mills = density / (tail + fraction);
  return x < 0 ? mills : 1 - mills;
}

/** Φ⁻¹(p): Acklam's rational approximation (relative error 1.2e-9), refined by one step of Halley's method on Φ. */
export function normalQuantile(p: number): number {
  if (!(p > 0 && p < 1)) return p === 0 ? -Infinity : p === 1 ? Infinity : NaN;
  const guess = acklam(p);
  const error = normalCdf(guess) - p;
  const step = error * Math.sqrt(2 * Math.PI) * Math.exp((guess * guess) / 2);
  return guess - step / (1 + (guess * step) / 2);
}

const A = [
  -39.69683028665376, 220.9460984245205, -275.9285104469687, 138.357751867269, -30.66479806614716, 2.506628277459239,
];
const B = [-54.47609879822406, 161.5858368580409, -155.6989798598866, 66.80131188771972, -13.28068155288572];
const C = [
  -0.007784894002430293, -0.3223964580411365, -2.400758277161838, -2.549732539343734, 4.374664141464968,
  2.938163982698783,
];
const D = [0.007784695709041462, 0.3224671290700398, 2.445134137142996, 3.754408661907416];
const horner = (coefficients: readonly number[], x: number): number =>
  coefficients.reduce((sum, coefficient) => sum * x + coefficient, 0);

function acklam(p: number): number {
  const low = 0.02425;
  if (p < low) {
    const q = Math.sqrt(-2 * Math.log(p));
    return horner(C, q) / (horner(D, q) * q + 1);
  }
  if (p > 1 - low) return -acklam(1 - p);
  const q = p - 0.5;
  const r = q * q;
  return (horner(A, r) * q) / (horner(B, r) * r + 1);
}
