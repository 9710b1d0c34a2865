// Sessions: the calendar day of daily bars that are stamped at the open or close of a session, in whatever zone.
import { DAY_MS, TIMEFRAME_MS } from '../../engine/bars/bars.ts';
import { areDistinct } from './steps.ts';

const HOUR_MS = TIMEFRAME_MS['1h'];
/**
 * Currencies open at 17:00 in New York (21:00 or 22:00 UTC), futures an hour later. No stock exchange opens that late.
 */
const EVENING_MS = 17 * HOUR_MS;
/** Nothing opens in the last minute of a day: 23:59:59 is written for the day as a whole. */
const LAST_MINUTE_MS = DAY_MS - 60_000;
const [SUNDAY, FRIDAY, SATURDAY] = [0, 5, 6];

/**
 * The day, as its midnight, of a session that opens at this clock time: the next one for currencies and futures, which
 * open the evening before. (Dated by the day of its open, a daily bar would be known a day too early.)
 */
const dayOfOpen = (ms: number): number => {
  const day = Math.floor(ms / DAY_MS) * DAY_MS;
  return ms - day >= EVENING_MS && ms - day < LAST_MINUTE_MS ? day + DAY_MS : day;
};
/** The day of a session that ends at this time: midnight ends the day before. */
const dayOfClose = (ms: number): number => Math.floor((ms - 1) / DAY_MS) * DAY_MS;

/** The days of bars by the clocks of their market. */
export const daysOfClocks = (clocks: Float64Array, timeIs: 'open' | 'close'): Float64Array =>
  clocks.map(timeIs === 'close' ? dayOfClose : dayOfOpen);

interface SessionDays {
  readonly days: Float64Array;
  readonly note: string;
}

/**
 * The UTC days of daily bars whose times are those of their session: TradingView's and Alpaca's Unix times. null for
 * bars that begin at midnight, those of a market that trades on all days, and those that are no sessions.
 */
export function daysOfSessions(times: Float64Array, timeIs: 'open' | 'close'): SessionDays | null {
  let [earliest, latest] = [DAY_MS, 0];
  for (const time of times) {
    const clock = ((time % DAY_MS) + DAY_MS) % DAY_MS;
    if (clock < earliest) earliest = clock;
    if (clock > latest) latest = clock;
  }
  if (earliest >= LAST_MINUTE_MS && latest < DAY_MS && areDistinct(times.map(dayOfOpen)))
    return { days: times.map(dayOfOpen), note: 'Each bar is stamped in the last minute of its day, and is put on it.' };
  const isMoved = latest > earliest;
  if (latest === 0 || latest - earliest > HOUR_MS) return null;
  const days = timeIs === 'close' ? times.map(dayOfClose) : openDays(times, earliest);
  // A bar of a market without nights is not a session: it ends a day after its open, wherever that is.
  if (!areDistinct(days) || (!isMoved && tradesWeekends(days))) return null;
  const what = timeIs === 'close' ? 'ends' : 'begins';
  const when = isMoved ? 'which summer time moves' : `at ${new Date(earliest).toISOString().slice(11, 16)} UTC`;
  const next = days[0] > times[0] ? ', which is the next one' : '';
  return {
    days,
    note: `Each bar ${what} with its session, ${when}: it is put on the UTC day of the session${next}, at 00:00.`,
  };
}

/** Midnights east of UTC, such as 15:00 in Tokyo, belong to the next day: bars on Sundays and none on Fridays. */
function openDays(times: Float64Array, earliest: number): Float64Array {
  const days = times.map(dayOfOpen);
  const counts = weekdayCounts(days);
  const isDayEarly = counts[SUNDAY] > 0 && counts[FRIDAY] + counts[SATURDAY] === 0;
  return isDayEarly && earliest >= DAY_MS / 2 && days[0] <= times[0] ? days.map((day) => day + DAY_MS) : days;
}

function tradesWeekends(days: Float64Array): boolean {
  const counts = weekdayCounts(days);
  return counts[SUNDAY] > 0 && counts[SATURDAY] > 0;
}

/** How many days are Sundays, Mondays and so on. 1970-01-01 was a Thursday. */
function weekdayCounts(days: Float64Array): number[] {
  const counts = [0, 0, 0, 0, 0, 0, 0];
  for (const day of days) counts[(((day / DAY_MS + 4) % 7) + 7) % 7]++;
  return counts;
}
