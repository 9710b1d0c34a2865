// The monthly table: the return of each UTC month that has bars.
import { KeptByRange } from '../bars/keptByRange.ts';
import { newNumbers } from '../kernels/sharedBuffer.ts';
import { lowerBound } from '../kernels/search.ts';

export interface MonthRow {
  /** YYYY-MM */
  readonly month: string;
  readonly returnPct: number;
  readonly equity: number;
}

/** The months that have bars, of all days of a series or of a range of them. */
export interface Months {
  /** year · 12 + month, with January as 0. Ranges that begin and end in the same months share this array. */
  readonly numbers: Float64Array;
  /** The index of the last day of each month. */
  readonly lastDays: Int32Array;
}

/** Keyed by the days of a range, which the runs of a batch share (bars/days.ts). */
const known = new WeakMap<Float64Array, Months>();
/** The months of all days of a series, keyed by the buffer that the days of its ranges are parts of. */
const whole = new WeakMap<ArrayBufferLike, Months>();
const shared = new KeptByRange<Float64Array, Float64Array>();

/**
 * The calendar months (UTC) of some days.
 * @param day starts of days, ms UTC, ascending: a part of the days of a series (bars/days.ts)
 */
export function monthsOf(day: Float64Array): Months {
  let months = known.get(day);
  if (months === undefined) known.set(day, (months = findMonths(day)));
  return months;
}

function findMonths(day: Float64Array): Months {
  let all = whole.get(day.buffer);
  if (all === undefined) whole.set(day.buffer, (all = findAllMonths(new Float64Array(day.buffer))));
  const firstDay = day.byteOffset / day.BYTES_PER_ELEMENT;
  const lastDay = firstDay + day.length - 1;
  const first = lowerBound(all.lastDays, firstDay);
  const end = day.length === 0 ? first : lowerBound(all.lastDays, lastDay) + 1;
  const numbers = shared.get(all.numbers, first, end, () => all.numbers.subarray(first, end));
  const lastDays = all.lastDays.slice(first, end);
  for (let month = 0; month < lastDays.length; month++) lastDays[month] = Math.min(lastDays[month], lastDay) - firstDay;
  return { numbers, lastDays };
}

function findAllMonths(day: Float64Array): Months {
  const numbers: number[] = [];
  const lastDays: number[] = [];
  for (let index = 0; index < day.length;) {
    const first = new Date(day[index]);
    const year = first.getUTCFullYear();
    const month = first.getUTCMonth();
    const nextMonth = Date.UTC(year, month + 1, 1);
    while (index < day.length && day[index] < nextMonth) index++;
    numbers.push(year * 12 + month);
    lastDays.push(index - 1);
  }
  return { numbers: Float64Array.from(numbers), lastDays: Int32Array.from(lastDays) };
}

const monthName = (number: number): string =>
  `${String(Math.floor(number / 12)).padStart(4, '0')}-${String((number % 12) + 1).padStart(2, '0')}`;

/** The last mark of each month, of the marks of its days. A loop, since `from` with a function takes 140 ns a month. */
export function monthMarks({ lastDays }: Months, equity: Float64Array): Float64Array {
  const marks = newNumbers(lastDays.length);
  for (let month = 0; month < lastDays.length; month++) marks[month] = equity[lastDays[month]];
  return marks;
}

/**
 * Each month's last mark against that of the month before.
 * @param numbers year · 12 + month, with January as 0
 */
export const monthRows = (
  numbers: Float64Array,
  equity: ArrayLike<number>,
  initialBalance: number,
): readonly MonthRow[] =>
  Array.from(numbers, (number, index) => ({
    month: monthName(number),
    returnPct: returnOf(equity[index], index === 0 ? initialBalance : equity[index - 1]),
    equity: equity[index],
  }));

const returnOf = (last: number, before: number): number => (before > 0 ? last / before - 1 : 0);
