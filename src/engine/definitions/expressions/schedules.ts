// Schedules: the instants of a calendar at which one is due, and the bars on which it takes place (semantics §1.14).
import { DAY_MS, MINUTE_MS, type Timeframe } from '../../bars/bars.ts';
import type { RunCalendar } from '../../bars/runCalendar.ts';
import { isFiner, openOf } from '../../bars/timeframes.ts';
import { weekdayOf, type IsTradingDay } from '../../bars/tradingDays.ts';
import { wordCount } from '../../kernels/bits.ts';
import { lowerBound } from '../../kernels/search.ts';
import { newKeptWords } from '../../kernels/sharedBuffer.ts';

export const SCHEDULE_PERIODS = ['day', 'week', 'month', 'quarter', 'year'] as const;
type SchedulePeriod = (typeof SCHEDULE_PERIODS)[number];

/** One day of every period, and the time of that day from which on it is due. */
export interface DaySchedule {
  readonly every: SchedulePeriod;
  /** The k-th trading day of the period; negative: counted from its end. */
  readonly on: number;
  /** UTC; absent: from the beginning of the day. */
  readonly at?: string;
}

const MONTHS: Readonly<Record<string, number>> = { month: 1, quarter: 3, year: 12 };

/** The first day of the period that a day is in. Weeks begin on Monday. */
function firstDayOf(every: SchedulePeriod, day: number): number {
  if (every === 'day') return day;
  if (every === 'week') return day - weekdayOf(day);
  const date = new Date(day * DAY_MS);
  const month = date.getUTCMonth();
  return Date.UTC(date.getUTCFullYear(), month - (month % MONTHS[every]), 1) / DAY_MS;
}

/** The first day of the period after the one that begins on a day. */
function nextPeriod(every: SchedulePeriod, firstDay: number): number {
  if (every === 'day') return firstDay + 1;
  if (every === 'week') return firstDay + 7;
  const date = new Date(firstDay * DAY_MS);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + MONTHS[every], 1) / DAY_MS;
}

/** The scheduled day of the period [from, to); undefined: it has too few trading days. */
function dayIn(from: number, to: number, place: number, isTradingDay: IsTradingDay): number | undefined {
  const step = Math.sign(place);
  let left = Math.abs(place);
  for (let day = place > 0 ? from : to - 1; day >= from && day < to; day += step) {
    if (isTradingDay(day) && --left === 0) return day;
  }
  return undefined;
}

const timeOfDay = (clock: string): number => (Number(clock.slice(0, 2)) * 60 + Number(clock.slice(3))) * MINUTE_MS;

/**
 * Marks the bars on which the schedule takes place. It is due from `at` on, on its day of each period, and takes place
 * on the first followed bar that opens then or later: on a holiday, on the first bar after it. A bar of a week or a
 * month holds the day. Days before the first bar are left out.
 * @param times the open times of the bars that are marked, of this timeframe like the followed ones
 */
export function scheduledDays(
  schedule: DaySchedule,
  times: Float64Array,
  timeframe: Timeframe,
  calendar: RunCalendar,
): Uint32Array {
  const { followed, axis, isTradingDay } = calendar;
  if (followed === null) return marked(findPlaces(schedule, times, timeframe, isTradingDay), times);
  const found = foundIn(schedule, followed, timeframe, calendar);
  // The axis has all times of the instrument: as many are the same ones.
  if (axis === null || times.length !== axis.length) return marked(found.places, times);
  return (found.onAxis ??= marked(found.places, axis));
}

/** What the instruments of a universe share of a schedule, all of which follow the same bars. */
interface Found {
  /** The open times of the bars on which it takes place. */
  readonly places: readonly number[];
  /** The marks of an instrument that has a bar at every instant, as most of one market have; null: none was asked. */
  onAxis: Uint32Array | null;
}
const known = new WeakMap<RunCalendar, Map<string, Found>>();

function foundIn(schedule: DaySchedule, followed: Float64Array, timeframe: Timeframe, calendar: RunCalendar): Found {
  let schedules = known.get(calendar);
  if (schedules === undefined) known.set(calendar, (schedules = new Map()));
  const key = `${schedule.every} ${schedule.on} ${schedule.at}`;
  let found = schedules.get(key);
  if (found === undefined) {
    found = { places: findPlaces(schedule, followed, timeframe, calendar.isTradingDay), onAxis: null };
    schedules.set(key, found);
  }
  return found;
}

function marked(places: readonly number[], times: Float64Array): Uint32Array {
  const out = newKeptWords(wordCount(times.length));
  for (const time of places) mark(time, times, out);
  return out;
}

/** The open times of the bars on which a schedule takes place. */
const findPlaces = (
  schedule: DaySchedule,
  followed: Float64Array,
  timeframe: Timeframe,
  isTradingDay: IsTradingDay,
): number[] => Array.from(occurrencesOf(schedule, followed, timeframe, isTradingDay), ({ time }) => time);

/** Each day that takes place, and the open time of the bar on which it does. */
function* occurrencesOf(
  { every, on, at }: DaySchedule,
  followed: Float64Array,
  timeframe: Timeframe,
  isTradingDay: IsTradingDay,
): Generator<{ readonly day: number; readonly time: number }> {
  if (followed.length === 0) return;
  const firstDay = Math.floor(followed[0] / DAY_MS);
  const clock = at === undefined ? 0 : timeOfDay(at);
  const holdsDays = isFiner('1d', timeframe);
  for (let from = firstDayOf(every, firstDay), to; ; from = to) {
    to = nextPeriod(every, from);
    const day = dayIn(from, to, on, isTradingDay);
    const due = (day ?? from) * DAY_MS + (day === undefined ? 0 : clock);
    const bar = lowerBound(followed, holdsDays ? openOf(timeframe, due) : due);
    if (bar === followed.length) return;
    if (day !== undefined && day >= firstDay) yield { day, time: followed[bar] };
  }
}

/**
 * The days, as midnights UTC, that took place late, on a bar between two instants, and how many did at all. The bars
 * take a day or less.
 */
export function lateDaysOf(
  schedule: DaySchedule,
  times: Float64Array,
  { followed, isTradingDay }: Pick<RunCalendar, 'followed' | 'isTradingDay'>,
  { from, to }: { readonly from: number; readonly to: number },
): { readonly late: readonly number[]; readonly count: number } {
  const late: number[] = [];
  let count = 0;
  for (const { day, time } of occurrencesOf(schedule, followed ?? times, '1d', isTradingDay)) {
    if (time < from || time > to) continue;
    count++;
    if (time >= (day + 1) * DAY_MS) late.push(day * DAY_MS);
  }
  return { late, count };
}

/** Marks every n-th bar of the axis, from the first on. */
export function everyBarsOf(bars: number, times: Float64Array, { axis }: RunCalendar): Uint32Array {
  const out = newKeptWords(wordCount(times.length));
  const counted = axis ?? times;
  for (let bar = 0; bar < counted.length; bar += bars) mark(counted[bar], times, out);
  return out;
}

/** Marks the bar that opens at this time, if there is one. */
function mark(time: number, times: Float64Array, out: Uint32Array): void {
  const row = lowerBound(times, time);
  if (times[row] === time) out[row >>> 5] |= 1 << (row & 31);
}
