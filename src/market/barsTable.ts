// Bars from a table: the checks every import passes, and what it reports of what it found.
import { STORED_TIMEFRAMES, TIMEFRAME_MS } from '../engine/columns/bars.ts';
import type { StoredTimeframe } from '../engine/columns/bars.ts';
import type { SnapshotColumns } from '../engine/columns/arrow.ts';
import { findColumns } from './header.ts';
import type { ColumnRoles } from './header.ts';
import { countGaps } from './gaps.ts';
import type { GapCount } from './gaps.ts';
import { RefusalList, refuse } from './refusal.ts';
import type { Cells, Table } from './table.ts';
import { commonestStep, readTimes } from './times.ts';
import type { TimeReading } from './times.ts';

export interface ReadOptions {
  /** Absent: told by the commonest step. */
  readonly timeframe?: StoredTimeframe;
  /** Used when there is a single bar and no timeframe is given. */
  readonly timeframeHint?: StoredTimeframe;
  /** What the times of the file are; default open (close when the file has none but close times). */
  readonly timeIs?: 'open' | 'close';
}

/** What an import found out and echoes, so that a wrong guess is seen. */
export interface ImportReport extends GapCount {
  readonly timeframe: StoredTimeframe;
  readonly isTimeframeInferred: boolean;
  readonly bars: number;
  /** [start, end): open of the first bar, close of the last, ms UTC. */
  readonly start: number;
  readonly end: number;
  readonly format: Table['format'];
  readonly time: {
    readonly column: string;
    readonly unit: TimeReading['unit'];
    readonly zone: TimeReading['zone'];
    readonly is: 'open' | 'close';
  };
  /** Extra numeric columns, kept as `series`. */
  readonly series: readonly string[];
  /** Columns that were not kept: no numbers, or a second time. */
  readonly ignored: readonly string[];
  readonly notes: readonly string[];
}
export interface BarsTable {
  readonly columns: SnapshotColumns;
  readonly report: ImportReport;
}

/** Adjusted prices are rounded after they were multiplied: a high may lie this fraction below a close it equals. */
const ROUNDING = 1e-9;
const RESERVED = new Set(['time', 'open', 'high', 'low', 'close', 'volume']);

/** @throws MarketDataError with the rows at fault; then nothing of the table is used */
export function readBars(table: Table, options: ReadOptions = {}): BarsTable {
  if (table.rowCount === 0) refuse('NO_ROWS', 'The file holds no bars.');
  const roles = findColumns(table, options.timeIs);
  const refusals = new RefusalList(table.firstLine);
  const notes: string[] = [];
  const reading = readTimes(roles.time, refusals);
  refusals.throwIfAny();
  const { timeframe, times } = settleTimeframe(reading, options, notes);
  const is = options.timeIs ?? (roles.isCloseTime ? 'close' : 'open');
  const time = is === 'close' ? times.map((close) => wholeSecond(close) - TIMEFRAME_MS[timeframe]) : times;
  const prices = readPrices(roles, refusals, notes);
  checkOrder(time, timeframe, reading.localDays !== null, refusals);
  refusals.throwIfAny();
  const volume = readVolume(roles.volume, table.rowCount, refusals, notes);
  refusals.throwIfAny();
  const { series, dropped } = readSeries(roles);
  const report: ImportReport = {
    timeframe,
    isTimeframeInferred: options.timeframe === undefined,
    bars: time.length,
    start: time[0],
    end: time[time.length - 1] + TIMEFRAME_MS[timeframe],
    ...countGaps(time, TIMEFRAME_MS[timeframe]),
    format: table.format,
    time: { column: roles.timeName, unit: reading.unit, zone: reading.zone, is },
    series: [...series.keys()],
    ignored: [...roles.ignored, ...dropped],
    notes,
  };
  return { columns: { time, ...prices, volume, series }, report };
}

/** Binance writes the close of a bar as its last millisecond, 12:59:59.999. */
const wholeSecond = (time: number): number => (time % 1000 === 999 ? time + 1 : time);

/** Which timeframe the bars are of, and whether their times are calendar days of a place (then those days are taken as UTC days). */
function settleTimeframe(
  reading: TimeReading,
  options: ReadOptions,
  notes: string[],
): { timeframe: StoredTimeframe; times: Float64Array } {
  const { times, localDays } = reading;
  if (localDays) {
    const timeframe = options.timeframe ?? inferTimeframe(localDays, options.timeframeHint);
    if (timeframe === '1d') {
      notes.push('The times are midnights of a place, not of UTC: each bar is put on its calendar day, at 00:00 UTC.');
      return { timeframe, times: localDays };
    }
  }
  const timeframe = options.timeframe ?? inferTimeframe(times, options.timeframeHint);
  const step = commonestStep(times);
  if (step !== null && step > TIMEFRAME_MS[timeframe]) {
    notes.push(`Most bars are ${duration(step)} apart, not ${timeframe}: is the timeframe right?`);
  }
  return { timeframe, times };
}

function inferTimeframe(times: Float64Array, hint: StoredTimeframe | undefined): StoredTimeframe {
  const known = STORED_TIMEFRAMES.join(', ');
  const step = commonestStep(times);
  if (step === null)
    return (
      hint ?? refuse('TIMEFRAME_UNKNOWN', `A single bar does not tell its timeframe: give --timeframe (${known}).`)
    );
  const found = STORED_TIMEFRAMES.find((timeframe) => TIMEFRAME_MS[timeframe] === step);
  return (
    found ??
    refuse('TIMEFRAME_UNKNOWN', `Most bars are ${duration(step)} apart, which is no stored timeframe (${known}).`)
  );
}

function checkOrder(time: Float64Array, timeframe: StoredTimeframe, isLocal: boolean, refusals: RefusalList): void {
  const stepMs = TIMEFRAME_MS[timeframe];
  for (let row = 1; row < time.length; row++) {
    const step = time[row] - time[row - 1];
    if (step > 0 && step % stepMs === 0) continue;
    const at = `${iso(time[row])} after ${iso(time[row - 1])}`;
    if (step === 0) refusals.add('TIME_DUPLICATE', row, `the time ${iso(time[row])} is there twice`);
    else if (step < 0) refusals.add('TIME_UNSORTED', row, `${at}: sort the rows by time, oldest first`);
    else {
      const hint = timeframe === '1d' && !isLocal ? '; give daily bars as dates, without a time of day' : '';
      refusals.add(
        'STEP_NOT_MULTIPLE',
        row,
        `${at}: a step of ${duration(step)} is no multiple of ${timeframe}${hint}`,
      );
    }
  }
}

function readPrices(
  roles: ColumnRoles,
  refusals: RefusalList,
  notes: string[],
): Pick<SnapshotColumns, 'open' | 'high' | 'low' | 'close'> {
  const open = roles.open.numbers.slice();
  const high = roles.high.numbers.slice();
  const low = roles.low.numbers.slice();
  const close = roles.close.numbers.slice();
  let rounded = 0;
  for (let row = 0; row < open.length; row++) {
    const before = refusals.total;
    checkNumber('open', roles.open, row, refusals);
    checkNumber('high', roles.high, row, refusals);
    checkNumber('low', roles.low, row, refusals);
    checkNumber('close', roles.close, row, refusals);
    if (refusals.total > before) continue;
    const top = open[row] > close[row] ? open[row] : close[row];
    const bottom = open[row] < close[row] ? open[row] : close[row];
    if (high[row] < top * (1 - ROUNDING))
      refusals.add('HIGH_BELOW_BODY', row, `high ${high[row]} is below ${bodyEnd(open[row], close[row], top)}`);
    if (low[row] > bottom * (1 + ROUNDING))
      refusals.add('LOW_ABOVE_BODY', row, `low ${low[row]} is above ${bodyEnd(open[row], close[row], bottom)}`);
    if (high[row] < top || low[row] > bottom) rounded++;
    if (high[row] < top) high[row] = top;
    if (low[row] > bottom) low[row] = bottom;
  }
  if (rounded > 0)
    notes.push(
      `${rounded} bars had a high or low inside the body by rounding (less than ${ROUNDING} of the price); it was set to the body's end.`,
    );
  return { open, high, low, close };
}

const bodyEnd = (open: number, close: number, end: number): string =>
  end === close ? `close ${close}` : `open ${open}`;

function checkNumber(name: string, cells: Cells, row: number, refusals: RefusalList): void {
  const value = cells.numbers[row];
  if (value >= 0 && value < Infinity) return;
  const text = cells.texts?.[row];
  if (text !== undefined) refusals.add('VALUE_NOT_A_NUMBER', row, `${name} "${text.slice(0, 60)}" is no number`);
  else if (Number.isNaN(value)) refusals.add('VALUE_MISSING', row, `${name} is missing (NaN)`);
  else if (value < 0) refusals.add('VALUE_NEGATIVE', row, `${name} ${value} is negative`);
  else refusals.add('VALUE_NOT_A_NUMBER', row, `${name} is infinite`);
}

function readVolume(cells: Cells | null, rows: number, refusals: RefusalList, notes: string[]): Float64Array {
  if (cells === null || (cells.texts === null && cells.numbers.every(Number.isNaN))) {
    notes.push('No volume in the file: 0 everywhere.');
    return new Float64Array(rows);
  }
  for (let row = 0; row < rows; row++) checkNumber('volume', cells, row, refusals);
  return cells.numbers.slice();
}

/** Numeric columns become series, holes NaN; a column with any word in it, or nothing at all, is dropped and named. */
function readSeries(roles: ColumnRoles): { series: Map<string, Float64Array>; dropped: string[] } {
  const series = new Map<string, Float64Array>();
  const dropped: string[] = [];
  for (const { name, cells } of roles.extra) {
    const isNumeric =
      cells.texts === null && cells.unit === undefined && cells.numbers.some((value) => !Number.isNaN(value));
    if (!isNumeric) dropped.push(name);
    else series.set(freeName(name, series), cells.numbers.map((value) => (Number.isFinite(value) ? value : NaN))); // prettier-ignore
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
  const parts: [number, string][] = [[86_400_000, 'd'], [3_600_000, 'h'], [60_000, 'min'], [1000, 's']]; // prettier-ignore
  const [unitMs, unit] = parts.find(([unitMs]) => ms >= unitMs) ?? [1, 'ms'];
  return `${Math.round((ms / unitMs) * 1000) / 1000} ${unit}`;
}
