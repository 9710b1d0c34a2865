// The time column: which of the columns that are named like a time is the one, or which two hold date and clock.
import { indexesOfAny, NAMES } from './columnNames.ts';
import { parseDateTime } from './dates.ts';
import { refuse } from './importError.ts';
import { bySize, toMs } from './numericTimes.ts';
import type { ReadOptions } from './readOptions.ts';
import type { Cells } from './table.ts';
import { isTimeOfDay, joinDateAndTime, readsAsTime } from './times.ts';

interface FoundTime {
  readonly cells: Cells;
  readonly name: string;
  /** Whether it is the close of each bar, because the file has no open time or its owner says so. */
  readonly isClose: boolean;
  /** The columns that it is read from: one, or a date and a time of day. */
  readonly indexes: readonly number[];
  /** Every column that is named like a time. */
  readonly candidates: readonly number[];
}

const HOUR_MS = 3_600_000;
/** Zones are at most 14 hours from UTC, and a date may stand for any time of its day. */
const SAME_TIME_MS = 38 * HOUR_MS;
/** 1973 in seconds. Smaller numbers are counters. */
const LEAST_UNIX = 1e8;

/** Columns that name the zone of each time. */
const ZONES = ['timezone', 'tz', 'zone', 'utcoffset', 'gmtoffset'];

/** @param chosen the columns that the owner of the file has named, one or a date and a time of day */
export function findTime(
  columns: readonly Cells[],
  names: readonly string[],
  plain: readonly string[],
  options: Pick<ReadOptions, 'timeIs'>,
  chosen: readonly number[] | null,
): FoundTime | null {
  const found = findWithoutZone(columns, names, plain, options, chosen);
  const index = plain.findIndex((name) => ZONES.includes(name));
  if (found === null || index < 0) return found;
  const cells = joinDateAndTime(found.cells, columns[index]);
  const isZoned = (text = ''): boolean => (parseDateTime(text)?.zone ?? null) !== null;
  if (!isZoned(cells.texts?.[0])) return found;
  return { ...found, cells, name: `${found.name} ${names[index]}`, indexes: [...found.indexes, index] };
}

function findWithoutZone(
  columns: readonly Cells[],
  names: readonly string[],
  plain: readonly string[],
  { timeIs }: Pick<ReadOptions, 'timeIs'>,
  chosen: readonly number[] | null,
): FoundTime | null {
  const parts = chosen === null ? findDateParts(columns, names, plain) : null;
  if (parts !== null) return parts;
  const openTimes = indexesOfAny(plain, NAMES.time);
  const closeTimes = indexesOfAny(plain, NAMES.closeTime);
  const candidates = [...openTimes, ...closeTimes];
  const joined = (date: number, time: number): FoundTime => ({
    cells: joinDateAndTime(columns[date], columns[time]),
    name: `${names[date]} ${names[time]}`,
    isClose: false,
    indexes: [date, time],
    candidates,
  });
  if (chosen !== null && chosen.length > 1) return joined(chosen[0], chosen[1]);
  const isClose =
    chosen === null
      ? closeTimes.length > 0 && (timeIs === 'close' || openTimes.length === 0)
      : closeTimes.includes(chosen[0]);
  const times = chosen ?? (isClose ? closeTimes : openTimes);
  const index = times.find((each) => readsAsTime(columns[each])) ?? times[0];
  if (index === undefined) return null;
  const split = isClose || chosen !== null ? null : findSplitTime(columns, plain);
  if (split !== null) return joined(split.date, split.time);
  if (chosen === null) refuseDisagreeing(index, times, columns, names);
  return { cells: columns[index], name: names[index], isClose, indexes: [index], candidates };
}

/** Names of columns that may be a counter beside the parts of a date. */
const COUNTERS = ['index', 'indexlevel', 'unnamed', ''];
const DATE_PARTS = ['year', 'month', 'day', 'hour', 'minute', 'second'] as const;

/** Finds a year, a month and a day in columns of their own, with or without the time of day. */
function findDateParts(
  columns: readonly Cells[],
  names: readonly string[],
  plain: readonly string[],
): FoundTime | null {
  const times = indexesOfAny(plain, [...NAMES.time, ...NAMES.closeTime]);
  const clock = plain.indexOf('time');
  if (times.some((index) => index !== clock && !COUNTERS.includes(plain[index]))) return null;
  const found = DATE_PARTS.map((part) => plain.indexOf(part));
  if (found.slice(0, 3).some((index) => index < 0 || columns[index].texts !== null)) return null;
  const indexes = found.filter((index) => index >= 0);
  const of = (at: number, row: number): string =>
    String(found[at] < 0 ? 0 : columns[found[at]].numbers[row]).padStart(at === 0 ? 4 : 2, '0');
  const texts = Array.from(columns[indexes[0]].numbers, (_, row) => {
    const [year, month, day, hour, minute, second] = DATE_PARTS.map((_part, at) => of(at, row));
    const date = `${year}-${month}-${day}`;
    return found[3] < 0 ? date : `${date} ${hour}:${minute}:${second}`;
  });
  const dates: Cells = { numbers: new Float64Array(texts.length).fill(NaN), texts };
  const isJoined = found[3] < 0 && clock >= 0 && isTimeOfDay(columns[clock]);
  const used = isJoined ? [...indexes, clock] : indexes;
  return {
    cells: isJoined ? joinDateAndTime(dates, columns[clock]) : dates,
    name: used.map((index) => names[index]).join(' '),
    isClose: false,
    indexes: used,
    candidates: used,
  };
}

/** Finds a date in one column and the time of day in another, as MetaTrader and Stooq write them. */
function findSplitTime(columns: readonly Cells[], plain: readonly string[]): { date: number; time: number } | null {
  const indexOf = (...aliases: string[]): number => plain.findIndex((name) => aliases.includes(name));
  const date = indexOf('date', 'datum', 'tradedate', 'fecha', 'data', 'dtyyyymmdd', 'day');
  const time = indexOf(
    'time',
    'uhrzeit',
    'zeit',
    'tradetime',
    'minute',
    'timeofday',
    'clock',
    'hora',
    'ora',
    'heure',
    'timebarstart',
  );
  const isWhole = plain.some((name) => ['opentime', 'timestamp', 'datetime'].includes(name));
  if (date < 0 || time < 0 || isWhole || !isTimeOfDay(columns[time])) return null;
  return { date, time };
}

/** Refuses two time columns that are days apart: one of them is not the time of the bar. */
function refuseDisagreeing(
  index: number,
  times: readonly number[],
  columns: readonly Cells[],
  names: readonly string[],
): void {
  const first = firstInstant(columns[index]);
  for (const other of times) {
    const second = firstInstant(columns[other]);
    if (first === null || second === null || Math.abs(first - second) <= SAME_TIME_MS) continue;
    refuse(
      'COLUMN_DUPLICATE',
      `Columns "${names[index]}" and "${names[other]}" both read as time, and their first rows are days apart. Name ` +
        `the right one: --columns "time=${names[index]}" or --columns "time=${names[other]}".`,
    );
  }
}

/** About when the first row is; null for counters and for what is not a time. */
function firstInstant({ numbers, texts, unit }: Cells): number | null {
  const text = texts?.[0] ?? String(numbers[0]);
  const read = parseDateTime(text);
  if (read !== null) return read.ms;
  return numbers[0] >= LEAST_UNIX ? toMs(numbers[0], unit ?? bySize(numbers[0])) : null;
}
