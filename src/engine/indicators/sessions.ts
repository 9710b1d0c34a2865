// Sessions: the UTC calendar periods at which session indicators start over.
import { DAY_MS } from '../bars/bars.ts';
import { choice, text } from './arguments.ts';
import type { ArgDefinition, Args } from './definition.ts';

type Period = 'day' | 'week' | 'month' | 'year';
const PERIODS: readonly Period[] = ['day', 'week', 'month', 'year'];

export const periodArg = (name: string): ArgDefinition => ({
  ...choice(name, 'day', PERIODS),
  description: 'UTC calendar period; a week begins on Monday.',
});
export const periodOf = (args: Args, name: string): Period => text(args, name) as Period;

/** The number of the period a UTC day (counted from 1970-01-01, a Thursday) belongs to. */
function periodNumber(day: number, period: Period): number {
  if (period === 'day') return day;
  if (period === 'week') return Math.floor((day + 3) / 7);
  const date = new Date(day * DAY_MS);
  return period === 'year' ? date.getUTCFullYear() : date.getUTCFullYear() * 12 + date.getUTCMonth();
}

/** True on every row whose bar opens in another period than the bar before it; row 0 included. */
export function periodStarts(time: Float64Array, period: Period): Uint8Array {
  const starts = new Uint8Array(time.length);
  let lastDay = NaN;
  let last = NaN;
  for (let row = 0; row < time.length; row++) {
    const day = Math.floor(time[row] / DAY_MS);
    if (day === lastDay) continue;
    const current = periodNumber(day, period);
    if (current !== last) starts[row] = 1;
    last = current;
    lastDay = day;
  }
  return starts;
}
