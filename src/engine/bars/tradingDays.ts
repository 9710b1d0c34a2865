// Trading days: the days on which a market trades, and the place of a day among those of its month (semantics §1.14).
import { DAY_MS } from './bars.ts';

/** Whether a market trades on a day. Days are numbered from 1970-01-01, a Thursday. */
export type IsTradingDay = (day: number) => boolean;

/** Monday is 0. */
export const weekdayOf = (day: number): number => (((day + 3) % 7) + 7) % 7;
export const isAnyDay: IsTradingDay = () => true;
export const isWeekday: IsTradingDay = (day) => weekdayOf(day) < 5;

/** The longest time without a trading day that is looked through: no exchange was closed for as long since 1914. */
const MOST_CLOSED_DAYS = 60;

/** The day itself if it is a trading day, else the next one. */
export function tradingDayFrom(day: number, isTradingDay: IsTradingDay): number {
  for (let next = day; next < day + MOST_CLOSED_DAYS; next++) if (isTradingDay(next)) return next;
  return day;
}

interface PlaceInMonth {
  /** 1 on the first trading day of the month. */
  readonly fromStart: number;
  /** 0 on the last. */
  readonly toEnd: number;
}

/** The place of a trading day among those of its month: the calendar has it, so it is known in advance. */
export function placeInMonth(day: number, isTradingDay: IsTradingDay): PlaceInMonth {
  const date = new Date(day * DAY_MS);
  const first = Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1) / DAY_MS;
  const end = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1) / DAY_MS;
  let [fromStart, toEnd] = [1, 0];
  for (let other = first; other < day; other++) if (isTradingDay(other)) fromStart++;
  for (let other = day + 1; other < end; other++) if (isTradingDay(other)) toEnd++;
  return { fromStart, toEnd };
}
