// The two sides of a comparison (sides.wat): statistics of the values of one, and rows on which both are near.
import { instantiate, simdMemory } from './simdMemory.ts';
import { SIDES_WASM } from './wasm.ts';

const kernels = instantiate(SIDES_WASM) as {
  readonly valueStats: (count: number) => void;
  readonly nextNear: (row: number, end: number, rightBehindLeft: number) => number;
};

/** Where the values of the left side begin, and how many the kernel reads beyond the last of a side. */
const LEFT = 64;
const ROWS_BEYOND = 3;

/** Statistics of the values that are not missing. */
interface ValueStats {
  readonly count: number;
  /** Infinity without a value. */
  readonly min: number;
  readonly max: number;
  /** Added in their order. */
  readonly total: number;
}

/** How many of the numbers are not NaN, the least, the greatest and the sum of those. */
export function valueStats(list: Float64Array): ValueStats {
  const { values, integers } = simdMemory(LEFT + 8 * (list.length + 1));
  values.set(list, LEFT / 8);
  values[LEFT / 8 + list.length] = NaN;
  kernels.valueStats(list.length);
  // Adding 0 turns -0 into 0.
  return { count: integers[6], min: values[0] + 0, max: values[1] + 0, total: values[2] };
}

/** A copy of both sides on the same rows, NaN where missing; valid until another kernel runs. */
export class Sides {
  readonly #rows: number;
  readonly #values: Float64Array;
  readonly #rightBehindLeft: number;

  constructor(left: Float64Array, right: Float64Array) {
    this.#rows = left.length;
    this.#rightBehindLeft = 8 * (left.length + ROWS_BEYOND);
    this.#values = simdMemory(LEFT + 2 * this.#rightBehindLeft).values;
    this.#values.set(left, LEFT / 8);
    this.#values.set(right, (LEFT + this.#rightBehindLeft) / 8);
  }

  /**
   * The first row from `row` on where |left - right| is at most limit · (|left| + 1e-12); the number of rows if none
   * is.
   */
  nextNear(row: number, limit: number): number {
    this.#values[0] = limit;
    return kernels.nextNear(row, this.#rows, this.#rightBehindLeft);
  }
}
