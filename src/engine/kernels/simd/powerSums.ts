// Sums over daily returns, and their lowest and highest values (powerSums.wat): what takes longest of the statistics of
// a small run. Every sum is compensated, with the same bits as `compensatedSum`.
import { compileModule, kernelMemory, simdMemory } from './simdMemory.ts';
import { POWERSUMS_WASM } from './wasm.ts';

interface MomentKernels {
  readonly returnSums: (returns: number, equity: number, count: number) => void;
  readonly powerSums: (values: number, others: number, count: number) => void;
  readonly gatherEnds: (values: number, count: number, wanted: number, lowest: number, highest: number) => void;
}

const kernels = new WebAssembly.Instance(compileModule(POWERSUMS_WASM), {
  host: { memory: kernelMemory, pow: Math.pow },
}).exports as unknown as MomentKernels;

/** Where the memory has the first list, behind what goes in and out and what `gatherEnds` keeps of 512 buckets. */
const LISTS = 64 + 3 * 4 * 512;
/** Of a list of so many values; one more may be read, or written before it is overwritten. */
const bytesOf = (count: number): number => 16 * ((count >> 1) + 1);

export interface ReturnSums {
  readonly total: number;
  /** Σmax(r,0), -Σmin(r,0) and Σmin(r,0)². */
  readonly gains: number;
  readonly losses: number;
  readonly squaredLosses: number;
  /** Σ(equity/peak - 1)², the initial balance being the first peak. */
  readonly squaredFalls: number;
}

export function returnSums(returns: Float64Array, equity: Float64Array, initialBalance: number): ReturnSums {
  const count = returns.length;
  const equityAt = LISTS + bytesOf(count);
  const { values } = simdMemory(equityAt + bytesOf(count));
  values.set(returns, LISTS / 8);
  values.set(equity, equityAt / 8);
  values[0] = initialBalance;
  kernels.returnSums(LISTS, equityAt, count);
  return {
    total: values[2],
    gains: values[3],
    losses: values[4],
    squaredLosses: values[5],
    squaredFalls: values[6],
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

/** @param others as many values, which have another center */
export function powerSums(
  list: ArrayLike<number>,
  center: number,
  others: ArrayLike<number> = [],
  otherCenter = 0,
): PowerSums {
  const count = list.length;
  const othersAt = LISTS + bytesOf(count);
  const { values } = simdMemory(othersAt + bytesOf(count));
  values.set(list, LISTS / 8);
  values.set(others, othersAt / 8);
  values[0] = center;
  values[1] = otherCenter;
  kernels.powerSums(LISTS, othersAt, count);
  return { second: values[2], third: values[3], fourth: values[4], product: values[5] };
}

/** At least so many of the lowest and of the highest values, in ascending order. */
export interface Ends {
  readonly lowest: Float64Array;
  readonly highest: Float64Array;
}

/**
 * Holds until the next kernel runs.
 * @param wanted at most as many as there are
 */
export function endsOf(list: Float64Array, wanted: number): Ends {
  const count = list.length;
  const lowest = LISTS + bytesOf(count);
  const highest = lowest + bytesOf(count);
  const { values, integers } = simdMemory(highest + bytesOf(count));
  values.set(list, LISTS / 8);
  kernels.gatherEnds(LISTS, count, wanted, lowest, highest);
  const part = (at: number, length: number): Float64Array => values.subarray(at / 8, at / 8 + length);
  return { lowest: nearlySorted(part(lowest, integers[0])), highest: nearlySorted(part(highest, integers[1])) };
}

/** Most steps per value before `sort` is quicker. */
const MOST_STEPS = 16;

/** Sorts values of which most are near their place: by insertion, in a seventh of the time of `sort`. */
function nearlySorted(values: Float64Array): Float64Array {
  let steps = MOST_STEPS * values.length;
  for (let index = 1; index < values.length; index++) {
    const value = values[index];
    let at = index;
    for (; at > 0 && values[at - 1] > value; at--) values[at] = values[at - 1];
    values[at] = value;
    steps -= index - at;
    if (steps < 0) return values.sort();
  }
  return values;
}
