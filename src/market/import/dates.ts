// Dates: the texts that are read as an instant, or as the reading of a clock somewhere.

/** The order of day and month in dates with slashes. */
export type DateOrder = 'day/month' | 'month/day';

interface ClockReading {
  /** The clock reading as if it were UTC. */
  readonly ms: number;
  /** What is written beside it: an offset, the name of a zone, or nothing. */
  readonly zone: string | null;
  /** Whether a time of day is written. */
  readonly hasClock: boolean;
}

const DATE = '(\\d{4})([-./]?)(\\d\\d)\\2(\\d\\d)';
const CLOCK = '(?:[T ]\\s*(\\d\\d?):?(\\d\\d)(?::?(\\d\\d)(?:[.,](\\d{1,9}))?)?)?';
/** Z, GMT+0200, EST or US/Eastern; then the zone of Java in brackets, or that of JavaScript in parentheses. */
const ZONE = '(Z|(?:UTC|GMT)?[-+]\\d\\d?(?::?\\d\\d)?|[A-Z]{2,5}|[A-Z]+(?:/[\\w+-]+)+)?';
const DATE_TIME = new RegExp(`^${DATE}${CLOCK}\\s*${ZONE}(?:\\[[\\w/+-]+\\]| \\([\\w ]+\\))?$`, 'i');
/** 2024-01-31, 2024-01-31T15:00 or with a space, and 20240131: what is called ISO 8601. */
const ISO_DATE = /^\d{4}(-?)\d\d\1\d\d(?!.*[AP]M)/i;
/** 2024/1/2: the year comes first, and no zeros are written. */
const YEAR_FIRST = /^(\d{4})([-./])(\d\d?)\2(\d\d?)(?!\d)/;
/** 31.01.2024 15:00:00.000, as Dukascopy and MetaTrader's reports write it. With dots the day comes first. */
const DAY_FIRST = /^(\d\d?)\.(\d\d?)\.(\d{4})\b/;
/** 2019-10-17 09-AM, as CryptoDataDownload's older files have it, and 9:30 PM. */
const HALF_DAY = /^(.*\d) (\d\d?)(?:-|(:\d\d(?::\d\d)?) ?)([AP])M( .+)?$/i;
/** 10/27/2023, as American spreadsheets write it, or 27/10/2023, or either with hyphens. */
const SLASHED = /^(\d\d?)([/-])(\d\d?)\2(\d{4})\b/;
/** 03-Jan-2022, 3. Januar 2022 and Jan 03, 2022: the name shows which part is the month. */
const NAMED_MONTH = /^(?:(\d\d?)[-. /]{1,2}(\p{L}{3,9})|(\p{L}{3,9})\.? (\d\d?),?)[-. /]{1,2}(\d{4})\b/u;
/** Mon, 04 Jan 2010 */
const WEEKDAY = /^(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6},? /i;
/** The same with a year of two digits, which may be the day as well: 03-Jan-22. */
const SHORT_YEAR = /^\d\d?[-. /]{1,2}(?:\p{L}{3,9}|\d\d?)[-. /]{1,2}\d\d(?!\d)/u;
/** English and German months by their first three letters. */
const MONTHS: Readonly<Record<string, number>> = {
  jan: 1, jän: 1, feb: 2, mar: 3, mär: 3, mrz: 3, apr: 4, may: 5, mai: 5, jun: 6, jul: 7, aug: 8, sep: 9, oct: 10,
  okt: 10, nov: 11, dec: 12, dez: 12,
}; // prettier-ignore

/** null for a text that is not a date. */
export function parseDateTime(text: string): ClockReading | null {
  const match = DATE_TIME.exec(yearFirst(text.trim()));
  if (!match) return null;
  const [, year, , month, day, hour = '0', minute = '0', second = '0', fraction = '', zone] = match;
  const [y, mo, d, h, mi, s] = [year, month, day, hour, minute, second].map(Number);
  const midnight = Date.UTC(y, mo - 1, d);
  const isDate = mo >= 1 && mo <= 12 && new Date(midnight).getUTCDate() === d;
  if (!isDate || h > 23 || mi > 59 || s > 59) return null;
  const ms = midnight + h * 3_600_000 + mi * 60_000 + s * 1000 + Math.round(Number(`0.${fraction || '0'}`) * 1000);
  return { ms, zone: zone ?? null, hasClock: match[5] !== undefined };
}

/** Whether a text is written as ISO 8601 asks. */
export const isIsoDate = (text: string): boolean => ISO_DATE.test(text);

/**
 * The order in which all dates with slashes are days: 10/27/2023 has the month first, and so has 03/01/2023 in the same
 * column. null if there are none, or both orders are possible, or neither is.
 */
export function orderOfSlashed(texts: readonly (string | undefined)[]): DateOrder | null {
  let [isDayFirst, isMonthFirst] = [false, false];
  for (const text of texts) {
    const match = text === undefined ? null : SLASHED.exec(text);
    if (match === null) continue;
    if (Number(match[1]) > 12) isDayFirst = true;
    if (Number(match[3]) > 12) isMonthFirst = true;
  }
  if (isDayFirst === isMonthFirst) return null;
  return isDayFirst ? 'day/month' : 'month/day';
}

export const withoutSlashes = (text: string, order: DateOrder): string =>
  text.replace(SLASHED, (_, first: string, __: string, second: string, year: string) =>
    order === 'month/day' ? isoDate(year, first, second) : isoDate(year, second, first),
  );

/** Why a text that looks like a date is not read, and the option that settles it; null if it does not look like one. */
export function ambiguityOf(text: string): { readonly why: string; readonly option: string } | null {
  // 03/01/2024 is the first of March in one country and the third of January in another.
  const slashed = SLASHED.exec(text);
  if (slashed !== null) {
    const [, , separator] = slashed;
    const formats = [['DD', 'MM', 'YYYY'].join(separator), ['MM', 'DD', 'YYYY'].join(separator)];
    return { why: ' that is read, since its day and month could be swapped', option: formats.join(' or ') };
  }
  if (!SHORT_YEAR.test(text)) return null;
  const isNamed = /\p{L}{3}/u.test(text);
  const separator = /\D/.exec(text)?.[0] ?? '/';
  const formats = isNamed
    ? [`DD${separator}MMM${separator}YY`]
    : [`M${separator}D${separator}YY`, `D${separator}M${separator}YY`];
  return { why: ' that is read, since its year has two digits', option: formats.join(' or ') };
}

/** The number of a month by its name, in English or German. */
export const monthOfName = (name: string): number | undefined =>
  MONTHS[name.normalize('NFC').toLowerCase().slice(0, 3).replace('mae', 'mär')];

const isoDate = (year: string, month: string, day: string): string =>
  `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;

/** Rewrites the less common forms of a date as year, month, day. */
function yearFirst(text: string): string {
  const halfDay = HALF_DAY.exec(text);
  if (halfDay === null)
    return text
      .replace(WEEKDAY, '')
      .replace(YEAR_FIRST, (_, year: string, __: string, month: string, day: string) => isoDate(year, month, day))
      .replace(DAY_FIRST, (_, day: string, month: string, year: string) => isoDate(year, month, day))
      .replace(NAMED_MONTH, isoOfNamed);
  const [, date, hour, minutes = ':00', half, zone = ''] = halfDay;
  return `${yearFirst(date)} ${(Number(hour) % 12) + (half.toUpperCase() === 'P' ? 12 : 0)}${minutes}${zone}`;
}

function isoOfNamed(
  text: string,
  dayBefore: string | undefined,
  nameAfter: string | undefined,
  nameBefore: string | undefined,
  dayAfter: string | undefined,
  year: string,
): string {
  const month = monthOfName(nameAfter ?? nameBefore ?? '');
  return month === undefined ? text : isoDate(year, String(month), dayBefore ?? dayAfter ?? '');
}
