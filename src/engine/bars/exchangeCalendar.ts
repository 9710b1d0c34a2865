// Exchange calendars: the trading days and hours of exchanges, from a table that data/calendars/make.py makes.
import { DAY_MS, MINUTE_MS } from './bars.ts';
import table from './exchanges.json' with { type: 'json' };
import { isWeekday, type IsTradingDay } from './tradingDays.ts';

/** The session of a day, in ms of the local time of the exchange from the midnight at which the day begins. */
interface SessionHours {
  /** Negative: on the day before. */
  readonly open: number;
  readonly close: number;
  /** Lunch; NaN without one. */
  readonly breakStart: number;
  readonly breakEnd: number;
}

export interface ExchangeCalendar {
  readonly name: string;
  readonly title: string;
  readonly timezone: string;
  /** The first and last day of the table. Other days trade from Monday to Friday, at the hours of the nearest. */
  readonly firstDay: number;
  readonly lastDay: number;
  readonly isTradingDay: IsTradingDay;
  /** The hours of a trading day. */
  hoursOn(day: number): SessionHours;
}

/** Days of a year as month and day: "0101 1225". */
type Years = Readonly<Record<string, string>>;
interface ExchangeTable {
  readonly title: string;
  readonly aliases: readonly string[];
  readonly timezone: string;
  readonly from: string;
  readonly to: string;
  /** The hours of ordinary days, by the day from which on they hold. */
  readonly hours: Years;
  readonly closed: Years;
  readonly extra: Years;
  /** Days with hours of their own, by these hours. */
  readonly other: Readonly<Record<string, Years>>;
}

/** The market of currencies, which no exchange makes: weeks from Sunday to Friday evening in New York. */
const CURRENCIES: ExchangeTable = {
  title: 'Currencies, from Sunday 17:00 to Friday 17:00 in New York',
  aliases: ['FOREX'],
  timezone: 'America/New_York',
  from: '1970-01-01',
  to: '2035-12-31',
  hours: { '1970-01-01': '-1 17:00-17:00' },
  closed: {},
  extra: {},
  other: {},
};
const TABLES: Readonly<Record<string, ExchangeTable>> = { ...(table.exchanges as object), FX: CURRENCIES };

/** Each calendar by its name and what it has the days of. */
export const EXCHANGES: readonly {
  readonly name: string;
  readonly title: string;
  readonly aliases: readonly string[];
}[] = Object.entries(TABLES).map(([name, { title, aliases }]) => ({ name, title, aliases }));

const known = new Map<string, ExchangeCalendar>();

/** The calendar of an exchange by its market identifier code (MIC), such as XNYS; undefined: no such table. */
export function findExchange(name: string): ExchangeCalendar | undefined {
  const found = EXCHANGES.find((each) => each.name === name || each.aliases.includes(name));
  if (found === undefined) return undefined;
  let calendar = known.get(found.name);
  if (calendar === undefined) known.set(found.name, (calendar = calendarOfTable(found.name, TABLES[found.name])));
  return calendar;
}

function calendarOfTable(name: string, { title, timezone, from, to, ...days }: ExchangeTable): ExchangeCalendar {
  const closed = new Set(daysOf(days.closed));
  const extra = new Set(daysOf(days.extra));
  const regular = Object.entries(days.hours).map(([date, text]) => ({ from: dayOf(date), hours: hoursOf(text) }));
  const other = new Map(
    Object.entries(days.other).flatMap(([text, years]) => daysOf(years).map((day) => [day, hoursOf(text)] as const)),
  );
  return {
    name,
    title,
    timezone,
    firstDay: dayOf(from),
    lastDay: dayOf(to),
    isTradingDay: (day) => (isWeekday(day) ? !closed.has(day) : extra.has(day)),
    hoursOn: (day) => other.get(day) ?? (regular.findLast((each) => each.from <= day) ?? regular[0]).hours,
  };
}

const dayOf = (date: string): number => Date.parse(date) / DAY_MS;
const daysOf = (years: Years): number[] =>
  Object.entries(years).flatMap(([year, texts]) =>
    texts.split(' ').map((text) => dayOf(`${year}-${text.slice(0, 2)}-${text.slice(2)}`)),
  );

const HOURS = /^(?:(-?\d) )?(\d\d):(\d\d)-(\d\d):(\d\d)(?: \((\d\d):(\d\d)-(\d\d):(\d\d)\))?$/;

/** Hours such as "09:00-15:00 (11:30-12:30)" or "-1 17:00-16:00". */
function hoursOf(text: string): SessionHours {
  const parts = HOURS.exec(text);
  if (parts === null) throw new Error(`The table of exchanges has the hours "${text}".`);
  const at = (index: number): number => (Number(parts[index]) * 60 + Number(parts[index + 1])) * MINUTE_MS;
  return { open: Number(parts[1] ?? 0) * DAY_MS + at(2), close: at(4), breakStart: at(6), breakEnd: at(8) };
}
