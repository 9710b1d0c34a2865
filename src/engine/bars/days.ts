// Days and months of a series: where each UTC day of its bars ends, computed once per snapshot (semantics §6.4).
import { lowerBound } from '../kernels/search.ts';
import { DAY_MS, type Bars } from './bars.ts';
import { KeptByRange } from './keptByRange.ts';

interface Days {
  /** The last row of each UTC day that has bars. */
  readonly lastRows: Int32Array;
  /** Start of the day, ms UTC. */
  readonly day: Float64Array;
}

/** Keyed by the time column, which has the lifetime of its snapshot and is never written to. */
const indexed = new WeakMap<Float64Array, Days>();
const ranges = new KeptByRange<Float64Array, Days>();

/** The days of rows `start` … `end`-1; the last day ends at row end-1 even if more of its bars follow. */
export function daysOf(time: Float64Array, start: number, end: number): Days {
  if (start >= end) return { lastRows: new Int32Array(0), day: new Float64Array(0) };
  return ranges.get(time, start, end, () => {
    const { lastRows, day } = indexOf(time);
    const first = lowerBound(lastRows, start);
    const last = lowerBound(lastRows, end - 1);
    return { lastRows: ending(lastRows, first, last, end - 1), day: day.subarray(first, last + 1) };
  });
}

function indexOf(time: Float64Array): Days {
  let all = indexed.get(time);
  if (all === undefined) indexed.set(time, (all = indexDays(time)));
  return all;
}

const closes = new WeakMap<Float64Array, Float64Array>();

/** The closes of those days, gathered once per snapshot: rows so far apart are never in the cache. */
export function dayClosesOf({ time, close }: Bars, start: number, end: number): Float64Array {
  if (start >= end) return new Float64Array(0);
  const { lastRows } = indexOf(time);
  let gathered = closes.get(close);
  if (gathered === undefined) closes.set(close, (gathered = Float64Array.from(lastRows, (row) => close[row])));
  return ending(gathered, lowerBound(lastRows, start), lowerBound(lastRows, end - 1), close[end - 1]);
}

/** A part of a column with this last value; a view if the column has it there. */
function ending<C extends Int32Array | Float64Array>(column: C, first: number, last: number, value: number): C {
  if (column[last] === value) return column.subarray(first, last + 1) as C;
  const part = column.slice(first, last + 1) as C;
  part[part.length - 1] = value;
  return part;
}

function indexDays(time: Float64Array): Days {
  const lastRows: number[] = [];
  const day: number[] = [];
  let nextDay = -Infinity;
  for (let row = 0; row < time.length; row++) {
    if (time[row] < nextDay) continue;
    if (row > 0) lastRows.push(row - 1);
    const start = Math.floor(time[row] / DAY_MS) * DAY_MS;
    day.push(start);
    nextDay = start + DAY_MS;
  }
  if (time.length > 0) lastRows.push(time.length - 1);
  return { lastRows: Int32Array.from(lastRows), day: Float64Array.from(day) };
}
