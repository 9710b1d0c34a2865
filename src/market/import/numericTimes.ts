// Numeric times: which unit a column of numbers counts in, by its steps and its size.
import { DAY_MS, TIMEFRAME_MS } from '../../engine/bars/bars.ts';
import { refuse } from './importError.ts';
import type { RefusalList } from './importError.ts';
import { commonestStep } from './steps.ts';
import type { TimeUnit } from './table.ts';

/** `days` count from 1970, `excel` days from the end of 1899. */
export type NumericUnit = TimeUnit | 'days' | 'excel';

const MS_PER: Readonly<Record<NumericUnit, number>> = {
  ns: 1 / 1_000_000, us: 1 / 1000, ms: 1, s: 1000, days: DAY_MS, excel: DAY_MS,
}; // prettier-ignore
/** 1970-01-01 in Excel, which counts a February 29 in 1900. */
const EXCEL_1970 = 25_569;
/** The bound of each unit: the year 5138 in the unit itself, and 1973 in the next finer one. */
const UNIT_BELOW: readonly (readonly [number, TimeUnit])[] = [
  [1e11, 's'],
  [1e14, 'ms'],
  [1e17, 'us'],
  [Infinity, 'ns'],
];
/** 1980 to 2029 as days since 1970; the same numbers are 1910 to 1959 in Excel. */
const DAYS = { from: 3653, to: 21_915 };
/** The last day of 2118 in Excel. */
const LAST_EXCEL = 80_000;

/** Exact if the result is a whole number of ms. */
export function toMs(value: number, unit: NumericUnit): number {
  if (unit === 'us') return value / 1000;
  if (unit === 'ns') return value / 1_000_000;
  // The fraction of a day is rounded in Excel's cells, to less than a second.
  if (unit === 'excel') return Math.round((value - EXCEL_1970) * 86_400) * 1000;
  return value * MS_PER[unit];
}

/** @throws MarketDataError TIME_UNREADABLE when the numbers may be days of two calendars */
export function unitOf(numbers: Float64Array): NumericUnit {
  let largest = 0;
  let least = Infinity;
  for (const value of numbers) {
    if (Math.abs(value) > largest) largest = Math.abs(value);
    if (value < least) least = value;
  }
  refuseDayNumbers(numbers);
  return unitOfStep(numbers, largest) ?? unitOfDays(least, largest) ?? bySize(largest);
}

/** The unit in which a Unix time of this size lies between 1973 and 5138. */
export const bySize = (largest: number): TimeUnit => UNIT_BELOW.find(([bound]) => largest < bound)![1];

/**
 * The unit in which the commonest step is a stored timeframe: 60 is a minute in s, 60,000 in ms, and no step fits two
 * units. This also works for counters that begin at 0, whose magnitude says nothing. null if no unit fits, or only with
 * times after the year 5138.
 */
function unitOfStep(numbers: Float64Array, largest: number): TimeUnit | null {
  const step = commonestStep(numbers);
  if (step === null) return null;
  const timeframes: readonly number[] = Object.values(TIMEFRAME_MS);
  const fits = UNIT_BELOW.find(([bound, unit]) => largest < bound && timeframes.includes(toMs(step, unit)));
  return fits?.[1] ?? null;
}

/** Refuses numbers such as 31122023, which are dates in an order that they do not show. */
function refuseDayNumbers(numbers: Float64Array): void {
  const isDate = (value: number): boolean =>
    Number.isInteger(value) &&
    value >= 1_011_900 &&
    value <= 31_122_100 &&
    value % 10_000 >= 1900 &&
    value % 10_000 <= 2100;
  if (!numbers.every(isDate)) return;
  refuse(
    'TIME_UNREADABLE',
    `Times such as ${numbers[0]} look like dates with the year at the end. Give --date-format DDMMYYYY or ` +
      '--date-format MMDDYYYY.',
  );
}

/** Days since 1970 or Excel's, by their size; null for other numbers. */
function unitOfDays(least: number, largest: number): 'excel' | null {
  if (!(least >= DAYS.from && largest < LAST_EXCEL)) return null;
  if (largest > DAYS.to) return 'excel';
  const [days, excel] = (['days', 'excel'] as const).map((unit) => new Date(toMs(least, unit)).toISOString());
  refuse(
    'TIME_UNREADABLE',
    `The time ${least} may be ${days.slice(0, 10)}, as days since 1970, or ${excel.slice(0, 10)}, as Excel counts ` +
      'them. Give --date-format days or --date-format excel.',
  );
}

/**
 * Detects two joined exports: Binance's went from ms to us in 2025. Otherwise, of two neighboring bars, one is never
 * 100 times as far from 1970.
 */
export function findMixedUnits(numbers: Float64Array, refusals: RefusalList): void {
  for (let row = 1; row < numbers.length; row++) {
    const [before, now] = [numbers[row - 1], numbers[row]];
    // NaN is an unreadable time, which is refused elsewhere.
    if (!(Math.min(before, now) >= 1e9)) continue;
    if (now / before < 100 && before / now < 100) continue;
    refusals.add(
      'TIME_UNIT_MIXED',
      row,
      `the unit of time changes from ${before} to ${now}; import the two parts as two files, the second with --append`,
    );
    return;
  }
}
