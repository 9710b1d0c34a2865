// Calendars of exchanges beside those of another package, and what sessions, schedules and gaps make of them.
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Timeframe } from '../../../src/engine/bars/bars.ts';
import { EXCHANGES, findExchange } from '../../../src/engine/bars/exchangeCalendar.ts';
import { closureWithin, compareDays } from '../../../src/engine/bars/exchangeDays.ts';
import { calendarOf, calendarOfUniverse } from '../../../src/engine/bars/runCalendar.ts';
import { CALENDAR_FIELD_DEFINITIONS } from '../../../src/engine/definitions/expressions/calendarFields.ts';
import { scheduledDays, type DaySchedule } from '../../../src/engine/definitions/expressions/schedules.ts';
import { hasBit } from '../../../src/engine/kernels/bits.ts';

const [QUARTER_MS, DAY_MS] = [900_000, 86_400_000];
const time = (text: string): number => Date.parse(`${text}Z`);
const dateOf = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10);
const exchange = (name: string): NonNullable<ReturnType<typeof findExchange>> => findExchange(name)!;

type Owner = Parameters<typeof calendarOf>[0];
const owner = (calendar?: string, tradesAllDay = false): Owner =>
  ({ instrument: { tradesAllDay, ...(calendar && { calendar }) } }) as Owner;
const instrument = (calendar: string): { tradesAllDay: boolean; calendar: string } => ({
  tradesAllDay: false,
  calendar,
});

function column(
  field: keyof typeof CALENDAR_FIELD_DEFINITIONS,
  times: readonly number[],
  calendar: string,
  timeframe: Timeframe = '15m',
): number[] {
  const out = new Float64Array(times.length);
  const bars = {
    times: Float64Array.from(times),
    timeframe,
    instrument: instrument(calendar),
    calendar: calendarOf(owner(calendar)),
    rows: times.length,
    count: 0,
    values: () => new Float64Array(0),
    truths: () => ({ isTrue: new Uint32Array(0), isUnknown: new Uint32Array(0) }),
  };
  CALENDAR_FIELD_DEFINITIONS[field].column(bars, out);
  return [...out];
}

interface Peer {
  /** How many trading days a month has, the first and the last. */
  readonly months: Readonly<Record<string, string>>;
  /** Open and close of sessions, with the break between them. */
  readonly sessions: readonly (readonly string[])[];
}
const peers = JSON.parse(readFileSync('test/golden/exchangeCalendars.json', 'utf8')) as Readonly<Record<string, Peer>>;

/**
 * Months in which the packages differ: the other one lacks holidays of Hong Kong (2020-10-26, 2021-04-06, 2021-10-14)
 * and a storm (2024-09-06); the table lacks the storms of 2023-09-01 and 2023-09-08.
 */
const DIFFERING: Readonly<Record<string, readonly string[]>> = {
  XHKG: ['2020-10', '2021-04', '2021-10', '2023-09', '2024-09'],
};

describe('the table of exchanges', () => {
  it('is that of the script beside it', () => {
    const table = JSON.parse(readFileSync('src/engine/bars/exchanges.json', 'utf8')) as { recipe: string };
    expect(table.recipe).toBe(hash('sha256', readFileSync('data/calendars/make.py')));
  });

  it('is listed in the page on market data', () => {
    const page = readFileSync('docs/market-data.md', 'utf8');
    for (const { name, title, aliases } of EXCHANGES) {
      const names = [name, ...aliases].map((one) => `\`${one}\``).join(', ');
      const { firstDay, lastDay } = exchange(name);
      expect(page).toContain(
        `| ${names} | ${title} | ${dateOf(firstDay).slice(0, 4)} to ${dateOf(lastDay).slice(0, 4)} |`,
      );
    }
  });

  it('has each name once, also of exchanges with the same days', () => {
    const names = EXCHANGES.flatMap(({ name, aliases }) => [name, ...aliases]);
    expect(new Set(names).size).toBe(names.length);
    expect(exchange('XNAS')).toBe(exchange('XNYS'));
    expect(findExchange('NYSE')).toBeUndefined();
  });

  it.each(Object.entries(peers))('has the trading days of another package: %s', (name, { months }) => {
    const { isTradingDay } = exchange(name);
    const found = Object.fromEntries(
      Object.keys(months).map((month) => {
        const first = Date.parse(`${month}-01`) / DAY_MS;
        const days = Array.from({ length: 31 }, (_, day) => first + day).filter(
          (day) => dateOf(day).startsWith(month) && isTradingDay(day),
        );
        return [month, `${days.length} ${dateOf(days[0]).slice(8)} ${dateOf(days.at(-1)!).slice(8)}`];
      }),
    );
    const differing = Object.keys(months).filter((month) => found[month] !== months[month]);
    expect(differing).toEqual(DIFFERING[name] ?? []);
  });
});

describe('the sessions of another package', () => {
  const listed = Object.entries(peers).filter(([, { sessions }]) => sessions.length > 0);
  it.each(listed)('are those that bars of 15 minutes are counted in: %s', (name, { sessions }) => {
    expect(sessions.length).toBeGreaterThan(4);
    const counted = sessions.map((texts) => {
      const [open, breakStart, breakEnd, close] =
        texts.length === 4 ? texts.map(time) : [time(texts[0]), 0, 0, time(texts[1])];
      const times: number[] = [];
      for (let at = open; at < close; at += QUARTER_MS) if (at < breakStart || at >= breakEnd) times.push(at);
      return times;
    });
    const times = counted.flat();
    expect(column('session_bar', times, name)).toEqual(counted.flatMap((one) => one.map((_, bar) => bar + 1)));
    expect(column('bars_to_session_end', times, name)).toEqual(
      counted.flatMap((one) => one.map((_, bar) => one.length - 1 - bar)),
    );
  });

  it('end early on half days, which is known from the first bar on', () => {
    // Black Friday: 09:30 to 13:00 in New York.
    const hours = ['14:30', '15:30', '16:30', '17:30'].map((clock) => time(`2024-11-29T${clock}`));
    expect(column('bars_to_session_end', hours, 'XNYS', '1h')).toEqual([3, 2, 1, 0]);
  });

  it('have no bars before the open and after the close', () => {
    const times = ['2024-06-03T12:00', '2024-06-03T13:00', '2024-06-03T19:00', '2024-06-03T20:00'].map(time);
    // The bar from 13:00 holds the open at 13:30.
    expect(column('session_bar', times, 'XNYS', '1h')).toEqual([NaN, 1, 2, NaN]);
    expect(column('bars_to_session_end', times, 'XNYS', '1h')).toEqual([NaN, 6, 0, NaN]);
    expect(column('trading_day_of_month', times, 'XNYS', '1h')).toEqual([1, 1, 1, 1]);
  });

  it('of futures and currencies begin on the evening before their day', () => {
    const sunday = [time('2024-03-31T22:00'), time('2024-03-31T23:00')];
    expect(column('session_bar', sunday, 'XCME', '1h')).toEqual([1, 2]);
    expect(column('trading_day_of_month', sunday, 'XCME', '1h')).toEqual([1, 1]);
    expect(column('bars_to_session_end', sunday, 'XCME', '1h')).toEqual([22, 21]);
    expect(column('bars_to_session_end', [time('2024-04-05T20:00')], 'FX', '1h')).toEqual([0]);
    expect(column('session_bar', [time('2024-04-05T20:00'), time('2024-04-05T21:00')], 'FX', '1h')).toEqual([1, NaN]);
  });

  it('of Sydney belong to the day of their clock, not to that of UTC', () => {
    const times = [time('2024-10-30T23:00'), time('2024-10-31T23:00')];
    expect(column('trading_day_of_month', times, 'XASX', '1h')).toEqual([23, 1]);
  });
});

describe('a schedule by a calendar', () => {
  const taken = (schedule: DaySchedule, days: readonly string[], calendar = owner('XNYS')): string[] => {
    const times = days.map((day) => Date.parse(day));
    const bits = scheduledDays(schedule, Float64Array.from(times), '1d', calendarOf(calendar));
    return days.filter((_, row) => hasBit(bits, row));
  };
  const march = ['2024-03-27', '2024-03-28', '2024-04-01', '2024-04-02'];

  it('takes place on the last trading day before a holiday, which without it comes late', () => {
    expect(taken({ every: 'month', on: -1 }, march)).toEqual(['2024-03-28']);
    expect(taken({ every: 'month', on: -1 }, march, owner())).toEqual(['2024-04-01']);
  });

  it('counts trading days without holidays', () => {
    const times = ['2024-01-02', '2024-01-03', '2024-01-31'].map((day) => Date.parse(day));
    expect(column('trading_day_of_month', times, 'XNYS', '1d')).toEqual([1, 2, 21]);
    expect(column('trading_days_to_month_end', times, 'XNYS', '1d')).toEqual([20, 19, 0]);
  });

  it('of a universe has the days of all its exchanges, and follows their instruments alone', () => {
    const of = (symbol: string, calendar: string | undefined, tradesAllDay: boolean) => ({
      ...owner(calendar, tradesAllDay),
      base: { symbol, timeframe: '1d', sha256: symbol, length: 0, time: new Float64Array(0) },
    });
    const universe = (...markets: ReturnType<typeof of>[]): ReturnType<typeof calendarOfUniverse> =>
      calendarOfUniverse({ instruments: markets } as unknown as Parameters<typeof calendarOfUniverse>[0]);
    const [spy, vod, btc] = [of('SPY', 'XNYS', false), of('VOD', 'XLON', false), of('BTC', undefined, true)];
    // Thanksgiving in New York, a bank holiday in London, Christmas in both.
    const days = ['2024-11-28', '2024-08-26', '2024-12-25'].map((day) => Date.parse(day) / DAY_MS);
    const both = universe(spy, vod, btc);
    expect(days.map((day) => both.isTradingDay(day))).toEqual([true, true, false]);
    expect(days.map((day) => universe(spy, btc).isTradingDay(day))).toEqual([false, true, false]);
    expect(universe(spy, btc).key).not.toBe(universe(of('SPY', undefined, false), btc).key);
    expect(calendarOf(owner('XNYS')).key).not.toBe(calendarOf(owner()).key);
  });
});

describe('days of bars beside a calendar', () => {
  it('are missing where the exchange traded, and too many where it was closed', () => {
    const days = ['2024-03-26', '2024-03-28', '2024-03-29', '2024-04-01'].map((day) => Date.parse(day));
    const found = compareDays({ time: Float64Array.from(days), timeframe: '1d' }, exchange('XNYS'));
    expect(found).toEqual({ missing: [Date.parse('2024-03-27')], closed: [Date.parse('2024-03-29')] });
  });

  it('are compared by their sessions where bars are shorter', () => {
    const hours = ['2024-03-27T13:30', '2024-03-28T13:30', '2024-04-01T13:30', '2024-04-03T13:30'].map(time);
    const found = compareDays({ time: Float64Array.from(hours), timeframe: '1h' }, exchange('XNYS'));
    expect(found).toEqual({ missing: [Date.parse('2024-04-02')], closed: [] });
  });

  it('tell a holiday, a weekend and a night from a gap', () => {
    const closure = (from: string, to: string, isDaily = false, name = 'XNYS'): string | null =>
      closureWithin({ from: time(from), to: time(to) }, isDaily, exchange(name));
    expect(closure('2024-03-28T20:00', '2024-04-01T13:30')).toBe('holiday');
    expect(closure('2024-06-07T20:00', '2024-06-10T13:30')).toBe('weekend');
    expect(closure('2024-06-04T20:00', '2024-06-05T13:30')).toBe('night');
    expect(closure('2024-06-04T19:30', '2024-06-05T13:30')).toBeNull();
    // Half a day before Christmas.
    expect(closure('2024-12-24T18:00', '2024-12-26T14:30')).toBe('holiday');
    expect(closure('2024-06-04T00:00', '2024-06-05T00:00', true)).toBeNull();
    expect(closure('2024-03-29T00:00', '2024-04-01T00:00', true)).toBe('holiday');
    expect(closure('2024-06-04T02:30', '2024-06-04T03:30', false, 'XTKS')).toBe('night');
  });
});
