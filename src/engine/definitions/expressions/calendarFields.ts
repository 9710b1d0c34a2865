// Calendar fields of `time`: the place of a bar in its session, and of its trading day in the month (semantics §1.15).
import { DAY_MS } from '../../bars/bars.ts';
import { countBarsToClose, countExchangeBars, tradingDaysOfBars } from '../../bars/exchangeSessions.ts';
import { countBarsToSessionEnd, countSessionBars } from '../../bars/inferredSessions.ts';
import { exchangeOf } from '../../bars/runCalendar.ts';
import { isIntraday, shortestMs } from '../../bars/timeframes.ts';
import { placeInMonth, tradingDayFrom } from '../../bars/tradingDays.ts';
import type { CALENDAR_FIELDS } from '../words.ts';
import { range, type Range } from './intervals.ts';
import type { OperandColumns } from './planSteps.ts';

export type CalendarField = (typeof CALENDAR_FIELDS)[number];

interface CalendarFieldDefinition {
  /** The minutes of a day bound sessions, its days a month. */
  readonly range: Range;
  column(bars: OperandColumns, out: Float64Array): void;
}

export const CALENDAR_FIELD_DEFINITIONS: Readonly<Record<CalendarField, CalendarFieldDefinition>> = {
  session_bar: {
    range: range(1, 1_440),
    column: ({ times, timeframe, instrument }, out) => {
      const exchange = exchangeOf(instrument);
      if (isWholeSession(timeframe)) out.fill(1);
      else if (exchange !== undefined) countExchangeBars(times, shortestMs(timeframe), exchange, out);
      else countSessionBars(times, shortestMs(timeframe), instrument.tradesAllDay, out);
    },
  },
  bars_to_session_end: {
    range: range(0, 1_439),
    column: ({ times, timeframe, instrument }, out) => {
      const exchange = exchangeOf(instrument);
      if (isWholeSession(timeframe)) out.fill(0);
      else if (exchange !== undefined) countBarsToClose(times, shortestMs(timeframe), exchange, out);
      else countBarsToSessionEnd(times, shortestMs(timeframe), instrument.tradesAllDay, out);
    },
  },
  trading_day_of_month: {
    range: range(1, 31),
    column: (bars, out) => countTradingDays(bars, 'fromStart', out),
  },
  trading_days_to_month_end: {
    range: range(0, 30),
    column: (bars, out) => countTradingDays(bars, 'toEnd', out),
  },
};

/** A bar of a day or more holds whole sessions. */
const isWholeSession = (timeframe: OperandColumns['timeframe']): boolean => !isIntraday(timeframe);

/** The place of each bar's trading day in its month; a day without trading counts as the next one with it. */
function countTradingDays(bars: OperandColumns, count: 'fromStart' | 'toEnd', out: Float64Array): void {
  const { isTradingDay } = bars.calendar;
  let [day, value] = [NaN, NaN];
  for (const [row, opened] of daysOfBars(bars).entries()) {
    if (opened !== day) value = placeInMonth(tradingDayFrom(opened, isTradingDay), isTradingDay)[count];
    day = opened;
    out[row] = value;
  }
}

/** The UTC day on which each bar opens, or that of its session where the hours of the exchange are known. */
function daysOfBars({ times, timeframe, instrument }: OperandColumns): Float64Array {
  const exchange = exchangeOf(instrument);
  return exchange === undefined || isWholeSession(timeframe)
    ? times.map((time) => Math.floor(time / DAY_MS))
    : tradingDaysOfBars(times, shortestMs(timeframe), exchange);
}
