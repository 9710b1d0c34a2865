// Rolling operations and clocks by their definitions, one window and one bar at a time.
import type { Concrete, RollingValue, TimeValue, TimeWindowCondition } from '../../../../src/engine/language/ast.ts';

/** Exact sum, rounded once: Shewchuk's partials, as Python's fsum. */
export function exactSum(numbers: readonly number[]): number {
  let partials: number[] = [];
  for (let x of numbers) {
    const kept: number[] = [];
    for (let y of partials) {
      if (Math.abs(x) < Math.abs(y)) [x, y] = [y, x];
      const high = x + y;
      const low = y - (high - x);
      if (low !== 0) kept.push(low);
      x = high;
    }
    partials = [...kept, x];
  }
  return partials.reduceRight((sum, part) => sum + part, 0);
}

const mean = (numbers: readonly number[]): number => exactSum(numbers) / numbers.length;
const variance = (numbers: readonly number[], ddof: number): number => {
  const middle = mean(numbers);
  return exactSum(numbers.map((x) => (x - middle) ** 2)) / (numbers.length - ddof);
};
function quantile(numbers: readonly number[], fraction: number): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const rank = fraction * (sorted.length - 1);
  const below = Math.floor(rank);
  return sorted[below] + (sorted[Math.min(below + 1, sorted.length - 1)] - sorted[below]) * (rank - below);
}

/** Of the present values up to and with the current one, oldest first; NaN while there are too few. */
export function rollingOf(node: Concrete<RollingValue>, present: readonly number[]): number {
  const { op, period } = node;
  const size = op === 'percentile_rank' ? period + 1 : period;
  if (present.length < size) return NaN;
  const window = present.slice(present.length - size);
  const last = window[size - 1];
  const ago = (wanted: number): number => size - 1 - window.lastIndexOf(wanted);
  switch (op) {
    case 'sum':
      return exactSum(window);
    case 'avg':
      return mean(window);
    case 'var':
      return variance(window, 0);
    case 'std':
      return Math.sqrt(variance(window, 0));
    case 'zscore': {
      const spread = Math.sqrt(variance(window, 1));
      return spread > 0 ? (last - mean(window)) / spread : 0;
    }
    case 'max':
      return Math.max(...window);
    case 'min':
      return Math.min(...window);
    case 'argmax':
      return ago(Math.max(...window));
    case 'argmin':
      return ago(Math.min(...window));
    case 'median':
      return quantile(window, 0.5);
    case 'quantile':
      return quantile(window, node.quantile ?? 0.5);
    case 'percentile_rank':
      return (window.filter((x, index) => index < period && x < last).length / period) * 100;
    case 'slope': {
      const middle = (period - 1) / 2;
      const moment = exactSum(window.map((x, index) => (index - middle) * x));
      return moment / exactSum(window.map((_, index) => (index - middle) ** 2));
    }
  }
}

interface Clock {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** The wall clock in a time zone, as the runtime's calendar writes it. */
export function clockOf(time: number, timeZone: string): Clock {
  let format = formats.get(timeZone);
  if (!format) {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone, hourCycle: 'h23', year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric',
    }); // prettier-ignore
    formats.set(timeZone, format);
  }
  const parts = Object.fromEntries(format.formatToParts(time).map(({ type, value }) => [type, Number(value)]));
  return parts as unknown as Clock;
}

const DAY_MS = 86_400_000;
const utcDay = ({ year, month, day }: Clock): number => Date.UTC(year, month - 1, day);
const weekdayOf = (day: number): number => (new Date(day).getUTCDay() + 6) % 7;

export function timeOf(field: Concrete<TimeValue>['field'], time: number, timezone: string): number {
  const clock = clockOf(time, timezone);
  const day = utcDay(clock);
  switch (field) {
    case 'minute':
      return clock.minute;
    case 'hour':
      return clock.hour;
    case 'minute_of_day':
      return clock.hour * 60 + clock.minute;
    case 'day_of_week':
      return weekdayOf(day) + 1;
    case 'day_of_month':
      return clock.day;
    case 'month':
      return clock.month;
    case 'year':
      return clock.year;
    case 'week_of_year': {
      // ISO: the week of the Thursday, counted from the week that has 4 January.
      const thursday = day + (3 - weekdayOf(day)) * DAY_MS;
      return 1 + Math.floor((thursday - Date.UTC(new Date(thursday).getUTCFullYear(), 0, 1)) / DAY_MS / 7);
    }
  }
}

const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
const minutesOf = (clock: string): number => Number(clock.slice(0, 2)) * 60 + Number(clock.slice(3));

/** Tested on the open time, [from, to), over midnight when from > to, and then of the day it began (semantics §1.9). */
export function isInWindow(window: Concrete<TimeWindowCondition>, time: number, timezone: string): boolean {
  const clock = clockOf(time, timezone);
  const minute = clock.hour * 60 + clock.minute;
  let day = utcDay(clock);
  if (window.between) {
    const [from, to] = [minutesOf(window.between.from), minutesOf(window.between.to)];
    const isIn = from <= to ? minute >= from && minute < to : minute >= from || minute < to;
    if (!isIn) return false;
    if (from > to && minute < to) day -= DAY_MS;
  }
  if (window.weekdays && !window.weekdays.includes(WEEKDAYS[weekdayOf(day)] as 'mon')) return false;
  const written = new Date(day).toISOString().slice(0, 10);
  return !(window.dates?.from && written < window.dates.from) && !(window.dates?.to && written > window.dates.to);
}

/** Local hours of each session: from, to, weekdays are all, zone. */
export const SESSIONS = {
  tokyo: ['09:00', '18:00', 'Asia/Tokyo'],
  london: ['08:00', '17:00', 'Europe/London'],
  new_york: ['08:00', '17:00', 'America/New_York'],
  us_equities: ['09:30', '16:00', 'America/New_York'],
} as const;
