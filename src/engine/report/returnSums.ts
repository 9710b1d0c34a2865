// Sums over daily returns, each compensated and in the order of the days.
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
  const total = new CompensatedSum();
  const gains = new CompensatedSum();
  const losses = new CompensatedSum();
  const squaredLosses = new CompensatedSum();
  const squaredFalls = new CompensatedSum();
  let before = initialBalance;
  let peak = initialBalance;
  for (let day = 0; day < marks.length; day++) {
    const mark = marks[day];
    const change = before > 0 ? mark / before - 1 : 0;
    returns[day] = change;
    before = mark;
    if (mark > peak) peak = mark;
    const fall = mark / peak - 1;
    squaredFalls.add(fall * fall);
    total.add(change);
    if (change > 0) gains.add(change);
    else if (change < 0) {
      losses.add(-change);
      squaredLosses.add(change * change);
    }
  }
  return {
    total: total.value,
    gains: gains.value,
    losses: losses.value,
    squaredLosses: squaredLosses.value,
    squaredFalls: squaredFalls.value,
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
  const second = new CompensatedSum();
  const third = new CompensatedSum();
  const fourth = new CompensatedSum();
  const product = new CompensatedSum();
  let value = NaN;
  let cube = NaN;
  let fourthPower = NaN;
  for (let index = 0; index < values.length; index++) {
    const before = value;
    value = values[index] - center;
    // Days without a position all have the same return.
    if (value !== before) {
      cube = value ** 3;
      fourthPower = value ** 4;
    }
    second.add(value * value);
    third.add(cube);
    fourth.add(fourthPower);
    if (others !== null) product.add(value * (others[index] - otherCenter));
  }
  return { second: second.value, third: third.value, fourth: fourth.value, product: product.value };
}

/** For sums that one loop adds to side by side. */
class CompensatedSum {
  #total = 0;
  #lost = 0;

  add(value: number): void {
    const next = this.#total + value;
    this.#lost += lostIn(this.#total, value, next);
    this.#total = next;
  }

  get value(): number {
    return this.#total + this.#lost;
  }
}
