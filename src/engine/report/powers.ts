// Third and fourth powers, with the bits of `**` in a tenth of its time: a run takes two of each day's return.

/** Splits a double into two halves of 26 bits (Veltkamp). */
const SPLITTER = 134_217_729;

function upperHalf(value: number): number {
  const scaled = value * SPLITTER;
  return scaled - (scaled - value);
}

/** Outside of these, the error of `**` is larger than what `isSure` allows for. */
const LEAST = 1e-9;
const MOST = 1e9;
const isUsual = (value: number): boolean => Math.abs(value) > LEAST && Math.abs(value) < MOST;

/**
 * Whether `**` gives this power: the exact power is `rest` away from it, less than 0.484 units in the last place, and
 * `**` is off by less than 0.515 (glibc's e_pow.c).
 */
const isSure = (power: number, rest: number): boolean => power + rest * 1.033_057_851_239_669_3 === power;

/** What value² loses by rounding, exactly. */
function squareError(value: number, square: number): number {
  const upper = upperHalf(value);
  const lower = value - upper;
  return upper * upper - square + (upper + upper) * lower + lower * lower;
}

/** value ** 3 */
export function thirdPower(value: number): number {
  if (!isUsual(value)) return value ** 3;
  const square = value * value;
  const upper = upperHalf(value);
  const lower = value - upper;
  const squareUpper = upperHalf(square);
  const squareLower = square - squareUpper;
  const rounded = square * value;
  const error =
    squareUpper * upper -
    rounded +
    squareUpper * lower +
    squareLower * upper +
    squareLower * lower +
    squareError(value, square) * value;
  const power = rounded + error;
  return isSure(power, error - (power - rounded)) ? power : value ** 3;
}

/** value ** 4 */
export function fourthPower(value: number): number {
  if (!isUsual(value)) return value ** 4;
  const square = value * value;
  const upper = upperHalf(square);
  const lower = square - upper;
  const rounded = square * square;
  const error =
    upper * upper - rounded + (upper + upper) * lower + lower * lower + (square + square) * squareError(value, square);
  const power = rounded + error;
  return isSure(power, error - (power - rounded)) ? power : value ** 4;
}
