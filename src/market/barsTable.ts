// Bars from a table: the checks that every import must pass.
import { DAY_MS, STORED_TIMEFRAMES, TIMEFRAME_MS } from '../engine/bars/bars.ts';
import type { StoredTimeframe } from '../engine/bars/bars.ts';
import type { SnapshotColumns } from '../engine/bars/arrow.ts';
import { findColumns } from './header.ts';
import type { ColumnRoles } from './header.ts';
import { summarizeSeries } from './importReport.ts';
import type { BarsTable } from './importReport.ts';
import { RefusalList, refuse } from './importError.ts';
import { readPrices, readVolume } from './prices.ts';
import type { Table } from './table.ts';
import { commonestStep, readTimes, sessionDay } from './times.ts';
import type { TimeReading } from './times.ts';

export interface ReadOptions {
  /** Default: inferred from the commonest step. */
  readonly timeframe?: StoredTimeframe;
  /** Used when there is a single bar and no timeframe is given. */
  readonly timeframeHint?: StoredTimeframe;
  /** What the times of the file mean; default open, or close if the file has only close times. */
  readonly timeIs?: 'open' | 'close';
}

const HOUR_MS = TIMEFRAME_MS['1h'];
const RESERVED = new Set(['time', 'open', 'high', 'low', 'close', 'volume']);

/** @throws MarketDataError with the invalid rows; then nothing of the table is used */
export function readBars(table: Table, options: ReadOptions = {}): BarsTable {
  if (table.rowCount === 0) refuse('NO_ROWS', 'The file holds no bars.');
  const roles = findColumns(table, options.timeIs);
  const refusals = new RefusalList(table.firstLine);
  const notes: string[] = [...table.notes, ...roles.notes];
  const reading = readTimes(roles.time, refusals);
  refusals.throwIfAny(table.rowCount);
  if (reading.dateOrder !== null)
    notes.push(`Dates are read as ${reading.dateOrder}/year, the only order in which all of them are days.`);
  refuseEqualTimes(reading.times, roles.timeName);
  const { timeframe, times } = readTimeframe(reading, options, notes);
  const timeIs = options.timeIs ?? (roles.isCloseTime ? 'close' : 'open');
  const time = timeIs === 'close' ? times.map((close) => wholeSecond(close) - TIMEFRAME_MS[timeframe]) : times;
  if (table.names === null) noteClockTimes(time, notes);
  const prices = readPrices(roles, refusals, notes);
  const isReversed = isNewestFirst(time);
  checkOrder(time, timeframe, isReversed, refusals);
  refusals.throwIfAny(table.rowCount);
  const volume = readVolume(roles.volume, table.rowCount, refusals);
  refusals.throwIfAny(table.rowCount);
  const { series, dropped } = readSeries(roles);
  const columns: SnapshotColumns = { time, ...prices, volume, series };
  if (isReversed) {
    notes.push('The file runs newest first; the bars were put in order.');
    for (const column of [time, prices.open, prices.high, prices.low, prices.close, volume, ...series.values()])
      column.reverse();
  }
  const report = {
    ...summarizeSeries(columns, timeframe),
    isTimeframeInferred: options.timeframe === undefined,
    format: table.format,
    time: { column: roles.timeName, unit: reading.unit, zone: reading.zone, is: timeIs },
    series: [...series.keys()],
    ignored: [...roles.ignored, ...dropped],
    notes,
  } as const;
  return { columns, report };
}

/** Refuses rows that all have the same time: their column has dates without times of day, or is not the time at all. */
function refuseEqualTimes(times: Float64Array, name: string): void {
  if (times.length < 2 || times.some((time) => time !== times[0])) return;
  refuse(
    'TIME_DUPLICATE',
    `All ${times.length} rows have the time ${iso(times[0])}, in column "${name}". Each bar needs its own: write the ` +
      'date and the time of day into one column, or into two named date and time.',
  );
}

/** Moves the last millisecond of a second to the next: Binance writes the close of a bar as 12:59:59.999. */
const wholeSecond = (time: number): number => (time % 1000 === 999 ? time + 1 : time);

/**
 * The timeframe of the bars, given or inferred, and their times. Daily bars are put on their calendar day if their
 * times show which one it is.
 */
function readTimeframe(
  reading: TimeReading,
  options: ReadOptions,
  notes: string[],
): { timeframe: StoredTimeframe; times: Float64Array } {
  const { times, localDays } = reading;
  if (localDays && areDistinct(localDays)) {
    const timeframe = options.timeframe ?? inferTimeframe(localDays, options.timeframeHint);
    if (timeframe === '1d') {
      notes.push('The times are those of a place, not UTC: each bar is put on its calendar day there, at 00:00 UTC.');
      return { timeframe, times: localDays };
    }
  }
  const timeframe = options.timeframe ?? inferTimeframe(times, options.timeframeHint);
  const step = commonestStep(times);
  if (step !== null && step > TIMEFRAME_MS[timeframe])
    notes.push(`Most bars are ${duration(step)} apart, not ${timeframe}. Is the timeframe right?`);
  const days = timeframe === '1d' && options.timeIs !== 'close' ? daysOfSessions(times) : null;
  if (days) {
    notes.push(
      'Each bar begins with its session, which summer time moves: it is put on the UTC day of the session, at 00:00.',
    );
    return { timeframe, times: days };
  }
  return { timeframe, times };
}

/**
 * The UTC days of daily bars that begin with their session, an hour earlier in summer (TradingView's Unix times);
 * null for other bars.
 */
function daysOfSessions(times: Float64Array): Float64Array | null {
  const clocks = times.map((time) => ((time % DAY_MS) + DAY_MS) % DAY_MS);
  const earliest = clocks.reduce((best, clock) => Math.min(best, clock), DAY_MS);
  const latest = clocks.reduce((best, clock) => Math.max(best, clock), 0);
  if (earliest === latest || latest - earliest > HOUR_MS) return null;
  const days = times.map(sessionDay);
  return areDistinct(days) ? days : null;
}

function areDistinct(days: Float64Array): boolean {
  for (let row = 1; row < days.length; row++) if (days[row] === days[row - 1]) return false;
  return true;
}

function inferTimeframe(times: Float64Array, hint: StoredTimeframe | undefined): StoredTimeframe {
  const known = STORED_TIMEFRAMES.join(', ');
  const step = commonestStep(times);
  if (step === null)
    return (
      hint ??
      refuse(
        'TIMEFRAME_UNKNOWN',
        'A single bar does not show its timeframe. Name it: --timeframe of an import, or --bars ' +
          `SYMBOL:TIMEFRAME=FILE (${known}).`,
      )
    );
  const found = STORED_TIMEFRAMES.find((timeframe) => TIMEFRAME_MS[timeframe] === step);
  // In a shuffled file the steps say nothing about the timeframe.
  if (found === undefined && !isSorted(times, 1) && !isSorted(times, -1)) {
    const firsts = firstRows(times);
    const again = times.findIndex((time, row) => firsts.get(time) !== row);
    if (again !== -1)
      refuse(
        'TIME_DUPLICATE',
        `The time ${iso(times[again])} appears twice, in rows ${firsts.get(times[again])! + 1} and ${again + 1}. ` +
          'Leave out one of the rows, and write the rows in the order of their times, oldest first.',
      );
    refuse('TIME_UNSORTED', 'The rows are not in the order of their times. Sort them by time, oldest first.');
  }
  return (
    found ??
    refuse(
      'TIMEFRAME_UNKNOWN',
      `Most bars are ${duration(step)} apart, which is not a stored timeframe (${known}). Export the data ` +
        `at one of these.`,
    )
  );
}

/** Whether a file runs newest first, as those of CryptoDataDownload, Coinbase and Alpha Vantage do. */
function isNewestFirst(time: Float64Array): boolean {
  return time.length >= 2 && time[0] > time[time.length - 1] && isSorted(time, -1);
}

/** Whether no time is before (direction 1) or after (-1) the one above it. */
function isSorted(time: Float64Array, direction: 1 | -1): boolean {
  for (let row = 1; row < time.length; row++) if (direction * (time[row] - time[row - 1]) < 0) return false;
  return true;
}

/** The first row of each time. */
function firstRows(times: Float64Array): ReadonlyMap<number, number> {
  const firsts = new Map<number, number>();
  times.forEach((time, row) => {
    if (!firsts.has(time)) firsts.set(time, row);
  });
  return firsts;
}

function checkOrder(time: Float64Array, timeframe: StoredTimeframe, isReversed: boolean, refusals: RefusalList): void {
  const stepMs = TIMEFRAME_MS[timeframe];
  // Rows in order repeat a time only next to each other.
  const firsts = isSorted(time, isReversed ? -1 : 1) ? null : firstRows(time);
  for (let row = 1; row < time.length; row++) {
    const step = isReversed ? time[row - 1] - time[row] : time[row] - time[row - 1];
    const first = firsts?.get(time[row]) ?? row;
    if (first === row && step > 0 && step % stepMs === 0) continue;
    const at = `${iso(time[row])} after ${iso(time[row - 1])}`;
    if (step === 0 || first < row)
      refusals.add(
        'TIME_DUPLICATE',
        row,
        `the time ${iso(time[row])} appears twice${step === 0 ? '' : `, first in row ${first + 1}`}; leave out one ` +
          'of the rows, or write local times with their UTC offset, since an hour repeats when clocks are set back',
      );
    else if (step < 0) refusals.add('TIME_UNSORTED', row, `${at}: sort the rows by time, oldest first`);
    else {
      const hint = timeframe === '1d' ? '; write daily bars as dates, without a time of day' : '';
      refusals.add(
        'STEP_NOT_MULTIPLE',
        row,
        `${at}: a step of ${duration(step)} is not a multiple of ${timeframe}${hint}`,
      );
    }
  }
}

/** Warns of times that count from midnight, as in Lean's minute files, which have the date only in their name. */
function noteClockTimes(time: Float64Array, notes: string[]): void {
  if (time.length < 2 || time.some((at) => at < 0 || at >= DAY_MS)) return;
  notes.push(
    'Warning: all times lie on 1970-01-01, as if they counted from midnight (Lean writes minutes so, with ' +
      'prices in ten-thousandths). Write the full date in each row.',
  );
}

/**
 * Numeric columns become series, with NaN for empty cells. Empty columns and those with any text are dropped and named.
 */
function readSeries(roles: ColumnRoles): { series: Map<string, Float64Array>; dropped: string[] } {
  const series = new Map<string, Float64Array>();
  const dropped: string[] = [];
  for (const { name, cells } of roles.extra) {
    const isNumeric =
      cells.texts === null && cells.unit === undefined && cells.numbers.some((value) => !Number.isNaN(value));
    if (isNumeric)
      series.set(
        freeName(name, series),
        cells.numbers.map((value) => (Number.isFinite(value) ? value : NaN)),
      );
    else dropped.push(name);
  }
  return { series, dropped };
}

function freeName(name: string, taken: ReadonlyMap<string, unknown>): string {
  let free = name;
  for (let count = 2; taken.has(free) || RESERVED.has(free); count++) free = `${name}_${count}`;
  return free;
}

const iso = (time: number): string => (Math.abs(time) < 8.64e15 ? new Date(time).toISOString() : String(time));

function duration(ms: number): string {
  const parts: [number, string][] = [
    [86_400_000, 'd'],
    [3_600_000, 'h'],
    [60_000, 'min'],
    [1000, 's'],
  ];
  const [unitMs, unit] = parts.find(([unitMs]) => ms >= unitMs) ?? [1, 'ms'];
  return `${Math.round((ms / unitMs) * 1000) / 1000} ${unit}`;
}
