// Sums over daily returns, each compensated and in the order of the days, and over their third and fourth powers.
import { lostIn } from '../kernels/compensatedSum.ts';

export interface ReturnSums {
  readonly total: number;
  /** Σmax(r,0), -Σmin(r,0) and Σmin(r,0)². */
  readonly gains: number;
  readonly losses: number;
  readonly squaredLosses: number;
  /** Σ(mark/peak - 1)², the initial balance being the first peak. */
  readonly squaredFalls: number;
}

/** Writes the returns, mark / mark before - 1, the first against the initial balance; 0 where nothing was left. */
export function returnSums(marks: Float64Array, returns: Float64Array, initialBalance: number): ReturnSums {
  let total = 0;
  let gains = 0;
  let losses = 0;
  let squaredLosses = 0;
  let squaredFalls = 0;
  let lostTotal = 0;
  let lostGains = 0;
  let lostLosses = 0;
  let lostSquaredLosses = 0;
  let lostSquaredFalls = 0;
  let before = initialBalance;
  let peak = initialBalance;
  for (let day = 0; day < marks.length; day++) {
    const mark = marks[day];
    const change = before > 0 ? mark / before - 1 : 0;
    returns[day] = change;
    before = mark;
    if (mark > peak) peak = mark;
    const fall = mark / peak - 1;
    let next = squaredFalls + fall * fall;
    lostSquaredFalls += lostIn(squaredFalls, fall * fall, next);
    squaredFalls = next;
    next = total + change;
    lostTotal += lostIn(total, change, next);
    total = next;
    if (change > 0) {
      next = gains + change;
      lostGains += lostIn(gains, change, next);
      gains = next;
    } else if (change < 0) {
      next = losses - change;
      lostLosses += lostIn(losses, -change, next);
      losses = next;
      next = squaredLosses + change * change;
      lostSquaredLosses += lostIn(squaredLosses, change * change, next);
      squaredLosses = next;
    }
  }
  return {
    total: total + lostTotal,
    gains: gains + lostGains,
    losses: losses + lostLosses,
    squaredLosses: squaredLosses + lostSquaredLosses,
    squaredFalls: squaredFalls + lostSquaredFalls,
  };
}

/** Sums of the second, third and fourth powers of value - center, as `**` gives them. */
export interface PowerSums {
  readonly second: number;
  readonly third: number;
  readonly fourth: number;
  /** The sum of (value - center)·(other - its center). */
  readonly product: number;
}

/** @param others as many values, which have another center; absent: there is no sum of products */
export function powerSums(
  values: ArrayLike<number>,
  center: number,
  others: ArrayLike<number> | null = null,
  otherCenter = 0,
): PowerSums {
  let second = 0;
  let third = 0;
  let fourth = 0;
  let product = 0;
  let lostSecond = 0;
  let lostThird = 0;
  let lostFourth = 0;
  let lostProduct = 0;
  let value = NaN;
  let cube = NaN;
  let fourthOfValue = NaN;
  for (let index = 0; index < values.length; index++) {
    const before = value;
    value = values[index] - center;
    // Days without a position all have the same return.
    if (value !== before) {
      cube = thirdPower(value);
      fourthOfValue = fourthPower(value);
    }
    let next = second + value * value;
    lostSecond += lostIn(second, value * value, next);
    second = next;
    next = third + cube;
    lostThird += lostIn(third, cube, next);
    third = next;
    next = fourth + fourthOfValue;
    lostFourth += lostIn(fourth, fourthOfValue, next);
    fourth = next;
    if (others === null) continue;
    const term = value * (others[index] - otherCenter);
    next = product + term;
    lostProduct += lostIn(product, term, next);
    product = next;
  }
  return {
    second: second + lostSecond,
    third: third + lostThird,
    fourth: fourth + lostFourth,
    product: product + lostProduct,
  };
}

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
