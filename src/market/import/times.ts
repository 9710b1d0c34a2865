// Times: what a time column means (unit, zone, date forms), and its values as ms UTC.
import { namedUnit, parseDateFormat } from './dateFormat.ts';
import { ambiguityOf, isIsoDate, orderOfSlashed, parseDateTime, withoutSlashes } from './dates.ts';
import type { DateOrder } from './dates.ts';
import type { RefusalList } from './importError.ts';
import { findMixedUnits, toMs, unitOf } from './numericTimes.ts';
import type { NumericUnit } from './numericTimes.ts';
import type { ReadOptions } from './readOptions.ts';
import { isoText } from './table.ts';
import type { Cells, IsoShape } from './table.ts';
import { clockReadings, readZone, ZoneClock } from './zones.ts';

export interface TimeReading {
  /** ms UTC. */
  readonly times: Float64Array;
  /** The inferred unit, or what the dates look like, which the report echoes. */
  readonly unit: NumericUnit | 'ISO 8601' | `dates such as ${string}`;
  readonly zone: 'UTC' | 'given by each time' | 'none given, read as UTC' | `read as ${string}`;
  /**
   * What clocks showed at these times, as ms that read like UTC, if every time carries its own UTC offset (yfinance's
   * and TradingView's daily bars, whose offset changes with daylight saving time) or a zone is given; else null. Used
   * for daily bars only.
   */
  readonly clocks: Float64Array | null;
  /** Whether the times are dates, without a time of day. */
  readonly isDates: boolean;
  readonly notes: readonly string[];
}

type TimeOptions = Pick<ReadOptions, 'timezone' | 'dateFormat'>;

/** 19000101 to 21001231, each written as one number. */
const COMPACT_DATE = { from: 19_000_101, to: 21_001_231 };

/** Reads a whole time column; unreadable cells are added to `refusals`. */
export function readTimes(cells: Cells, refusals: RefusalList, options: TimeOptions = {}): TimeReading {
  const { numbers } = cells;
  const named = options.dateFormat === undefined ? undefined : namedUnit(options.dateFormat);
  const numeric = numbers.reduce((count, value) => count + (Number.isNaN(value) ? 0 : 1), 0);
  const isText = numeric * 2 <= numbers.length || numbers.every(isCompactDate);
  if (cells.iso !== undefined && options.dateFormat === undefined) return readIso(cells, cells.iso, refusals, options);
  if (
    named === undefined &&
    (cells.unit === undefined || cells.iso !== undefined) &&
    (isText || options.dateFormat !== undefined)
  )
    return readTexts(cells, refusals, options);
  const unit = cells.unit ?? named ?? unitOf(numbers);
  if (cells.unit === undefined) findMixedUnits(numbers, refusals);
  for (let row = 0; numeric < numbers.length && row < numbers.length; row++) {
    if (Number.isNaN(numbers[row])) refuseTime(textAt(cells, row), row, refusals);
  }
  const times = numbers.map((value) => Math.round(toMs(value, unit)));
  const { timezone } = options;
  const notes = unit === 'excel' || unit === 'days' ? [daysNote(unit, numbers[0], times[0])] : [];
  return {
    times,
    unit,
    zone: 'UTC',
    clocks: timezone === undefined ? null : clockReadings(times, timezone),
    isDates: false,
    notes,
  };
}

function daysNote(unit: 'excel' | 'days', value: number, time: number): string {
  const day = Number.isNaN(time) ? '' : `: ${value} is ${new Date(time).toISOString().slice(0, 10)}`;
  return `Times are read as ${unit === 'excel' ? "Excel's count of days" : 'days since 1970'}${day}.`;
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

function readTexts(cells: Cells, refusals: RefusalList, { timezone, dateFormat }: TimeOptions): TimeReading {
  const { length } = cells.numbers;
  const clocks = new Float64Array(length).fill(NaN);
  /** What is to be added to each clock to give UTC, or the name of its zone. */
  const zones: (number | string | null)[] = Array.from({ length }, () => null);
  const dateOrder = dateFormat === undefined ? orderOfSlashed(cells.texts ?? []) : null;
  const rewritten = rewriter(dateFormat, dateOrder);
  let unusualDate: string | null = null;
  let zoned = 0;
  let isDates = true;
  for (let row = 0; row < length; row++) {
    const text = textAt(cells, row);
    const date = rewritten(text);
    const read = date === null ? null : parseDateTime(date);
    if (read === null) {
      refuseTime(text, row, refusals, dateFormat);
      continue;
    }
    if (unusualDate === null && !isIsoDate(text)) unusualDate = text;
    clocks[row] = read.ms;
    zones[row] = read.zone === null ? (timezone ?? null) : (readZone(read.zone) ?? timezone ?? null);
    if (read.zone !== null) zoned++;
    if (read.hasClock) isDates = false;
    if (read.zone !== null && zones[row] === null) refuseZone(text, read.zone, row, refusals);
  }
  const { times, repeated } = instantsOf(clocks, zones, refusals);
  const isLocal = zones.every((zone) => zone !== null) && zones.some((zone) => zone !== 0);
  const notes = repeated === 0 ? [] : [repeatedNote(repeated)];
  if (dateOrder !== null)
    notes.push(`Dates are read as ${dateOrder}/year, the only order in which all of them are days.`);
  return {
    times,
    unit: unusualDate === null ? 'ISO 8601' : `dates such as ${unusualDate}`,
    zone: zoned > 0 ? 'given by each time' : timezone === undefined ? 'none given, read as UTC' : `read as ${timezone}`,
    clocks: isLocal ? clocks : null,
    isDates,
    notes,
  };
}

/** A column of ISO 8601 times without offsets, which were read with the file. */
function readIso(
  { numbers }: Cells,
  { suffix }: IsoShape,
  refusals: RefusalList,
  { timezone }: TimeOptions,
): TimeReading {
  const isUtc = suffix !== '';
  for (let row = 0; row < numbers.length; row++) if (Number.isNaN(numbers[row])) refuseTime('', row, refusals);
  const zone = isUtc ? null : (timezone ?? null);
  const { times, repeated } =
    zone === null
      ? { times: numbers, repeated: 0 }
      : instantsOf(
          numbers,
          Array.from(numbers, () => zone),
          refusals,
        );
  const clocks = zone === null ? (timezone === undefined ? null : clockReadings(times, timezone)) : numbers;
  const plainZone = timezone === undefined ? 'none given, read as UTC' : (`read as ${timezone}` as const);
  return {
    times,
    unit: 'ISO 8601',
    zone: isUtc ? 'given by each time' : plainZone,
    clocks,
    isDates: false,
    notes: repeated === 0 ? [] : [repeatedNote(repeated)],
  };
}

function rewriter(dateFormat: string | undefined, dateOrder: DateOrder | null): (text: string) => string | null {
  if (dateFormat !== undefined) return parseDateFormat(dateFormat);
  return dateOrder === null ? (text) => text : (text) => withoutSlashes(text, dateOrder);
}

/** The instants of clock readings, oldest first, since an hour repeats when clocks are set back. */
function instantsOf(
  clocks: Float64Array,
  zones: readonly (number | string | null)[],
  refusals: RefusalList,
): { readonly times: Float64Array; readonly repeated: number } {
  const places = new Map<string, ZoneClock>();
  const isDescending = clocks[0] > clocks[clocks.length - 1];
  const times = new Float64Array(clocks.length);
  for (let at = 0; at < clocks.length; at++) {
    const row = isDescending ? clocks.length - 1 - at : at;
    const zone = zones[row];
    times[row] = typeof zone === 'string' ? placeOf(places, zone).instantOf(clocks[row]) : clocks[row] - (zone ?? 0);
    if (Number.isNaN(times[row]) && !Number.isNaN(clocks[row]))
      refusals.add(
        'TIME_UNREADABLE',
        row,
        `${new Date(clocks[row]).toISOString().slice(0, 16)} does not exist in ${zone}, whose clocks skip that hour; ` +
          'is the time zone right?',
      );
  }
  return { times, repeated: [...places.values()].reduce((sum, place) => sum + place.repeated, 0) };
}

function placeOf(places: Map<string, ZoneClock>, zone: string): ZoneClock {
  const known = places.get(zone) ?? new ZoneClock(zone);
  places.set(zone, known);
  return known;
}

const repeatedNote = (count: number): string =>
  `${count} ${count === 1 ? 'time lies' : 'times lie'} in an hour that repeats because clocks are set back. The order ` +
  'of the rows shows which is meant; an hour that is there once is read as the first.';

function refuseTime(text: string, row: number, refusals: RefusalList, dateFormat?: string): void {
  if (dateFormat !== undefined && text !== '') {
    refusals.add('TIME_UNREADABLE', row, `"${text.slice(0, 60)}" is not a date of the format ${dateFormat}`);
    return;
  }
  const ambiguity = ambiguityOf(text);
  const fault = text === '' ? 'the time is missing' : `"${text.slice(0, 60)}" is not a time${ambiguity?.why ?? ''}`;
  const option =
    text === ''
      ? ', or leave such rows out with --drop-na'
      : `, or give --date-format ${ambiguity?.option ?? 'such as YYYY-DD-MM'}`;
  refusals.add(
    'TIME_UNREADABLE',
    row,
    `${fault}; write ISO 8601 (2024-01-31T15:00Z) or a Unix time in s, ms, us or ns${option}`,
  );
}

const refuseZone = (text: string, zone: string, row: number, refusals: RefusalList): void =>
  refusals.add(
    'TIME_UNREADABLE',
    row,
    `"${text.slice(0, 60)}" names the zone "${zone}", which may be several; give --timezone, such as ` +
      '--timezone America/New_York',
  );

const isCompactDate = (value: number): boolean =>
  value >= COMPACT_DATE.from && value <= COMPACT_DATE.to && parseDateTime(String(value)) !== null;
function textAt({ numbers, texts, iso }: Cells, row: number): string {
  if (texts?.[row] !== undefined) return texts[row];
  if (Number.isNaN(numbers[row])) return '';
  return iso === undefined ? String(numbers[row]) : isoText(numbers[row], iso);
}
