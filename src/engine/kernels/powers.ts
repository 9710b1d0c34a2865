// Third and fourth powers, to the last bit as `**` gives them and in a third of its time.

/** Splits a double into two halves of 26 bits (Veltkamp). */
const SPLITTER = 2 ** 27 + 1;
const HALF_ULP = 2 ** -53;
/**
 * `**` is off by less than 0.52 units in the last place. Where the exact power is farther than this from the middle
 * between two doubles, the nearer one is therefore what `**` gives.
 */
const SURE = 0.45;
/** Below this the errors of the products are too small for a double. */
const LEAST = 1e-60;
const GREATEST = 1e60;

export function cubeOf(value: number): number {
  const square = value * value;
  const upper = upperHalf(value);
  const lower = value - upper;
  const squareUpper = upperHalf(square);
  const squareLower = square - squareUpper;
  const squareError = upper * upper - square + 2 * upper * lower + lower * lower;
  const product = square * value;
  const error =
    squareUpper * upper -
    product +
    squareUpper * lower +
    squareLower * upper +
    squareLower * lower +
    squareError * value;
  const power = product + error;
  return isSure(value, power, error - (power - product)) ? power : value ** 3;
}

export function fourthPowerOf(value: number): number {
  const square = value * value;
  const upper = upperHalf(value);
  const lower = value - upper;
  const squareUpper = upperHalf(square);
  const squareLower = square - squareUpper;
  const squareError = upper * upper - square + 2 * upper * lower + lower * lower;
  const product = square * square;
  const error =
    squareUpper * squareUpper -
    product +
    2 * squareUpper * squareLower +
    squareLower * squareLower +
    2 * square * squareError;
  const power = product + error;
  return isSure(value, power, error - (power - product)) ? power : value ** 4;
}

function upperHalf(value: number): number {
  const scaled = SPLITTER * value;
  return scaled - (scaled - value);
}

/** Whether the exact power, `rest` away from its rounded value, is far from the middle to the next double. */
function isSure(value: number, power: number, rest: number): boolean {
  const size = Math.abs(value);
  const ulp = Math.abs(power + power * HALF_ULP - power);
  return size > LEAST && size < GREATEST && Math.abs(rest) < SURE * ulp;
}
