// Times: what a time column means (unit, zone, date forms), and its values as ms UTC.
import { DAY_MS, TIMEFRAME_MS } from '../engine/bars/bars.ts';
import type { Cells, TimeUnit } from './table.ts';
import type { RefusalList } from './importError.ts';

export interface TimeReading {
  /** ms UTC. */
  readonly times: Float64Array;
  /** The inferred unit, or what the dates look like, which the report echoes. */
  readonly unit: TimeUnit | 'ISO 8601' | `dates such as ${string}`;
  readonly zone: 'UTC' | 'given by each time' | 'none given, read as UTC';
  /**
   * The calendar days, as UTC midnights, if every time carries its own UTC offset (yfinance's and TradingView's daily
   * bars, whose offset changes with daylight saving time); else null. Used for daily bars only.
   */
  readonly localDays: Float64Array | null;
  /** The order of dates with slashes, if there are any. */
  readonly dateOrder: DateOrder | null;
}
type DateOrder = 'day/month' | 'month/day';

/** Exact if the result is a whole number of ms. */
const toMs = (value: number, unit: TimeUnit): number =>
  unit === 's' ? value * 1000 : unit === 'ms' ? value : unit === 'us' ? value / 1000 : value / 1_000_000;
/** The bound of each unit: the year 5138 in the unit itself, and 1973 in the next finer one. */
const UNIT_BELOW: readonly (readonly [number, TimeUnit])[] = [
  [1e11, 's'],
  [1e14, 'ms'],
  [1e17, 'us'],
  [Infinity, 'ns'],
];
/**
 * Currencies open at 17:00 in New York (21:00 or 22:00 UTC), futures an hour later. No stock exchange opens that late.
 */
const EVENING_MS = 17 * 3_600_000;
/** 19000101 to 21001231, each written as one number. */
const COMPACT_DATE = { from: 19_000_101, to: 21_001_231 };
const DATE_TIME =
  /^(\d{4})([-./]?)(\d\d)\2(\d\d)(?:[T ]\s*(\d\d?):?(\d\d)(?::?(\d\d)(?:[.,](\d{1,9}))?)?)?\s*(Z|UTC|GMT|[-+]\d\d(?::?\d\d)?)?$/i;
/** 2024-01-31, 2024-01-31T15:00 or with a space, and 20240131: what is called ISO 8601. */
const ISO_DATE = /^\d{4}(-?)\d\d\1\d\d(?!.*[AP]M)/i;
/** 31.01.2024 15:00:00.000, as Dukascopy and MetaTrader's reports write it. With dots the day comes first. */
const DAY_FIRST = /^(\d\d?)\.(\d\d?)\.(\d{4})\b/;
/** 2019-10-17 09-AM, as CryptoDataDownload's older files have it, and 9:30 PM. */
const HALF_DAY = /^(.*\d) (\d\d?)(?:-|(:\d\d(?::\d\d)?) ?)([AP])M$/i;
/** 10/27/2023, as American spreadsheets write it, or 27/10/2023, or either with hyphens. */
const SLASHED = /^(\d\d?)([/-])(\d\d?)\2(\d{4})\b/;
/** 03-Jan-2022, 3. Januar 2022 and Jan 03, 2022: the name shows which part is the month. */
const NAMED_MONTH = /^(?:(\d\d?)[-. /]{1,2}(\p{L}{3,9})|(\p{L}{3,9})\.? (\d\d?),?)[-. /]{1,2}(\d{4})\b/u;
/** The same with a year of two digits, which may be the day as well: 03-Jan-22. */
const SHORT_YEAR = /^\d\d?[-. /]{1,2}(?:\p{L}{3,9}|\d\d?)[-. /]{1,2}\d\d(?!\d)/u;
/** English and German months by their first three letters. */
const MONTHS: Readonly<Record<string, number>> = {
  jan: 1, jän: 1, feb: 2, mar: 3, mär: 3, mrz: 3, apr: 4, may: 5, mai: 5, jun: 6, jul: 7, aug: 8, sep: 9, oct: 10,
  okt: 10, nov: 11, dec: 12, dez: 12,
}; // prettier-ignore

/** Reads a whole time column; unreadable cells are added to `refusals`. */
export function readTimes(cells: Cells, refusals: RefusalList): TimeReading {
  const { numbers } = cells;
  const numeric = numbers.reduce((count, value) => count + (Number.isNaN(value) ? 0 : 1), 0);
  if (numeric * 2 <= numbers.length || numbers.every(isCompactDate)) return readTexts(cells, refusals);
  const largest = numbers.reduce((most, value) => (Math.abs(value) > most ? Math.abs(value) : most), 0);
  const unit = cells.unit ?? unitOfStep(numbers, largest) ?? UNIT_BELOW.find(([bound]) => largest < bound)![1];
  if (cells.unit === undefined) findMixedUnits(numbers, refusals);
  for (let row = 0; numeric < numbers.length && row < numbers.length; row++) {
    if (Number.isNaN(numbers[row])) refuseTime(textAt(cells, row), row, refusals);
  }
  const times = numbers.map((value) => Math.round(toMs(value, unit)));
  return { times, unit, zone: 'UTC', localDays: null, dateOrder: null };
}

/**
 * The commonest step, in either direction (descending times are refused later, by row); the shorter one on a tie. null
 * if all times are equal.
 */
export function commonestStep(times: Float64Array): number | null {
  const counts = new Map<number, number>();
  for (let row = 1; row < times.length; row++) {
    const step = Math.abs(times[row] - times[row - 1]);
    if (step > 0) counts.set(step, (counts.get(step) ?? 0) + 1);
  }
  let best: number | null = null;
  for (const [step, count] of counts) {
    const most = best === null ? 0 : counts.get(best)!;
    if (best === null || count > most || (count === most && step < best)) best = step;
  }
  return best;
}

/** A date column and a column of times of day, joined. */
export function joinDateAndTime(dates: Cells, times: Cells): Cells {
  const length = dates.numbers.length;
  // 93000 is 09:30:00 in a column that goes to 235900; 930 is 09:30 in one that goes to 2359.
  const digits = times.numbers.some((value) => value >= 2400) ? 6 : 4;
  const clock = (value: number): string => (Number.isNaN(value) ? '' : String(value).padStart(digits, '0'));
  const texts = Array.from({ length }, (_, row) => {
    const time = times.texts?.[row] ?? clock(times.numbers[row]);
    return `${textAt(dates, row)} ${time}`;
  });
  return { numbers: new Float64Array(length).fill(NaN), texts };
}

/**
 * The day, as its midnight, of a session that opens at this clock time: the next one for currencies and futures, which
 * open the evening before. (Dated by the day of its open, a daily bar would be known a day too early.)
 */
export function sessionDay(ms: number): number {
  const day = Math.floor(ms / DAY_MS) * DAY_MS;
  return ms - day >= EVENING_MS ? day + DAY_MS : day;
}

/** Whether a column begins with something that can be read as an instant. */
export function readsAsTime(cells: Cells): boolean {
  return !Number.isNaN(cells.numbers[0]) || parseDateTime(cells.texts?.[0] ?? '') !== null;
}

/** Whether a column reads as times of day: 21:30, 213000, 2130. */
export function isTimeOfDay(cells: Cells): boolean {
  const text = cells.texts?.[0];
  if (text !== undefined) return /^\d\d?:\d\d(:\d\d)?/.test(text);
  return cells.numbers.every((value) => value >= 0 && value < 240_000);
}

function readTexts(cells: Cells, refusals: RefusalList): TimeReading {
  const { numbers } = cells;
  const times = new Float64Array(numbers.length);
  const days = new Float64Array(numbers.length);
  const dateOrder = orderOfSlashed(cells);
  let unusualDate: string | null = null;
  let zoned = 0;
  let hasOffset = false;
  for (let row = 0; row < numbers.length; row++) {
    const text = textAt(cells, row);
    const read = parseDateTime(dateOrder === null ? text : withoutSlashes(text, dateOrder));
    if (read === null) {
      refuseTime(text, row, refusals);
      continue;
    }
    if (unusualDate === null && !ISO_DATE.test(text)) unusualDate = text;
    times[row] = read.ms - (read.offsetMs ?? 0);
    days[row] = sessionDay(read.ms);
    if (read.offsetMs !== null) zoned++;
    if (read.offsetMs !== null && read.offsetMs !== 0) hasOffset = true;
  }
  const zone = zoned === 0 ? 'none given, read as UTC' : 'given by each time';
  const isLocal = hasOffset && zoned === numbers.length;
  const unit = unusualDate === null ? 'ISO 8601' : (`dates such as ${unusualDate}` as const);
  return { times, unit, zone, localDays: isLocal ? days : null, dateOrder };
}

/**
 * The order in which all dates with slashes are days: 10/27/2023 has the month first, and so has 03/01/2023 in the same
 * column. null if there are none, or both orders are possible, or neither is.
 */
function orderOfSlashed({ texts }: Cells): DateOrder | null {
  const matches = (texts ?? []).map((text) => SLASHED.exec(text ?? ''));
  const exceeds12 = (part: number): boolean => matches.some((match) => match !== null && Number(match[part]) > 12);
  const [isDayFirst, isMonthFirst] = [exceeds12(1), exceeds12(3)];
  if (isDayFirst === isMonthFirst) return null;
  return isDayFirst ? 'day/month' : 'month/day';
}

const withoutSlashes = (text: string, order: DateOrder): string =>
  text.replace(SLASHED, (_, first: string, __: string, second: string, year: string) =>
    order === 'month/day' ? isoDate(year, first, second) : isoDate(year, second, first),
  );

const isoDate = (year: string, month: string, day: string): string =>
  `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;

/**
 * The unit in which the commonest step is a stored timeframe: 60 is a minute in s, 60,000 in ms, and no step fits two
 * units. This also works for counters that begin at 0, whose magnitude says nothing. null if no unit fits, or only with
 * times after the year 5138.
 */
function unitOfStep(numbers: Float64Array, largest: number): TimeUnit | null {
  const step = commonestStep(numbers);
  const timeframes: readonly number[] = Object.values(TIMEFRAME_MS);
  const fits =
    step === null
      ? undefined
      : UNIT_BELOW.find(([bound, unit]) => largest < bound && timeframes.includes(toMs(step, unit)));
  return fits?.[1] ?? null;
}

function refuseTime(text: string, row: number, refusals: RefusalList): void {
  const fault = text === '' ? 'the time is missing' : `"${text.slice(0, 60)}" is not a time${whyNotRead(text)}`;
  refusals.add(
    'TIME_UNREADABLE',
    row,
    `${fault}; write ISO 8601 (2024-01-31T15:00Z) or a Unix time in s, ms, us or ns`,
  );
}

function whyNotRead(text: string): string {
  // 03/01/2024 is the first of March in one country and the third of January in another.
  if (SLASHED.test(text)) return ' that is read, since its day and month could be swapped';
  return SHORT_YEAR.test(text) ? ' that is read, since its year has two digits' : '';
}

/** @returns the clock reading as if it were UTC, and the offset written beside it (null: none). */
function parseDateTime(text: string): { ms: number; offsetMs: number | null } | null {
  const match = DATE_TIME.exec(yearFirst(text.trim()));
  if (!match) return null;
  const [, year, , month, day, hour = '0', minute = '0', second = '0', fraction = '', zone] = match;
  const [y, mo, d, h, mi, s] = [year, month, day, hour, minute, second].map(Number);
  const midnight = Date.UTC(y, mo - 1, d);
  const isDate = mo >= 1 && mo <= 12 && new Date(midnight).getUTCDate() === d;
  if (!isDate || h > 23 || mi > 59 || s > 59) return null;
  const ms = midnight + h * 3_600_000 + mi * 60_000 + s * 1000 + Math.round(Number(`0.${fraction || '0'}`) * 1000);
  return { ms, offsetMs: zone === undefined ? null : offsetOf(zone) };
}

/** Rewrites the less common forms of a date as year, month, day. */
function yearFirst(text: string): string {
  const halfDay = HALF_DAY.exec(text);
  if (halfDay === null)
    return text
      .replace(DAY_FIRST, (_, day: string, month: string, year: string) => isoDate(year, month, day))
      .replace(NAMED_MONTH, isoOfNamed);
  const [, date, hour, minutes = ':00', half] = halfDay;
  return `${yearFirst(date)} ${(Number(hour) % 12) + (half.toUpperCase() === 'P' ? 12 : 0)}${minutes}`;
}

function isoOfNamed(
  text: string,
  dayBefore: string | undefined,
  nameAfter: string | undefined,
  nameBefore: string | undefined,
  dayAfter: string | undefined,
  year: string,
): string {
  const name = (nameAfter ?? nameBefore ?? '').normalize('NFC').toLowerCase();
  const month = MONTHS[name.slice(0, 3).replace('mae', 'mär')];
  return month === undefined ? text : isoDate(year, String(month), dayBefore ?? dayAfter ?? '');
}

function offsetOf(zone: string): number {
  const match = /^([-+])(\d\d):?(\d\d)?$/.exec(zone);
  if (!match) return 0;
  const minutes = Number(match[2]) * 60 + Number(match[3] ?? 0);
  return (match[1] === '-' ? -minutes : minutes) * 60_000;
}

const isCompactDate = (value: number): boolean =>
  value >= COMPACT_DATE.from && value <= COMPACT_DATE.to && parseDateTime(String(value)) !== null;
const textAt = (cells: Cells, row: number): string =>
  cells.texts?.[row] ?? (Number.isNaN(cells.numbers[row]) ? '' : String(cells.numbers[row]));

/**
 * Detects two joined exports: Binance's went from ms to us in 2025. Otherwise, of two neighboring bars, one is never
 * 100 times as far from 1970.
 */
function findMixedUnits(numbers: Float64Array, refusals: RefusalList): void {
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
