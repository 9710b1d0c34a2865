// Schedules against a walk of the calendar, on bars with holidays, gaps and weekends, and on days known by name.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Market } from '../../../src/engine/bars/bars.ts';
import { calendarOf, calendarOfUniverse, ownBarsOf } from '../../../src/engine/bars/runCalendar.ts';
import { everyBarsOf, scheduledDays, type DaySchedule } from '../../../src/engine/definitions/expressions/schedules.ts';
import { hasBit } from '../../../src/engine/kernels/bits.ts';
import { scheduledBars } from '../../support/reference/schedule.ts';
import { scaled } from '../../support/scale.ts';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const calendar = (tradesAllDay: boolean): ReturnType<typeof calendarOf> =>
  calendarOf({ instrument: { tradesAllDay } } as Market);
const time = (text: string): number => Date.parse(`${text}Z`);
/** The bars on which a schedule takes place, as dates or as dates and times. */
function taken(schedule: DaySchedule, times: readonly number[], tradesAllDay = false): string[] {
  const bits = scheduledDays(schedule, Float64Array.from(times), '1d', calendar(tradesAllDay));
  return textsOf(times.filter((_, row) => hasBit(bits, row)));
}
const textsOf = (times: readonly number[]): string[] =>
  times.map((one) => new Date(one).toISOString().slice(0, one % DAY_MS === 0 ? 10 : 16));
/** Daily bars from Monday to Friday, both days included, without the holidays. */
function weekdays(from: string, to: string, holidays: readonly string[] = []): number[] {
  const days: number[] = [];
  for (let day = Date.parse(from); day <= Date.parse(to); day += DAY_MS) {
    const isWeekend = [0, 6].includes(new Date(day).getUTCDay());
    if (!isWeekend && !holidays.includes(new Date(day).toISOString().slice(0, 10))) days.push(day);
  }
  return days;
}

describe('a day inside of a bar', () => {
  it('takes place on the week that holds it', () => {
    const weeks = weekdays('2024-01-01', '2025-01-31').filter((day) => new Date(day).getUTCDay() === 1);
    const bits = scheduledDays({ every: 'month', on: -1 }, Float64Array.from(weeks), '1w', calendar(false));
    const monthEnds = Array.from({ length: 13 }, (_, month) =>
      weekdays('2024-01-01', '2025-01-31').findLast((day) => day < Date.UTC(2024, month + 1, 1))!,
    );
    const mondays = monthEnds.map((day) => day - ((new Date(day).getUTCDay() + 6) % 7) * DAY_MS);
    expect(textsOf(weeks.filter((_, row) => hasBit(bits, row)))).toEqual(textsOf(mondays));
  });

  it('takes place on the month that holds it, once for all weeks of it', () => {
    const months = Array.from({ length: 14 }, (_, month) => Date.UTC(2024, month, 1));
    const marks = (schedule: DaySchedule) => {
      const bits = scheduledDays(schedule, Float64Array.from(months), '1M', calendar(true));
      return textsOf(months.filter((_, row) => hasBit(bits, row)));
    };
    expect(marks({ every: 'quarter', on: -1 })).toEqual(['2024-03-01', '2024-06-01', '2024-09-01', '2024-12-01']);
    expect(marks({ every: 'week', on: 1 })).toEqual(textsOf(months));
  });
});

describe('a scheduled day', () => {
  it.each<[string, DaySchedule, readonly number[], readonly string[]]>([
    [
      'is the first of the month on which the market trades',
      { every: 'month', on: 1 },
      weekdays('2024-05-31', '2024-07-31'),
      ['2024-06-03', '2024-07-01'],
    ],
    [
      'is the last, although no later bar of the month is there to show it',
      { every: 'month', on: -1 },
      weekdays('2024-03-01', '2024-03-29'),
      ['2024-03-29'],
    ],
    [
      'is counted from the end, in a leap year too',
      { every: 'month', on: -2 },
      weekdays('2024-02-01', '2024-02-29'),
      ['2024-02-28'],
    ],
    [
      'on a holiday takes place on the next bar, of the next month if need be',
      { every: 'month', on: -1 },
      weekdays('2024-03-01', '2024-05-03', ['2024-03-29', '2024-04-01']),
      ['2024-04-02', '2024-04-30'],
    ],
    [
      'that a gap has swallowed takes place once, together with that of the first bar after it',
      { every: 'week', on: 1 },
      [...weekdays('2024-01-01', '2024-01-05'), ...weekdays('2024-02-05', '2024-02-09')],
      ['2024-01-01', '2024-02-05'],
    ],
    [
      'before the first bar does not take place',
      { every: 'month', on: 1 },
      weekdays('2024-06-04', '2024-07-02'),
      ['2024-07-01'],
    ],
    [
      'does not exist where a period has too few',
      { every: 'month', on: 23 },
      weekdays('2024-05-01', '2024-08-31'),
      ['2024-05-31', '2024-07-31'],
    ],
    [
      'of a quarter begins in January, April, July and October',
      { every: 'quarter', on: 1 },
      weekdays('2023-12-01', '2024-12-31'),
      ['2024-01-01', '2024-04-01', '2024-07-01', '2024-10-01'],
    ],
    [
      'of a year is its last weekday',
      { every: 'year', on: -1 },
      weekdays('2022-06-01', '2023-12-31'),
      ['2022-12-30', '2023-12-29'],
    ],
  ])('%s', (_, schedule, times, expected) => {
    expect(taken(schedule, times)).toEqual(expected);
  });

  it('may be a Sunday where the market trades every day', () => {
    const times = Array.from({ length: 90 }, (_, day) => Date.parse('2024-02-15') + day * DAY_MS);
    expect(taken({ every: 'month', on: -1 }, times, true)).toEqual(['2024-02-29', '2024-03-31', '2024-04-30']);
  });

  it('takes place on the first bar of the day, or on the first that opens at the time or later', () => {
    const hours = [13.5, 14.5, 15.5, 16.5, 17.5, 18.5, 19.5];
    const days = weekdays('2024-06-27', '2024-07-02');
    const times = days.flatMap((day) => hours.map((hour) => day + hour * HOUR_MS));
    expect(taken({ every: 'month', on: 1 }, times)).toEqual(['2024-07-01T13:30']);
    expect(taken({ every: 'month', on: -1, at: '15:00' }, times)).toEqual(['2024-06-28T15:30']);
    // A day that closes early: the next bar is that of Monday.
    const early = times.filter((one) => one < time('2024-06-28T15:00') || one > time('2024-06-29T00:00'));
    expect(taken({ every: 'month', on: -1, at: '15:00' }, early)).toEqual(['2024-07-01T13:30']);
  });

  it('is the day that a walk of the calendar finds, and does not depend on later bars', () => {
    const bars = fc
      .record({
        start: fc.integer({ min: 0, max: 800 }),
        days: fc.array(fc.integer({ min: 1, max: 45 }), { minLength: 1, maxLength: 60 }),
        tradesAllDay: fc.boolean(),
        // Daily bars, or some bars within each day.
        hours: fc.oneof(
          fc.constant([0]),
          fc.uniqueArray(fc.integer({ min: 0, max: 47 }), { minLength: 1, maxLength: 4 }),
        ),
        isEveryDay: fc.boolean(),
      })
      .map(({ start, days, tradesAllDay, hours, isEveryDay }) => {
        let day = Date.parse('2023-11-01') / DAY_MS + start;
        const times: number[] = [];
        for (const gap of days) {
          day += isEveryDay ? Math.max(1, gap - 42) : gap;
          for (const half of hours.toSorted((a, b) => a - b)) times.push(day * DAY_MS + half * (HOUR_MS / 2));
        }
        return { times, tradesAllDay };
      });
    const schedules = fc.record<DaySchedule>(
      {
        every: fc.constantFrom('day', 'week', 'month', 'quarter', 'year'),
        on: fc.oneof(
          fc.constantFrom(1, -1),
          fc.integer({ min: -25, max: 25 }).filter((on) => on !== 0),
        ),
        at: fc.constantFrom('00:00', '09:30', '15:30', '23:59'),
      },
      { requiredKeys: ['every', 'on'] },
    );
    let takenBars = 0;
    fc.assert(
      fc.property(
        bars,
        schedules,
        fc.double({ min: 0, max: 1, noNaN: true }),
        ({ times, tradesAllDay }, schedule, part) => {
          const found = scheduledDays(schedule, Float64Array.from(times), '1d', calendar(tradesAllDay));
          const rows = times.map((_, row) => hasBit(found, row));
          expect(rows).toEqual(scheduledBars(schedule, times, tradesAllDay));
          const some = times.slice(0, Math.ceil(part * times.length));
          const prefix = scheduledDays(schedule, Float64Array.from(some), '1d', calendar(tradesAllDay));
          expect(some.map((_, row) => hasBit(prefix, row))).toEqual(rows.slice(0, some.length));
          takenBars += rows.filter(Boolean).length;
        },
      ),
      { numRuns: scaled(2_000), seed: 20_261_128 },
    );
    expect(takenBars).toBeGreaterThan(scaled(1_000));
  });
});

describe('a number of bars', () => {
  it('is counted from the first bar of the data', () => {
    const times = Float64Array.from({ length: 12 }, (_, row) => row * DAY_MS);
    const bits = everyBarsOf(5, times, calendar(true));
    expect([...times.keys()].filter((row) => hasBit(bits, row))).toEqual([0, 5, 10]);
  });
});

describe('in a universe', () => {
  const market = (symbol: string, times: readonly number[], tradesAllDay: boolean): Market =>
    ({
      base: { symbol, timeframe: '1d', sha256: symbol, length: times.length, time: Float64Array.from(times) },
      instrument: { symbol, tradesAllDay },
    }) as Market;
  const stock = weekdays('2024-05-27', '2024-06-10', ['2024-06-03']);
  const bitcoin = Array.from({ length: 15 }, (_, day) => Date.parse('2024-05-27') + day * DAY_MS);
  const mixed = calendarOfUniverse({ instruments: [market('BTC', bitcoin, true), market('SPY', stock, false)] });
  const takenOn = (times: readonly number[]): string[] => {
    const bits = scheduledDays({ every: 'month', on: 1 }, Float64Array.from(times), '1d', mixed);
    return textsOf(times.filter((_, row) => hasBit(bits, row)));
  };

  it('a bar of bitcoin on a stock holiday meets no schedule, and all instruments have the same instants', () => {
    // The first weekday of June is a holiday of the stock; both are scheduled on its next bar.
    expect(takenOn(bitcoin)).toEqual(['2024-06-04']);
    expect(takenOn(stock)).toEqual(['2024-06-04']);
  });

  it('an instrument without a bar at the instant is not scheduled', () => {
    expect(takenOn(bitcoin.filter((one) => one !== Date.parse('2024-06-04')))).toEqual([]);
  });

  it('bars are counted on the axis of all instruments', () => {
    const bits = everyBarsOf(7, Float64Array.from(stock), mixed);
    // The axis has every day: the 27th of May, the 3rd of June (a holiday of the stock) and the 10th.
    expect(textsOf(stock.filter((_, row) => hasBit(bits, row)))).toEqual(['2024-05-27', '2024-06-10']);
  });

  it('another timeframe or instrument follows its own bars', () => {
    const own = ownBarsOf(mixed);
    const bits = scheduledDays({ every: 'month', on: 1 }, Float64Array.from(bitcoin), '1d', own);
    expect(textsOf(bitcoin.filter((_, row) => hasBit(bits, row)))).toEqual(['2024-06-03']);
  });

  it('has another key where it gives other columns', () => {
    const other = calendarOfUniverse({ instruments: [market('BTC', bitcoin, true), market('SPY', stock, true)] });
    expect(other.key).not.toBe(mixed.key);
    expect(calendar(true).key).not.toBe(calendar(false).key);
  });
});
