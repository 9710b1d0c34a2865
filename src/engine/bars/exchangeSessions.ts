// Exchange sessions: the trading day of each bar and its place in the session, by a calendar (semantics §1.15).
import { DAY_MS } from './bars.ts';
import type { ExchangeCalendar } from './exchangeCalendar.ts';
import { localTimes } from './timeZones.ts';
import { tradingDayFrom } from './tradingDays.ts';

/**
 * The trading day of each bar: that of the session in which a part of it lies, or the day on which it opens, by the
 * clock of the exchange. `day` may be no trading day where the bar lies in no session.
 */
function* placesOf(
  times: Float64Array,
  barMs: number,
  exchange: ExchangeCalendar,
): Generator<{ readonly local: number; readonly day: number; readonly isInside: boolean }> {
  let session = { day: NaN, open: NaN, close: NaN };
  for (const local of localTimes(times, exchange.timezone)) {
    if (local + barMs > session.open && local < session.close) {
      yield { local, day: session.day, isInside: true };
      continue;
    }
    const today = Math.floor(local / DAY_MS);
    // A session may open on the evening before its day.
    const day = [today, today + 1].find((one) => isInSession(local, barMs, one, exchange));
    if (day !== undefined) {
      const { open, close } = exchange.hoursOn(day);
      session = { day, open: day * DAY_MS + open, close: day * DAY_MS + close };
    }
    yield { local, day: day ?? today, isInside: day !== undefined };
  }
}

function isInSession(local: number, barMs: number, day: number, exchange: ExchangeCalendar): boolean {
  if (!exchange.isTradingDay(day)) return false;
  const { open, close } = exchange.hoursOn(day);
  return local + barMs > day * DAY_MS + open && local < day * DAY_MS + close;
}

/** The trading day of each bar; of one in no session, that on which it opens, or the next. */
export function tradingDaysOfBars(times: Float64Array, barMs: number, exchange: ExchangeCalendar): Float64Array {
  const days = new Float64Array(times.length);
  let row = 0;
  for (const { day } of placesOf(times, barMs, exchange)) days[row++] = tradingDayFrom(day, exchange.isTradingDay);
  return days;
}

/** Counts the bars of each session from 1. NaN outside of sessions. @param barMs the length of a bar, below a day */
export function countExchangeBars(
  times: Float64Array,
  barMs: number,
  exchange: ExchangeCalendar,
  out: Float64Array,
): void {
  let [row, session, count] = [0, NaN, 0];
  for (const { day, isInside } of placesOf(times, barMs, exchange)) {
    if (isInside) count = day === session ? count + 1 : 1;
    if (isInside) session = day;
    out[row++] = isInside ? count : NaN;
  }
}

/** Counts the bars that a session still has after each bar. NaN outside of sessions. @param barMs below a day */
export function countBarsToClose(
  times: Float64Array,
  barMs: number,
  exchange: ExchangeCalendar,
  out: Float64Array,
): void {
  let row = 0;
  for (const { local, day, isInside } of placesOf(times, barMs, exchange)) {
    const { close, breakStart, breakEnd } = exchange.hoursOn(day);
    const time = local - day * DAY_MS;
    const left = Math.max(0, Math.ceil((close - time - barMs) / barMs));
    out[row++] = isInside ? left - barsWithin(breakStart - time, breakEnd - time, barMs) : NaN;
  }
}

/** How many of the bars that follow at multiples of `barMs` lie wholly in a break; no bar is expected there. */
function barsWithin(from: number, to: number, barMs: number): number {
  if (Number.isNaN(from)) return 0;
  const [first, last] = [Math.max(1, Math.ceil(from / barMs)), Math.floor((to - barMs) / barMs)];
  return Math.max(0, last - first + 1);
}
