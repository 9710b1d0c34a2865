// The monthly table: the return of each UTC month that has bars.

export interface MonthRow {
  /** YYYY-MM */
  readonly month: string;
  readonly returnPct: number;
  readonly equity: number;
}

/** The months of a range of days. */
export interface Months {
  /** year · 12 + month, counted from 0. */
  readonly numbers: Float64Array;
  readonly names: readonly string[];
  /** The index of the last day of each month that has bars. */
  readonly lastDays: Int32Array;
}

/** Keyed by the days, which the runs of a batch share. */
const known = new WeakMap<Float64Array, Months>();

export function monthsOf(day: Float64Array): Months {
  const found = known.get(day) ?? findMonths(day);
  known.set(day, found);
  return found;
}

function findMonths(day: Float64Array): Months {
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
  return {
    numbers: Float64Array.from(numbers),
    names: numbers.map(monthName),
    lastDays: Int32Array.from(lastDays),
  };
}

/** Formatted by hand because toISOString takes longer than all statistics of a month. */
export const monthName = (number: number): string =>
  `${String(Math.floor(number / 12)).padStart(4, '0')}-${String((number % 12) + 1).padStart(2, '0')}`;

/** Each month's last mark against that of the month before. */
export function monthRows(
  names: readonly string[],
  equity: ArrayLike<number>,
  initialBalance: number,
): readonly MonthRow[] {
  let before = initialBalance;
  return names.map((month, index) => {
    const last = equity[index];
    const returnPct = before > 0 ? last / before - 1 : 0;
    before = last;
    return { month, returnPct, equity: last };
  });
}
