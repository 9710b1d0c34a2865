// Trading calendars: whether a market trades every day, as its bars show.
import { DAY_MS } from '../engine/bars/bars.ts';
import type { CalendarBasis, Timeframe } from '../engine/bars/bars.ts';
import type { ExchangeCalendar } from '../engine/bars/exchangeCalendar.ts';
import { closureWithin } from '../engine/bars/exchangeDays.ts';
import { isFiner, isIntraday, shortestMs } from '../engine/bars/timeframes.ts';

export interface Calendar {
  /** true: 365 periods per year, false: 252. */
  readonly tradesAllDay: boolean;
  readonly basis: CalendarBasis;
  /** The UTC days with bars per year of data, rounded; absent: stated, or too little data to count. */
  readonly daysPerYear?: number;
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
 * Less than half a year shows the week and not the year: holidays come in clusters.
 */
const MIN_COUNTED_DAYS = 182;
/** No market closes longer for its holidays; what is absent for longer is not data. */
const LONGEST_HOLIDAYS_DAYS = 14;
const DAYS_PER_YEAR = 365.25;
/** Days per year this near to the usual numbers are theirs: holidays and outages make the difference. */
const USUAL = { numbers: [252, 365], tolerance: 0.03 } as const;

/** How often a market trades, and on how many days per year of data. Weeks and months show neither. */
export function inferCalendar(time: Float64Array, timeframe: Timeframe): Calendar {
  if (isFiner('1d', timeframe)) return { tradesAllDay: true, basis: 'assumed' };
  const days = tradedDays(time);
  const calendar = inferWeek(time, days, timeframe);
  const daysPerYear = countDaysPerYear(days);
  return daysPerYear === undefined ? calendar : { ...calendar, daysPerYear };
}

/**
 * UTC days with bars per year of data, rounded to a usual number or to a whole one; undefined: too little data. Data is
 * what lies between the first and the last day, less gaps of more than two weeks.
 */
function countDaysPerYear(days: readonly number[]): number | undefined {
  let covered = 0;
  for (let at = 1; at < days.length; at++) {
    const step = days[at] - days[at - 1];
    covered += step - 1 > LONGEST_HOLIDAYS_DAYS ? 1 : step;
  }
  if (covered < MIN_COUNTED_DAYS) return undefined;
  // Steps from day to day over the time that they take: the day on which the data ends does not weigh.
  const perYear = ((days.length - 1) / covered) * DAYS_PER_YEAR;
  const usual = USUAL.numbers.find((number) => Math.abs(perYear / number - 1) <= USUAL.tolerance);
  return usual ?? Math.round(perYear);
}

/**
 * Days are those of UTC. A market closes on a weekday that is absent more often than traded, whichever it is (Saturday
 * for currencies, Friday and Saturday in Riyadh). With less than a week of bars the weekend decides, then the
 * nights. A market without evidence is assumed to trade always.
 */
function inferWeek(time: Float64Array, days: readonly number[], timeframe: Timeframe): Calendar {
  const { traded, skipped } = countWeekdays(days);
  if (skipped.some((count, weekday) => count > traded[weekday])) return { tradesAllDay: false, basis: 'closed_days' };
  const tradesWeekends = traded[SATURDAY] > 0 && traded[SUNDAY] > 0;
  if (tradesWeekends) return { tradesAllDay: true, basis: 'traded_every_day' };
  const closesEveryNight =
    days.length >= MIN_DAYS_FOR_NIGHTS && countNights(time, shortestMs(timeframe)) >= days.length - 1;
  if (closesEveryNight) return { tradesAllDay: false, basis: 'closed_nights' };
  return { tradesAllDay: true, basis: 'assumed' };
}

/** Why a market was closed during a gap; holidays are known by a calendar only. */
type Closure = 'holiday' | 'weekend' | 'night';

/**
 * Says which gaps of these bars are expected, by the calendar of the exchange, else by the same evidence: those around
 * a weekday on which the market closes, and those of its nights.
 */
export function closuresOf(
  time: Float64Array,
  timeframe: Timeframe,
  exchange?: ExchangeCalendar,
): (gap: { readonly from: number; readonly to: number }) => Closure | null {
  if (exchange !== undefined) return (gap) => closureWithin(gap, !isIntraday(timeframe), exchange);
  const days = tradedDays(time);
  const { traded, skipped } = countWeekdays(days);
  const closesEveryNight =
    days.length >= MIN_DAYS_FOR_NIGHTS && 2 * countNights(time, shortestMs(timeframe)) >= days.length;
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
