// Daily returns with their sums, and their lowest and highest values (powerSums.wat): the slowest statistics of a small
// run. Every sum is compensated, with the same bits as `compensatedSum`.
import { selectRank } from '../select.ts';
import { compileModule } from './simdMemory.ts';
import { PAGE_BYTES } from './sharedMemory.ts';
import { POWERSUMS_WASM } from './wasm.ts';

interface MomentKernels {
  readonly returnSums: (marks: number, returns: number, count: number) => void;
  readonly powerSums: (values: number, others: number, count: number) => void;
  readonly gatherLarge: (values: number, count: number, out: number) => void;
  readonly gatherBuckets: (values: number, count: number, wanted: number, out: number) => void;
}

/** A memory of its own, because the days of a run stay in it from one kernel to the next. */
const memory = new WebAssembly.Memory({ initial: 2 });
let values = new Float64Array(memory.buffer);
let integers = new Int32Array(memory.buffer);

const kernels = new WebAssembly.Instance(compileModule(POWERSUMS_WASM), {
  host: { memory, pow: Math.pow },
}).exports as unknown as MomentKernels;

/** Where the days of a run begin, after the arguments and results and what `gatherBuckets` keeps of 512 buckets. */
const DAYS = 64 + 4 * 512;
/** Where the lists of one call after the other begin, after those days. */
let lists = DAYS;
/** What a list of `count` values takes, with room for one more: kernels read and write two values at a time. */
const bytesOf = (count: number): number => 16 * ((count >> 1) + 1);
/** The most lists that one call needs. */
const MOST_LISTS = 3;

/** Makes room for the lists of one call, `count` values each. Growth detaches every earlier view of the memory. */
function reserve(count: number): void {
  const missing = lists + MOST_LISTS * bytesOf(count) - memory.buffer.byteLength;
  if (missing <= 0) return;
  memory.grow(Math.ceil(missing / PAGE_BYTES));
  values = new Float64Array(memory.buffer);
  integers = new Int32Array(memory.buffer);
}

const partOf = (at: number, length: number): Float64Array => values.subarray(at / 8, at / 8 + length);

/** The address of a list: where it lies in the memory, or else where it is copied to. */
function addressOf(list: ArrayLike<number>, copy: number): number {
  if (list instanceof Float64Array && list.buffer === memory.buffer) return list.byteOffset;
  values.set(list, copy / 8);
  return copy;
}

/** The days of a run, where the kernels read them. */
interface DayColumns {
  readonly marks: Float64Array;
  readonly returns: Float64Array;
}

/** Columns with undefined contents, valid until the next call, or until another function gets a longer list. */
export function dayColumns(days: number): DayColumns {
  const returns = DAYS + bytesOf(days);
  lists = returns + bytesOf(days);
  reserve(days);
  return { marks: partOf(DAYS, days), returns: partOf(returns, days) };
}

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
export function returnSums({ marks, returns }: DayColumns, initialBalance: number): ReturnSums {
  values[0] = initialBalance;
  kernels.returnSums(marks.byteOffset, returns.byteOffset, marks.length);
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
  reserve(count);
  const listAt = addressOf(list, lists);
  const othersAt = addressOf(others, lists + bytesOf(count));
  values[0] = center;
  values[1] = otherCenter;
  kernels.powerSums(listAt, othersAt, count);
  return { second: values[2], third: values[3], fourth: values[4], product: values[5] };
}

/** The lowest and the highest values of a list, at least as many of each as were asked for, in ascending order. */
interface Ends {
  readonly lowest: Float64Array;
  readonly highest: Float64Array;
}

/**
 * The lowest and the highest values of a list without -0; the result is valid until the next kernel runs.
 * @param wanted at most as many as there are
 * @param size a distance from 0 that both ends are likely to lie beyond: values closer to 0 are then read only once
 */
export function endsOf(list: Float64Array, wanted: number, size = 0): Ends {
  let count = list.length;
  reserve(count);
  const bytes = bytesOf(count);
  let from = addressOf(list, lists);
  if (size > 0) {
    values[0] = size;
    values[from / 8 + count] = 0;
    kernels.gatherLarge(from, count, lists + bytes);
    const negative = integers[0];
    const large = integers[1];
    if (negative >= wanted && large - negative >= wanted) {
      from = lists + bytes;
      count = large;
    }
  }
  const gathered = lists + 2 * bytes;
  kernels.gatherBuckets(from, count, wanted, gathered);
  return sortedEnds(partOf(gathered, count), wanted, integers[0], integers[1]);
}

/**
 * The ends of values that are in the order of their buckets: the first buckets end before index `lowestEnd`, the last
 * begin at `highestBegin`.
 */
function sortedEnds(values: Float64Array, wanted: number, lowestEnd: number, highestBegin: number): Ends {
  const count = values.length;
  let end = lowestEnd;
  let begin = highestBegin;
  // Where most values share a bucket, as tiny ones do, sorting them all would take longest of all.
  if (end > MOST_SORTED * wanted) {
    selectRank(values, wanted - 1, 0, end);
    end = wanted;
  }
  if (count - begin > MOST_SORTED * wanted && end <= count - wanted) {
    selectRank(values, count - wanted, Math.max(begin, end), count);
    begin = count - wanted;
  }
  return { lowest: nearlySorted(values.subarray(0, end)), highest: nearlySorted(values.subarray(begin)) };
}

/** Up to this many times the wanted number of values, sorting is faster than selecting. */
const MOST_SORTED = 2;

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
