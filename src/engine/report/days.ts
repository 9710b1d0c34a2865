// Days and months of a series: where each UTC day of its bars ends, found once a snapshot (semantics §6.4).
import { DAY_MS } from '../columns/bars.ts';

export interface Days {
  /** The last row of each UTC day that has bars. */
  readonly lastRows: Int32Array;
  /** Start of the day, ms UTC. */
  readonly day: Float64Array;
}

/** By the time column, which lives and dies with its snapshot and is never written to. */
const indexed = new WeakMap<Float64Array, Days>();

/** The days of rows `start` … `end`-1; the last one ends at row end-1 even when its bars go on. */
export function daysOf(time: Float64Array, start: number, end: number): Days {
  if (start >= end) return { lastRows: new Int32Array(0), day: new Float64Array(0) };
  let all = indexed.get(time);
  if (all === undefined) indexed.set(time, (all = indexDays(time)));
  const { lastRows, day } = all;
  const first = firstAtLeast(lastRows, start);
  const last = firstAtLeast(lastRows, end - 1);
  const rows = lastRows.slice(first, last + 1);
  rows[rows.length - 1] = end - 1;
  return { lastRows: rows, day: day.subarray(first, last + 1) };
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

function firstAtLeast(ascending: Int32Array, wanted: number): number {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (ascending[middle] < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}
