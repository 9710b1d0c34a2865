// Bars from a table: the checks that every import must pass.
import { DAY_MS } from '../../engine/bars/bars.ts';
import type { SnapshotColumns } from '../../engine/bars/arrow.ts';
import { findColumns } from './header.ts';
import type { ColumnRoles } from './header.ts';
import { RefusalList, refuse } from './importError.ts';
import { summarizeSeries } from './importReport.ts';
import type { BarsTable } from './importReport.ts';
import { readPrices, readVolume } from './prices.ts';
import type { ReadOptions } from './readOptions.ts';
import { checkOrder, refuseEqualTimes, takeRoles, uniqueAndSorted, withoutMissing } from './rows.ts';
import type { Selection } from './rows.ts';
import { areDistinct, isNewestFirst } from './steps.ts';
import { symbolOfRow } from './table.ts';
import type { Table, Cells } from './table.ts';
import { openTimes } from './timeframeOf.ts';
import { readTimes } from './times.ts';

const RESERVED = new Set(['time', 'open', 'high', 'low', 'close', 'volume']);

/**
 * The bars take over the columns of the table, which is read once.
 * @throws MarketDataError with the invalid rows; then nothing of the table is used
 */
export function readBars(table: Table, options: ReadOptions = {}): BarsTable {
  if (table.rowCount === 0) refuse('NO_ROWS', 'The file holds no bars.');
  const found = findColumns(table, options);
  const notes: string[] = [...table.notes, ...found.notes];
  const present = options.dropNa ? withoutMissing(found, notes) : null;
  const filled = takeRoles(found, present);
  const rowsOfTable = table.rows ?? null;
  const timeRefusals = new RefusalList(table.firstLine, originalRows(rowsOfTable, present));
  const reading = readTimes(filled.time, timeRefusals, options);
  timeRefusals.throwIfAny(filled.time.numbers.length);
  for (const note of reading.notes) notes.push(note);
  if (options.columns?.symbol === undefined && !areDistinct(reading.times.toSorted()))
    refuseMixedRows(filled, reading.times);
  const chosen = options.dedupe !== undefined || options.sort ? uniqueAndSorted(reading.times, options, notes) : null;
  const roles = takeRoles(filled, chosen);
  const { times, clocks } = {
    times: takeNumbers(reading.times, chosen),
    clocks: reading.clocks && takeNumbers(reading.clocks, chosen),
  };
  const rowCount = times.length;
  refuseEqualTimes(times, roles.timeName);
  const timeIs = options.timeIs ?? (roles.isCloseTime ? 'close' : 'open');
  const { timeframe, time } = openTimes({ times, clocks, isDates: reading.isDates }, timeIs, options, notes);
  if (table.names === null) noteClockTimes(time, notes);
  const refusals = new RefusalList(table.firstLine, originalRows(rowsOfTable, originalRows(present, chosen)));
  const prices = readPrices(roles, refusals, notes);
  const isReversed = isNewestFirst(time);
  checkOrder(time, timeframe, isReversed, refusals);
  refusals.throwIfAny(rowCount);
  const volume = readVolume(roles.volume, rowCount, refusals);
  refusals.throwIfAny(rowCount);
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
    isCloseOnly: roles.isCloseOnly,
    series: [...series.keys()],
    ignored: [...roles.ignored, ...dropped],
    notes,
  } as const;
  return { columns, report };
}

const takeNumbers = (numbers: Float64Array, rows: Selection): Float64Array =>
  rows === null ? numbers : Float64Array.from(rows, (row) => numbers[row]);

/** The rows of the file after two selections, the second of which is among the rows of the first. */
const originalRows = (first: Selection, second: Selection): Selection =>
  first === null || second === null ? (first ?? second) : second.map((row) => first[row]);

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

/** Two downloads that overlap share fewer of their times than the rows of two instruments. */
const MIN_SHARE = 1 / 3;
/** A column of values, such as a count of trades, has more different ones. */
const MAX_VALUES = 1 / 3;
const SHOWN = 3;

/**
 * Refuses rows that a column tells apart wherever they have the same time: to keep the first would mix instruments.
 * @throws MarketDataError SEVERAL_INSTRUMENTS
 */
function refuseMixedRows({ extra }: Pick<ColumnRoles, 'extra'>, times: Float64Array): void {
  const groups = repeatedTimes(times);
  const rows = groups.reduce((sum, group) => sum + group.length - 1, 0);
  if (rows < times.length * MIN_SHARE) return;
  for (const { name, cells } of extra) {
    const values = valuesOf(cells, times.length);
    if (values === null || !groups.every((group) => areDifferent(cells, group))) continue;
    const shown = values.slice(0, SHOWN).join(', ') + (values.length > SHOWN ? ', …' : '');
    refuse(
      'SEVERAL_INSTRUMENTS',
      `Rows have the same time, and column "${name}" tells them apart (${shown}). Make a series of each: --columns ` +
        `"symbol=${name}". If it is the same series, say so: --columns symbol=.`,
    );
  }
}

/** The rows of each time that appears more than once. */
function repeatedTimes(times: Float64Array): number[][] {
  const firsts = new Map<number, number>();
  const groups = new Map<number, number[]>();
  times.forEach((time, row) => {
    const first = firsts.get(time);
    if (first === undefined) firsts.set(time, row);
    else groups.set(time, [...(groups.get(time) ?? [first]), row]);
  });
  return [...groups.values()];
}

/** The different values of a column; null if there are too many, or one. */
function valuesOf(cells: Cells, rowCount: number): readonly (string | null)[] | null {
  const values = new Set<string | null>();
  for (let row = 0; row < rowCount && values.size <= rowCount * MAX_VALUES; row++) values.add(symbolOfRow(cells, row));
  return values.size < 2 || values.size > rowCount * MAX_VALUES ? null : [...values];
}

const areDifferent = (cells: Cells, rows: readonly number[]): boolean =>
  new Set(rows.map((row) => symbolOfRow(cells, row))).size === rows.length;
