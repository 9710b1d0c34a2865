// Trading calendars: whether a market trades every day, as its bars show.
import { DAY_MS, TIMEFRAME_MS } from '../engine/bars/bars.ts';
import type { CalendarBasis, StoredTimeframe } from '../engine/bars/bars.ts';

export interface Calendar {
  /** true: 365 periods per year, false: 252. */
  readonly tradesAllDay: boolean;
  readonly basis: CalendarBasis;
}

const HOUR_MS = 3_600_000;
/**
 * Up to this many consecutive days without bars count as closed: a long weekend. Longer gaps say nothing about the
 * week.
 */
const LONGEST_CLOSURE_DAYS = 4;
/**
 * A market that pauses this long between two bars closes at night. Futures pause for one hour, crypto exchanges for
 * a few.
 */
const NIGHT_MS = { from: 4 * HOUR_MS, to: 20 * HOUR_MS };
/** Two nights in a row are a pattern; one may be an outage. */
const MIN_DAYS_FOR_NIGHTS = 3;
const SATURDAY = 6;
const SUNDAY = 0;

/**
 * Days are those of UTC. A market closes on a weekday that is absent more often than traded, whichever it is (Saturday
 * for currencies, Friday and Saturday in Riyadh). With less than a week of bars the weekend decides, then the
 * nights. A market without evidence is assumed to trade always.
 */
export function inferCalendar(time: Float64Array, timeframe: StoredTimeframe): Calendar {
  const days = tradedDays(time);
  const { traded, skipped } = countWeekdays(days);
  if (skipped.some((count, weekday) => count > traded[weekday])) return { tradesAllDay: false, basis: 'closed_days' };
  const tradesWeekends = traded[SATURDAY] > 0 && traded[SUNDAY] > 0;
  if (tradesWeekends) return { tradesAllDay: true, basis: 'traded_every_day' };
  const closesEveryNight =
    days.length >= MIN_DAYS_FOR_NIGHTS && countNights(time, TIMEFRAME_MS[timeframe]) >= days.length - 1;
  if (closesEveryNight) return { tradesAllDay: false, basis: 'closed_nights' };
  return { tradesAllDay: true, basis: 'assumed' };
}

/** Why a market was closed during a gap; holidays are not known. */
type Closure = 'weekend' | 'night';

/**
 * Says which gaps of these bars are expected, by the same evidence: those around a weekday on which the market closes,
 * and those of its nights.
 */
export function closuresOf(
  time: Float64Array,
  timeframe: StoredTimeframe,
): (gap: { readonly from: number; readonly to: number }) => Closure | null {
  const days = tradedDays(time);
  const { traded, skipped } = countWeekdays(days);
  const closesEveryNight =
    days.length >= MIN_DAYS_FOR_NIGHTS && 2 * countNights(time, TIMEFRAME_MS[timeframe]) >= days.length;
  return ({ from, to }) => {
    const first = Math.ceil(from / DAY_MS);
    const wholeDays = Math.floor(to / DAY_MS) - first;
    if (wholeDays > LONGEST_CLOSURE_DAYS) return null;
    for (let day = first; day < first + wholeDays; day++)
      if (skipped[weekdayOf(day)] > traded[weekdayOf(day)]) return 'weekend';
    return closesEveryNight && to - from >= NIGHT_MS.from && to - from <= NIGHT_MS.to ? 'night' : null;
  };
}

/** Days since 1970 that have bars. */
function tradedDays(time: Float64Array): number[] {
  const days: number[] = [];
  for (const at of time) {
    const day = Math.floor(at / DAY_MS);
    if (day !== days.at(-1)) days.push(day);
  }
  return days;
}

/** By weekday, Sunday first: days with bars, and days without bars between two that have some. */
function countWeekdays(days: readonly number[]): { traded: number[]; skipped: number[] } {
  const traded = [0, 0, 0, 0, 0, 0, 0];
  const skipped = [0, 0, 0, 0, 0, 0, 0];
  days.forEach((day, index) => {
    traded[weekdayOf(day)]++;
    const before = index > 0 ? days[index - 1] : day;
    if (day - before - 1 > LONGEST_CLOSURE_DAYS) return;
    for (let closed = before + 1; closed < day; closed++) skipped[weekdayOf(closed)]++;
  });
  return { traded, skipped };
}

/** 1970-01-01 was a Thursday. */
const weekdayOf = (day: number): number => (((day + 4) % 7) + 7) % 7;

function countNights(time: Float64Array, stepMs: number): number {
  let nights = 0;
  for (let row = 1; row < time.length; row++) {
    const shutMs = time[row] - time[row - 1] - stepMs;
    if (shutMs >= NIGHT_MS.from && shutMs <= NIGHT_MS.to) nights++;
  }
  return nights;
}
