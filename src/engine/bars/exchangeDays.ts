// Days of bars beside the calendar of their exchange: trading days without a bar, and bars on days without trading.
import { DAY_MS, type Bars } from './bars.ts';
import type { ExchangeCalendar } from './exchangeCalendar.ts';
import { tradingDaysOfBars } from './exchangeSessions.ts';
import { KeptByRange } from './keptByRange.ts';
import { isFiner, isIntraday, shortestMs } from './timeframes.ts';
import { localTimes } from './timeZones.ts';

interface ComparedDays {
  /** Trading days between the first bar and the last that have none, as midnights UTC. */
  readonly missing: readonly number[];
  /** Days with daily bars on which the exchange was closed, as midnights UTC. */
  readonly closed: readonly number[];
}

const kept = new WeakMap<ExchangeCalendar, KeptByRange<Float64Array, ComparedDays>>();

/** Compares the days of rows [start, end) with a calendar, once for all runs over them. */
export function compareRange(
  { time, timeframe }: Pick<Bars, 'time' | 'timeframe'>,
  start: number,
  end: number,
  exchange: ExchangeCalendar,
): ComparedDays {
  let ranges = kept.get(exchange);
  if (ranges === undefined) kept.set(exchange, (ranges = new KeptByRange()));
  return ranges.get(time, start, end, () => compareDays({ time: time.subarray(start, end), timeframe }, exchange));
}

/** Compares the days of bars with a calendar. A bar of more than a day says nothing of its days. */
export function compareDays(
  { time, timeframe }: Pick<Bars, 'time' | 'timeframe'>,
  exchange: ExchangeCalendar,
): ComparedDays {
  if (time.length === 0 || isFiner('1d', timeframe)) return { missing: [], closed: [] };
  const days = new Set(
    isIntraday(timeframe)
      ? tradingDaysOfBars(time, shortestMs(timeframe), exchange)
      : time.map((one) => Math.floor(one / DAY_MS)),
  );
  const all = [...days];
  const missing: number[] = [];
  const [first, last] = [Math.max(all[0], exchange.firstDay), Math.min(all[all.length - 1], exchange.lastDay)];
  for (let day = first; day <= last; day++)
    if (exchange.isTradingDay(day) && !days.has(day)) missing.push(day * DAY_MS);
  const closed = all.filter((day) => !exchange.isTradingDay(day)).map((day) => day * DAY_MS);
  return { missing, closed };
}

/** Why an exchange does not trade at all from one instant up to another; null: it does. */
export function closureWithin(
  { from, to }: { readonly from: number; readonly to: number },
  isDaily: boolean,
  exchange: ExchangeCalendar,
): 'holiday' | 'weekend' | 'night' | null {
  const [start, end] = isDaily ? [from, to] : localTimes(Float64Array.of(from, to), exchange.timezone);
  const [first, last] = [Math.floor(start / DAY_MS), Math.floor((end - 1) / DAY_MS)];
  let [hasHoliday, hasWeekend] = [false, false];
  for (let day = first; day <= last + 1; day++) {
    if (exchange.isTradingDay(day)) {
      if (isDaily ? day <= last : isOpenWithin(start - day * DAY_MS, end - day * DAY_MS, exchange.hoursOn(day)))
        return null;
    } else if (day <= last) {
      const isWeekend = (day + 3) % 7 > 4;
      hasWeekend ||= isWeekend;
      hasHoliday ||= !isWeekend;
    }
  }
  return hasHoliday ? 'holiday' : hasWeekend ? 'weekend' : 'night';
}

/** Whether a session trades between two times of its day, its lunch apart. */
function isOpenWithin(
  from: number,
  to: number,
  { open, close, breakStart, breakEnd }: ReturnType<ExchangeCalendar['hoursOn']>,
): boolean {
  const isLunch = from >= breakStart && to <= breakEnd;
  return from < close && to > open && !isLunch;
}
