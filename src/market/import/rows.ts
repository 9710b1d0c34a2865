// Rows: which rows of a file become bars, by what its owner says of missing prices, of repeated times and of order.
import type { Timeframe } from '../../engine/bars/bars.ts';
import { barsBetween } from '../../engine/bars/timeframes.ts';
import { counted, durationText, isoInstant } from '../formatting.ts';
import type { ColumnRoles } from './header.ts';
import { refuse } from './importError.ts';
import type { RefusalList } from './importError.ts';
import type { ReadOptions } from './readOptions.ts';
import { firstRows, isSorted } from './steps.ts';
import type { Cells } from './table.ts';

/** Row numbers, ascending unless they were sorted; null: all of them, as they are. */
export type Selection = Int32Array | null;

/** The cells of some rows. */
export function takeRows(cells: Cells, rows: Int32Array): Cells {
  const numbers = new Float64Array(rows.length);
  for (let at = 0; at < rows.length; at++) numbers[at] = cells.numbers[rows[at]];
  const { texts, unit, iso } = cells;
  return { numbers, texts: texts && Array.from(rows, (row) => texts[row]), unit, iso };
}

/** The same for all columns of a file. */
export function takeRoles(roles: ColumnRoles, rows: Selection): ColumnRoles {
  if (rows === null) return roles;
  const take = (cells: Cells): Cells => takeRows(cells, rows);
  return {
    ...roles,
    time: take(roles.time),
    open: take(roles.open),
    high: take(roles.high),
    low: take(roles.low),
    close: take(roles.close),
    volume: roles.volume && take(roles.volume),
    extra: roles.extra.map(({ name, cells }) => ({ name, cells: take(cells) })),
  };
}

/** Rows with a time and prices: those in which one is missing or a price is 0 are left out (`--drop-na`). */
export function withoutMissing(roles: ColumnRoles, notes: string[]): Selection {
  const { time, open, high, low, close, volume } = roles;
  const isMissing = ({ numbers, texts }: Cells, row: number): boolean =>
    Number.isNaN(numbers[row]) && texts?.[row] === undefined;
  const prices = [open, high, low, close];
  const hasVolume = volume !== null && volume.numbers.some((value) => !Number.isNaN(value));
  const kept = new Int32Array(time.numbers.length);
  let count = 0;
  for (let row = 0; row < kept.length; row++) {
    if (isMissing(time, row) || prices.some((cells) => isMissing(cells, row))) continue;
    if (hasVolume && isMissing(volume, row)) continue;
    if (prices.some(({ numbers }) => numbers[row] === 0)) continue;
    kept[count++] = row;
  }
  if (count === kept.length) return null;
  if (count === 0) refuse('NO_ROWS', 'In every row of the file a time, a price or the volume is missing.');
  notes.push(`${counted(kept.length - count, 'row')} without a time, price or volume left out.`);
  return kept.subarray(0, count);
}

/** One row for each time (`--dedupe`), in the order of the times (`--sort`). */
export function uniqueAndSorted(
  times: Float64Array,
  { dedupe, sort }: Pick<ReadOptions, 'dedupe' | 'sort'>,
  notes: string[],
): Selection {
  let rows: Int32Array = Int32Array.from(times, (_, row) => row);
  if (dedupe !== undefined) {
    const chosen = new Map<number, number>();
    for (const row of rows) if (dedupe === 'last' || !chosen.has(times[row])) chosen.set(times[row], row);
    const unique = rows.filter((row) => chosen.get(times[row]) === row);
    const dropped = rows.length - unique.length;
    if (dropped > 0)
      notes.push(`${counted(dropped, 'row')} with a time that appears more than once left out; the ${dedupe} is kept.`);
    rows = unique;
  }
  if (
    sort &&
    !isSorted(
      Float64Array.from(rows, (row) => times[row]),
      1,
    )
  ) {
    // Stable, so that equal times stay in the order of the file.
    rows = rows.toSorted((a, b) => times[a] - times[b] || a - b);
    notes.push('The rows were put in the order of their times.');
  }
  return rows.length === times.length && isSorted(Float64Array.from(rows), 1) ? null : rows;
}

/** Refuses rows that all have the same time: their column has dates without times of day, or is not the time at all. */
export function refuseEqualTimes(times: Float64Array, name: string): void {
  if (times.length < 2 || times.some((time) => time !== times[0])) return;
  refuse(
    'TIME_DUPLICATE',
    `All ${times.length} rows have the time ${isoInstant(times[0])}, in column "${name}". Each bar needs its own: ` +
      'write the date and the time of day into one column, or into two named date and time.',
  );
}

/** Refuses times that do not run in one direction, in steps of the timeframe. */
export function checkOrder(time: Float64Array, timeframe: Timeframe, isReversed: boolean, refusals: RefusalList): void {
  // Rows in order repeat a time only next to each other.
  const firsts = isSorted(time, isReversed ? -1 : 1) ? null : firstRows(time);
  for (let row = 1; row < time.length; row++) {
    const step = isReversed ? time[row - 1] - time[row] : time[row] - time[row - 1];
    const first = firsts?.get(time[row]) ?? row;
    if (first === row && step > 0 && isWhole(timeframe, time[row - 1], time[row])) continue;
    const at = `${isoInstant(time[row])} after ${isoInstant(time[row - 1])}`;
    if (step === 0 || first < row)
      refusals.add(
        'TIME_DUPLICATE',
        row,
        `the time ${isoInstant(time[row])} appears twice` +
          `${step === 0 ? '' : `, first in row ${refusals.rowNumber(first)}`}; ` +
          'leave out one of the rows with --dedupe first or --dedupe last, or, since an hour repeats when clocks are ' +
          'set back, write local times with their UTC offset or name their zone with --timezone',
      );
    else if (step < 0) refusals.add('TIME_UNSORTED', row, `${at}: sort the rows by time, oldest first, or give --sort`);
    else {
      const isLast = row === time.length - 1;
      const daily = timeframe === '1d' ? '; write daily bars as dates, without a time of day' : '';
      const hint = isLast ? '; the last bar may not have ended: leave it out' : daily;
      refusals.add(
        'STEP_NOT_MULTIPLE',
        row,
        `${at}: a step of ${durationText(step)} is not a multiple of ${timeframe}${hint}`,
      );
    }
  }
}

const isWhole = (timeframe: Timeframe, from: number, to: number): boolean =>
  Number.isInteger(barsBetween(timeframe, from, to));
