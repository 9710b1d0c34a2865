// The place of bars in sessions and months: on sessions known by heart, and against a walk over bars and calendar.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Timeframe } from '../../../src/engine/bars/bars.ts';
import { shortestMs } from '../../../src/engine/bars/timeframes.ts';
import { calendarOf } from '../../../src/engine/bars/runCalendar.ts';
import { CALENDAR_FIELD_DEFINITIONS } from '../../../src/engine/definitions/expressions/calendarFields.ts';
import { CALENDAR_FIELDS } from '../../../src/engine/definitions/words.ts';
import { calendarFieldOf } from '../../support/reference/tradingCalendar.ts';
import { scaled } from '../../support/scale.ts';

const [HOUR_MS, DAY_MS] = [3_600_000, 86_400_000];
type Field = (typeof CALENDAR_FIELDS)[number];

function column(field: Field, times: readonly number[], timeframe: Timeframe, tradesAllDay = false): number[] {
  const instrument = { tradesAllDay };
  const bars = {
    times: Float64Array.from(times),
    timeframe,
    instrument,
    calendar: calendarOf({ instrument } as Parameters<typeof calendarOf>[0]),
    rows: times.length,
    count: 0,
    values: () => new Float64Array(0),
    truths: () => ({ isTrue: new Uint32Array(0), isUnknown: new Uint32Array(0) }),
  };
  const out = new Float64Array(times.length).fill(NaN);
  CALENDAR_FIELD_DEFINITIONS[field].column(bars, out);
  return [...out];
}
/** Bars of an hour that open at these hours (UTC) of each day. */
const hoursOf = (days: readonly string[], hours: readonly number[]): number[] =>
  days.flatMap((day) => hours.map((hour) => Date.parse(day) + hour * HOUR_MS));
/** Every hour from one instant up to another. */
const everyHour = (from: string, to: string): number[] =>
  Array.from(
    { length: (Date.parse(`${to}Z`) - Date.parse(`${from}Z`)) / HOUR_MS },
    (_, hour) => Date.parse(`${from}Z`) + hour * HOUR_MS,
  );

const STOCK_HOURS = [13.5, 14.5, 15.5, 16.5, 17.5, 18.5, 19.5];
const WEEK = ['2024-06-03', '2024-06-04', '2024-06-05', '2024-06-06', '2024-06-07', '2024-06-10'];

describe('the bars of a session', () => {
  it('of a stock are counted from 1 each day, and to the end of the hours of the days before', () => {
    const times = hoursOf(WEEK, STOCK_HOURS);
    expect(column('session_bar', times, '1h')).toEqual(WEEK.flatMap(() => [1, 2, 3, 4, 5, 6, 7]));
    // The first session may be cut, so the second is the first whose length is known, and the third has a count.
    const unknown = Array.from({ length: 14 }, () => NaN);
    const counted = WEEK.slice(2).flatMap(() => [6, 5, 4, 3, 2, 1, 0]);
    expect(column('bars_to_session_end', times, '1h')).toEqual([...unknown, ...counted]);
  });

  it('of a half day are not known in advance without a calendar', () => {
    const times = [...hoursOf(WEEK, STOCK_HOURS), ...hoursOf(['2024-06-11'], STOCK_HOURS.slice(0, 3))];
    expect(column('bars_to_session_end', times, '1h').slice(-3)).toEqual([6, 5, 4]);
    const after = [...times, ...hoursOf(['2024-06-12'], STOCK_HOURS)];
    expect(column('bars_to_session_end', after, '1h').slice(-7)).toEqual([6, 5, 4, 3, 2, 1, 0]);
  });

  it('move with the clock of their market', () => {
    const winter = hoursOf(
      ['2024-03-06', '2024-03-07', '2024-03-08'],
      STOCK_HOURS.map((hour) => hour + 1),
    );
    const summer = hoursOf(['2024-03-11', '2024-03-12'], STOCK_HOURS);
    expect(column('bars_to_session_end', [...winter, ...summer], '1h').slice(-14)).toEqual([
      6, 5, 4, 3, 2, 1, 0, 6, 5, 4, 3, 2, 1, 0,
    ]);
  });

  it('go on after lunch', () => {
    const times = hoursOf(WEEK, [1.5, 2.5, 5, 6]);
    expect(column('session_bar', times, '1h').slice(0, 8)).toEqual([1, 2, 3, 4, 1, 2, 3, 4]);
    expect(column('bars_to_session_end', times, '1h').at(-1)).toBe(0);
  });

  it('of currencies begin every 24 hours from Sunday evening on', () => {
    const times = [
      ...everyHour('2024-06-02T21:00', '2024-06-07T21:00'),
      ...everyHour('2024-06-09T21:00', '2024-06-14T21:00'),
    ];
    const bars = column('session_bar', times, '1h');
    expect(bars).toEqual(times.map((_, row) => (row % 24) + 1));
    expect(column('bars_to_session_end', times, '1h').slice(48)).toEqual(bars.slice(48).map((bar) => 24 - bar));
    // An hour that is missing where a session begins delays none of the later ones.
    const missing = times.filter((_, row) => row !== 24);
    expect(column('session_bar', missing, '1h').slice(0, 48)).toEqual([...bars.slice(0, 24), ...bars.slice(24, 47), 1]);
  });

  it('of futures that rest for an hour are 23', () => {
    const day = Array.from({ length: 23 }, (_, hour) => hour - 2);
    const times = hoursOf(WEEK.slice(0, 5), day);
    expect(column('session_bar', times, '1h')).toEqual(WEEK.slice(0, 5).flatMap(() => day.map((hour) => hour + 3)));
    expect(column('bars_to_session_end', times, '1h').slice(46, 69)).toEqual(day.map((hour) => 20 - hour));
  });

  it('are those of a UTC day where all days are traded, whose end is known from the first bar on', () => {
    const times = everyHour('2024-06-01T22:00', '2024-06-03T01:00');
    expect(column('session_bar', times, '1h', true).slice(0, 4)).toEqual([1, 2, 1, 2]);
    expect(column('bars_to_session_end', times, '1h', true).slice(0, 4)).toEqual([1, 0, 23, 22]);
  });

  it('are one where bars have a day or more', () => {
    const times = WEEK.map((day) => Date.parse(day));
    expect(column('session_bar', times, '1d')).toEqual(WEEK.map(() => 1));
    expect(column('bars_to_session_end', times, '1d')).toEqual(WEEK.map(() => 0));
  });
});

describe('the trading days of a month', () => {
  const daily = (days: readonly string[]): number[] => days.map((day) => Date.parse(day));

  it('are its weekdays, from the first to the last', () => {
    const days = daily(['2024-05-30', '2024-05-31', '2024-06-03', '2024-06-04', '2024-06-27', '2024-06-28']);
    expect(column('trading_day_of_month', days, '1d')).toEqual([22, 23, 1, 2, 19, 20]);
    expect(column('trading_days_to_month_end', days, '1d')).toEqual([1, 0, 19, 18, 1, 0]);
  });

  it('on a weekend are that of Monday, even if it belongs to the next month', () => {
    // The last of March 2024 is a Sunday, on whose evening currencies open.
    const times = everyHour('2024-03-31T21:00', '2024-04-01T02:00');
    expect(column('trading_day_of_month', times, '1h')).toEqual([1, 1, 1, 1, 1]);
    expect(column('trading_days_to_month_end', times, '1h')).toEqual([21, 21, 21, 21, 21]);
  });

  it('are all days where all are traded', () => {
    const days = daily(['2024-02-27', '2024-02-28', '2024-02-29', '2024-03-01']);
    expect(column('trading_day_of_month', days, '1d', true)).toEqual([27, 28, 29, 1]);
    expect(column('trading_days_to_month_end', days, '1d', true)).toEqual([2, 1, 0, 30]);
  });
});

const markets = fc
  .record({
    timeframe: fc.constantFrom<Timeframe>('15m', '1h', '4h', '1d'),
    start: fc.integer({ min: 0, max: 2_000 }),
    hours: fc.constantFrom([13, 20], [8, 24], [0, 6], [0, 24], [22, 45]),
    /** Which bars are missing: one in so many. */
    missing: fc.constantFrom(0, 3, 40),
    clockChange: fc.integer({ min: 0, max: 12 }),
    tradesAllDay: fc.boolean(),
  })
  .map(({ timeframe, start, hours: [from, to], missing, clockChange, tradesAllDay }) => {
    const barMs = shortestMs(timeframe);
    const times: number[] = [];
    const firstDay = Date.parse('2023-01-01') / DAY_MS + start;
    for (let day = 0; day < (barMs < HOUR_MS ? 5 : 14); day++) {
      const open = (firstDay + day) * DAY_MS + (barMs >= DAY_MS ? 0 : from - (day >= clockChange ? 1 : 0)) * HOUR_MS;
      const isClosed = !tradesAllDay && [6, 0].includes(new Date((firstDay + day) * DAY_MS).getUTCDay());
      const bars = isClosed ? 0 : Math.max(1, Math.floor(((to - from) * HOUR_MS) / barMs));
      for (let bar = 0; bar < bars; bar++) {
        const time = open + bar * barMs;
        const isMissing = missing > 0 && (time / barMs) % missing < 1;
        if (!isMissing && time > (times.at(-1) ?? -Infinity)) times.push(time);
      }
    }
    return { times, timeframe, tradesAllDay };
  });

it('a calendar field is the one found by walking back, and changes with no later bar', () => {
  let known = 0;
  fc.assert(
    fc.property(
      markets,
      fc.constantFrom(...CALENDAR_FIELDS),
      fc.double({ min: 0, max: 1, noNaN: true }),
      ({ times, timeframe, tradesAllDay }, field, part) => {
        const found = column(field, times, timeframe, tradesAllDay);
        expect(found).toEqual(calendarFieldOf(field, times, shortestMs(timeframe), { tradesAllDay }));
        const some = Math.floor(part * times.length);
        expect(column(field, times.slice(0, some), timeframe, tradesAllDay)).toEqual(found.slice(0, some));
        const { range } = CALENDAR_FIELD_DEFINITIONS[field];
        for (const value of found.filter((one) => !Number.isNaN(one))) {
          expect(value).toBeGreaterThanOrEqual(range.lo);
          expect(value).toBeLessThanOrEqual(range.hi);
          known++;
        }
      },
    ),
    { numRuns: scaled(300), seed: 20_261_128 },
  );
  expect(known).toBeGreaterThan(scaled(5_000));
});
