// The calendar of a run: the days on which it trades, and the bars that its schedules follow (semantics §1.14).
import { hash } from 'node:crypto';
import type { Bars, Market, Universe } from './bars.ts';
import { timeAxisOf } from './timeAxis.ts';
import { isAnyDay, isWeekday, type IsTradingDay } from './tradingDays.ts';

export interface RunCalendar {
  /** Every day of the week is a trading day; false: Monday to Friday. */
  readonly tradesAllDay: boolean;
  readonly isTradingDay: IsTradingDay;
  /** Open times of the bars on which a scheduled day takes place; null: of the bars that a column belongs to. */
  readonly followed: Float64Array | null;
  /** Open times of the bars that `everyBars` counts; null: of the bars that a column belongs to. */
  readonly axis: Float64Array | null;
  /** Equal for calendars that give equal columns on the same bars. */
  readonly key: string;
}

/** The calendar of a run of one instrument, which follows its own bars. */
export const calendarOf = ({ instrument: { tradesAllDay } }: Pick<Market, 'instrument'>): RunCalendar => ({
  tradesAllDay,
  isTradingDay: tradingDaysOf(tradesAllDay),
  followed: null,
  axis: null,
  key: tradesAllDay ? 'all days' : 'five days',
});

/** The calendar of the bars of another timeframe or instrument, which no other instrument shares. */
export const ownBarsOf = (calendar: RunCalendar): RunCalendar => ({
  tradesAllDay: calendar.tradesAllDay,
  isTradingDay: calendar.isTradingDay,
  followed: null,
  axis: null,
  key: calendar.key,
});

/** Five days if any instrument has them, whose bars alone are followed then. Nothing is computed before it is read. */
class UniverseCalendar implements RunCalendar {
  readonly tradesAllDay: boolean;
  readonly isTradingDay: IsTradingDay;
  readonly #instruments: readonly Market[];
  readonly #followed: readonly Market[];
  #axis: Float64Array | undefined;
  #days: Float64Array | undefined;
  #key: string | undefined;

  constructor(instruments: readonly Market[]) {
    const fiveDay = instruments.filter(({ instrument }) => !instrument.tradesAllDay);
    this.tradesAllDay = fiveDay.length === 0;
    this.isTradingDay = tradingDaysOf(this.tradesAllDay);
    this.#instruments = instruments;
    this.#followed = this.tradesAllDay ? instruments : fiveDay;
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

const tradingDaysOf = (tradesAllDay: boolean): IsTradingDay => (tradesAllDay ? isAnyDay : isWeekday);
const timesOf = (markets: readonly Market[]): Float64Array => timeAxisOf(markets.map(({ base }) => base)).time;
const memberText = ({ base, instrument }: Market): string => `${barsText(base)}#${instrument.tradesAllDay}`;
const barsText = ({ symbol, timeframe, sha256, length }: Bars): string => `${symbol}:${timeframe}#${sha256}#${length}`;
