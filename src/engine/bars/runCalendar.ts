// The calendar of a run: the days on which it trades, and the bars that its schedules follow (semantics §1.14).
import { hash } from 'node:crypto';
import type { Bars, Instrument, Market, Universe } from './bars.ts';
import { findExchange, type ExchangeCalendar } from './exchangeCalendar.ts';
import { timeAxisOf } from './timeAxis.ts';
import { isAnyDay, isWeekday, type IsTradingDay } from './tradingDays.ts';

export interface RunCalendar {
  readonly isTradingDay: IsTradingDay;
  /** False: the trading days are weekdays, among which holidays are not known. */
  readonly knowsHolidays: boolean;
  /** Open times of the bars on which a scheduled day takes place; null: of the bars that a column belongs to. */
  readonly followed: Float64Array | null;
  /** Open times of the bars that `everyBars` counts; null: of the bars that a column belongs to. */
  readonly axis: Float64Array | null;
  /** Equal for calendars that give equal columns on the same bars. */
  readonly key: string;
}

type CalendarOwner = Pick<Instrument, 'tradesAllDay' | 'calendar'>;

/**
 * The exchange whose calendar an instrument has.
 * @throws Error for one that this version does not know; imports refuse it.
 */
export function exchangeOf({ calendar }: Pick<Instrument, 'calendar'>): ExchangeCalendar | undefined {
  if (calendar === undefined) return undefined;
  const exchange = findExchange(calendar);
  if (exchange === undefined) throw new Error(`There is no calendar of the exchange ${calendar}.`);
  return exchange;
}

/** The calendar of a run of one instrument, which follows its own bars. */
export const calendarOf = ({ instrument }: Pick<Market, 'instrument'>): RunCalendar => ({
  isTradingDay: tradingDaysOf([instrument]),
  knowsHolidays: knowsHolidays([instrument]),
  followed: null,
  axis: null,
  key: daysText(instrument),
});

/** The calendar of the bars of another timeframe or instrument, which no other instrument shares. */
export const ownBarsOf = (calendar: RunCalendar): RunCalendar => ({
  isTradingDay: calendar.isTradingDay,
  knowsHolidays: calendar.knowsHolidays,
  followed: null,
  axis: null,
  key: calendar.key,
});

/** Instruments with closed days, if any, alone are followed. Nothing is computed before it is read. */
class UniverseCalendar implements RunCalendar {
  readonly isTradingDay: IsTradingDay;
  readonly knowsHolidays: boolean;
  readonly #instruments: readonly Market[];
  readonly #followed: readonly Market[];
  #axis: Float64Array | undefined;
  #days: Float64Array | undefined;
  #key: string | undefined;

  constructor(instruments: readonly Market[]) {
    const closing = instruments.filter(({ instrument }) => hasClosedDays(instrument));
    const owners = instruments.map(({ instrument }) => instrument);
    this.isTradingDay = tradingDaysOf(owners);
    this.knowsHolidays = knowsHolidays(owners);
    this.#instruments = instruments;
    this.#followed = closing.length === 0 ? instruments : closing;
  }

  get axis(): Float64Array {
    return (this.#axis ??= timesOf(this.#instruments));
  }

  get followed(): Float64Array {
    return (this.#days ??= timesOf(this.#followed));
  }

  get key(): string {
    return (this.#key ??= hash('sha256', this.#instruments.map(memberText).join('\n')));
  }
}

/** The calendar of a universe: a bar of bitcoin on a stock holiday meets no schedule. */
export const calendarOfUniverse = ({ instruments }: Universe): RunCalendar => new UniverseCalendar(instruments);

const hasClosedDays = ({ tradesAllDay, calendar }: CalendarOwner): boolean => calendar !== undefined || !tradesAllDay;
const knowsHolidays = (owners: readonly CalendarOwner[]): boolean =>
  owners.some(({ calendar }) => calendar !== undefined) || !owners.some(hasClosedDays);
const daysText = ({ tradesAllDay, calendar }: CalendarOwner): string =>
  `${tradesAllDay ? 'all days' : 'five days'}${calendar === undefined ? '' : ` of ${calendar}`}`;

/**
 * Days on which one of the exchanges trades; without a calendar, Monday to Friday if any instrument has closed days.
 */
function tradingDaysOf(instruments: readonly CalendarOwner[]): IsTradingDay {
  const exchanges = new Set(instruments.flatMap((instrument) => exchangeOf(instrument) ?? []));
  if (exchanges.size > 0) return (day) => exchanges.values().some(({ isTradingDay }) => isTradingDay(day));
  return instruments.some(hasClosedDays) ? isWeekday : isAnyDay;
}

const timesOf = (markets: readonly Market[]): Float64Array => timeAxisOf(markets.map(({ base }) => base)).time;
const memberText = ({ base, instrument }: Market): string => `${barsText(base)}#${daysText(instrument)}`;
const barsText = ({ symbol, timeframe, sha256, length }: Bars): string => `${symbol}:${timeframe}#${sha256}#${length}`;
