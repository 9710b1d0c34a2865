// Weeks and months: the open of weekly and monthly bars, whose files date them by a day at the start or end of each.
import { DAY_MS, type Timeframe } from '../../engine/bars/bars.ts';
import { openOf } from '../../engine/bars/timeframes.ts';
import { refuse } from './importError.ts';

type Period = Extract<Timeframe, '1w' | '1M'>;

export const isPeriod = (timeframe: Timeframe): timeframe is Period => timeframe === '1w' || timeframe === '1M';

const HOUR_MS = 3_600_000;
/** Currencies open on the evening before their first day, at 21:00 or 22:00 UTC. */
const EVENING_MS = 17 * HOUR_MS;
/** Midnights east of UTC, such as 15:00 for Tokyo, come on the day before. */
const NOON_MS = 12 * HOUR_MS;
const DAY_NAMES = ['Sundays', 'Mondays', 'Tuesdays', 'Wednesdays', 'Thursdays', 'Fridays', 'Saturdays'];
const MONDAY = 1;
/** A month opens on one of its first days, or is dated by one of its last. */
const [LAST_OPENING_DAY, FIRST_CLOSING_DAY] = [7, 24];

const startOfDay = (time: number): number => Math.floor(time / DAY_MS) * DAY_MS;
const clockOf = (time: number): number => time - startOfDay(time);
const dayOfMonth = (time: number): number => new Date(time).getUTCDate();
const weekdayOf = (time: number): number => new Date(time).getUTCDay();
/** The last bar is often dated by the day on which the file was written. */
const almostAll = (times: Float64Array, test: (time: number) => boolean): boolean =>
  times.reduce((count, time) => count + Number(test(time)), 0) >= Math.max(1, times.length - 1);

/**
 * The Monday of each week, or the first day of each month, at 00:00 UTC.
 * @param timeIs which end of its bar each time is at
 * @throws MarketDataError where that end cannot be told from the times
 */
export function periodOpens(
  timeframe: Period,
  times: Float64Array,
  timeIs: 'open' | 'close',
  notes: string[],
): Float64Array {
  const opens = timeIs === 'close' ? times.map((time) => openOf(timeframe, time - 1)) : opensOf(timeframe, times);
  if (opens.some((open, row) => open !== times[row]))
    notes.push(`Each bar is put on the ${timeframe === '1w' ? 'Monday' : 'first day'} of its ${nameOf(timeframe)}.`);
  return opens;
}

const nameOf = (timeframe: Period): string => (timeframe === '1w' ? 'week' : 'month');

function opensOf(timeframe: Period, times: Float64Array): Float64Array {
  const isNextFirst = (time: number): boolean => {
    const next = startOfDay(time) + DAY_MS;
    return clockOf(time) >= NOON_MS && openOf(timeframe, next) === next;
  };
  if (almostAll(times, isNextFirst)) return times.map((time) => openOf(timeframe, time + DAY_MS / 2));
  const days = times.map((time) => startOfDay(time) + (clockOf(time) >= EVENING_MS ? DAY_MS : 0));
  if (timeframe === '1w') return weeksOf(days);
  if (almostAll(days, (day) => dayOfMonth(day) <= LAST_OPENING_DAY)) return days.map((day) => openOf(timeframe, day));
  if (almostAll(times, (time) => dayOfMonth(time) >= FIRST_CLOSING_DAY))
    return times.map((time) => openOf(timeframe, time));
  return refuse(
    'STEP_NOT_MULTIPLE',
    'Some monthly bars are dated in the middle of a month. Date each by the first day of its month, or import daily ' +
      'bars: months are made of them.',
  );
}

/** Weeks begin on Monday, or on the first day that trades. Another weekday may be the last of a week or its first. */
function weeksOf(days: Float64Array): Float64Array {
  const counts = [0, 0, 0, 0, 0, 0, 0];
  for (const day of days) counts[weekdayOf(day)]++;
  const commonest = counts.reduce((best, count, weekday) => (count > counts[best] ? weekday : best), 0);
  if (commonest === MONDAY) return days.map((day) => openOf('1w', day));
  return refuse(
    'STEP_NOT_MULTIPLE',
    `Most weekly bars are dated on ${DAY_NAMES[commonest]}. If that is the last day of each week, give --time-is ` +
      'close. Weeks that begin on another day than Monday are not stored: import daily bars, of which weeks are made.',
  );
}
