// Unit circle: sines and cosines of the steps around one cycle, rounded correctly.

/** Steps around a circle of `bars` bars; sine[i] and cosine[i] are of the double nearest to i·2π/bars. */
interface Circle {
  readonly sine: Float64Array;
  readonly cosine: Float64Array;
}

/** The longest cycle the Hilbert transform reports is 50 bars. */
const circles: (Circle | undefined)[] = [];
const FRACTION_BITS = 200n;
const ONE = 1n << FRACTION_BITS;
const SCALE = 2 ** -100;

/**
 * The circle of `bars` steps, made once. On a flat series the Fourier sums over it consist only of the rounding errors
 * of its terms, and a phase is read from them: with Math.sin, which is off by an ulp here and there, the phase would
 * differ from TA-Lib's.
 */
export function circleOf(bars: number): Circle {
  const known = circles[bars];
  if (known !== undefined) return known;
  const angles = Float64Array.from({ length: bars }, (_, i) => (i * (Math.atan(1) * 8)) / bars);
  const circle = { sine: angles.map((angle) => series(angle, 1)), cosine: angles.map((angle) => series(angle, 0)) };
  circles[bars] = circle;
  return circle;
}

/**
 * Taylor's series of the sine (from power 1) or cosine (from power 0) in 200-bit fixed point, rounded once at the end.
 */
function series(angle: number, power: 0 | 1): number {
  const x = fixed(angle);
  const square = (x * x) >> FRACTION_BITS;
  let term = power === 1 ? x : ONE;
  let sum = 0n;
  for (let k = BigInt(power); term !== 0n && term !== -1n; k += 2n) {
    sum += term;
    term = -((term * square) >> FRACTION_BITS) / ((k + 1n) * (k + 2n));
  }
  return Number(sum) * SCALE * SCALE;
}

/** A double is a whole multiple of 2^-1074; angles here are multiples of 2^-60 at the finest. */
const fixed = (value: number): bigint => BigInt(value * 2 ** 60) << (FRACTION_BITS - 60n);
