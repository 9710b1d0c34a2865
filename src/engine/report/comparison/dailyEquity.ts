// Daily equity: the equity of a run at the end of each UTC day, for comparing and combining runs (docs/compare.md).
import { DAY_MS } from '../../bars/bars.ts';
import { daysOf } from '../../bars/days.ts';
import { numberColumn, type Table } from '../../bars/table.ts';
import { closeOf, shortestMs } from '../../bars/timeframes.ts';
import { lowerBound } from '../../kernels/search.ts';
import type { CompletedRun } from '../simulatedRun.ts';

export interface DailyEquity {
  /** The first evaluated open and the last evaluated close, ms UTC. */
  readonly start: number;
  readonly end: number;
  readonly initialBalance: number;
  /** How many days annualize its statistics. */
  readonly periodsPerYear: number;
  /** Starts of the days that have a mark, ms UTC, ascending. */
  readonly days: Float64Array;
  /** The last mark of each. */
  readonly equity: Float64Array;
}

/**
 * The last mark of each UTC day, as the statistics of a run read it. A bar belongs to the day of its open, and one that
 * is longer than a day to the day of its close, when its mark is known.
 */
export function dailyTable({ report }: Pick<CompletedRun, 'report'>): Table {
  const { input, simulation } = report;
  const { bars, start } = input;
  const end = Math.max(start, input.end);
  const isLong = shortestMs(bars.timeframe) > DAY_MS;
  const dayOfClose = (row: number): number =>
    Math.floor((closeOf(bars.timeframe, bars.time[row]) - 1) / DAY_MS) * DAY_MS;
  const { day, lastRows } = daysOf(bars.time, start, end);
  const days = isLong ? Float64Array.from(lastRows, dayOfClose) : day;
  const marks = simulation.streamed?.days ?? Float64Array.from(lastRows, (row) => simulation.equity[row - start]);
  return {
    length: days.length,
    columns: [{ name: 'time', type: 'time', read: (row) => days[row] }, numberColumn('equity', marks)],
  };
}

/** The days of the CSV file of a daily table. */
export function readDailyTable(csv: string): Pick<DailyEquity, 'days' | 'equity'> {
  const rows = csv.split('\r\n').slice(1, -1);
  const days = new Float64Array(rows.length);
  const equity = new Float64Array(rows.length);
  for (const [row, line] of rows.entries()) {
    const comma = line.indexOf(',');
    days[row] = Number(line.slice(0, comma));
    equity[row] = Number(line.slice(comma + 1));
  }
  return { days, equity };
}

/** A range of days, both included. */
export interface DayRange {
  readonly first: number;
  readonly last: number;
}

/** The days that all runs cover; null: there are none. */
export function commonDays(runs: readonly DailyEquity[]): DayRange | null {
  if (runs.some(({ days }) => days.length === 0)) return null;
  const first = runs.reduce((latest, { days }) => Math.max(latest, days[0]), -Infinity);
  const last = runs.reduce((earliest, { days }) => Math.min(earliest, days[days.length - 1]), Infinity);
  return first <= last ? { first, last } : null;
}

/** What the run was worth before a day: its last mark, or its initial balance. */
export function equityBefore({ days, equity, initialBalance }: DailyEquity, day: number): number {
  const row = lowerBound(days, day);
  return row === 0 ? initialBalance : equity[row - 1];
}

/** Every day of the range on which at least one of the runs has a mark, ascending. */
export function unionOfDays(runs: readonly DailyEquity[], { first, last }: DayRange): Float64Array {
  const all = new Set<number>();
  for (const { days } of runs) for (const day of days) if (day >= first && day <= last) all.add(day);
  return Float64Array.from(all).sort();
}

/** The marks of a run on these days; on a day without one, the mark before it. */
export function marksOn(run: DailyEquity, days: Float64Array): Float64Array {
  const marks = new Float64Array(days.length);
  if (days.length === 0) return marks;
  let row = lowerBound(run.days, days[0]);
  let mark = row === 0 ? run.initialBalance : run.equity[row - 1];
  for (let index = 0; index < days.length; index++) {
    if (run.days[row] === days[index]) mark = run.equity[row++];
    marks[index] = mark;
  }
  return marks;
}
