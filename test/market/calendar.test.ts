import { describe, expect, it } from 'vitest';
import type { Timeframe } from '../../src/engine/bars/bars.ts';
import { TIMEFRAME_MS } from '../../src/engine/bars/bars.ts';
import { periodsPerYear } from '../../src/engine/bars/periodsPerYear.ts';
import { closuresOf, inferCalendar } from '../../src/market/calendar.ts';
import { findExchange } from '../../src/engine/bars/exchangeCalendar.ts';
import { makeInstrument, parseInstrumentFields, updateInstrument } from '../../src/market/instrument.ts';
import { openShippedData, SHIPPED_FOLDER } from '../../src/market/shipped.ts';
import { readBarsFile } from '../../src/market/import/barsFile.ts';
import { join } from 'node:path';
import { lengthOf } from '../support/timeGrid.ts';

const DAY = TIMEFRAME_MS['1d'];
const HOUR = TIMEFRAME_MS['1h'];
/** A Monday. */
const MONDAY = Date.UTC(2024, 0, 1);

/**
 * Opens of bars from `from` to before `to` that `isOpen` lets through; it is given the weekday (Sunday 0) and the hour
 * of the day.
 */
function opens(
  timeframe: Timeframe,
  days: number,
  isOpen: (weekday: number, hour: number, day: number) => boolean,
  from = MONDAY,
): Float64Array {
  const step = lengthOf(timeframe);
  const all = Array.from({ length: (days * DAY) / step }, (_, at) => from + at * step);
  return Float64Array.from(
    all.filter((time) => isOpen(new Date(time).getUTCDay(), new Date(time).getUTCHours(), (time - from) / DAY)),
  );
}
const isWeekday = (weekday: number): boolean => weekday >= 1 && weekday <= 5;
const isCurrencyHour = (weekday: number, hour: number): boolean =>
  (weekday >= 1 && weekday <= 4) || (weekday === 0 && hour >= 22) || (weekday === 5 && hour < 22);

describe('the inference of a market’s calendar', () => {
  const cases: readonly (readonly [string, Float64Array, Timeframe, boolean, string])[] = [
    ['for coins by the day', opens('1d', 60, () => true), '1d', true, 'traded_every_day'],
    ['for coins over a weekend', opens('1h', 3, () => true, MONDAY + 4 * DAY), '1h', true, 'traded_every_day'],
    [
      'for coins with days and weeks absent',
      opens('1d', 200, (_weekday, _hour, day) => day % 37 !== 5 && (day < 60 || day > 90)),
      '1d',
      true,
      'traded_every_day',
    ],
    ['for stocks by the day', opens('1d', 60, isWeekday), '1d', false, 'closed_days'],
    ['for stocks from a Friday to a Monday', opens('1d', 4, isWeekday, MONDAY + 4 * DAY), '1d', false, 'closed_days'],
    [
      'for stocks by the hour',
      opens('1h', 30, (weekday, hour) => isWeekday(weekday) && hour >= 14 && hour < 21),
      '1h',
      false,
      'closed_days',
    ],
    [
      'for stocks of four days, by their nights',
      opens('15m', 4, (_weekday, hour) => hour >= 14 && hour < 21),
      '15m',
      false,
      'closed_nights',
    ],
    ['for currencies by the hour', opens('1h', 30, isCurrencyHour), '1h', false, 'closed_days'],
    [
      'for a market that rests on Friday and Saturday',
      opens('1d', 60, (weekday) => weekday !== 5 && weekday !== 6),
      '1d',
      false,
      'closed_days',
    ],
    ['without evidence from a single bar', Float64Array.of(MONDAY), '1d', true, 'assumed'],
    ['without evidence from a week of weekdays', opens('1d', 5, isWeekday), '1d', true, 'assumed'],
    ['without evidence from days around the clock', opens('1h', 2, () => true), '1h', true, 'assumed'],
    ['without evidence from bars a week apart', opens('1d', 70, (weekday) => weekday === 1), '1d', true, 'assumed'],
    [
      'without evidence from days a year apart',
      Float64Array.of(MONDAY, MONDAY + DAY, MONDAY + 364 * DAY, MONDAY + 365 * DAY),
      '1d',
      true,
      'assumed',
    ],
  ];
  it.each(cases)('infers it %s', (_, time, timeframe, tradesAllDay, basis) => {
    expect(inferCalendar(time, timeframe)).toMatchObject({ tradesAllDay, basis });
  });

  const isGap = (day: number): boolean => day >= 100 && day < 160;
  it.each<[string, Float64Array, Timeframe, number | undefined]>([
    ['currencies by the hour, whose Sunday evenings are days', opens('1h', 728, isCurrencyHour), '1h', 313],
    ['currencies by the day', opens('1d', 728, isWeekday), '1d', 261],
    [
      'stocks with their holidays',
      opens('1d', 728, (weekday, _, day) => isWeekday(weekday) && day % 40 > 0),
      '1d',
      252,
    ],
    ['coins', opens('1d', 400, () => true), '1d', 365],
    ['coins with outages', opens('1d', 400, (_weekday, _hour, day) => day % 50 > 0), '1d', 365],
    ['a market that trades once a week', opens('1d', 728, (weekday) => weekday === 1), '1d', 52],
    ['data with a hole of two months', opens('1d', 728, (_weekday, _hour, day) => !isGap(day)), '1d', 365],
    ['less than half a year', opens('1h', 180, isCurrencyHour), '1h', undefined],
    ['a single bar', Float64Array.of(MONDAY), '1d', undefined],
    ['two days a year apart', Float64Array.of(MONDAY, MONDAY + 365 * DAY), '1d', undefined],
  ])('counts the days per year of %s', (_, time, timeframe, days) => {
    expect(inferCalendar(time, timeframe).daysPerYear).toBe(days);
  });

  it('needs more bars for a coin whose exchange was down for an evening', () => {
    const time = opens('1h', 3, (_weekday, hour, day) => day < 1 || hour >= 6);
    expect(inferCalendar(time.subarray(0, 30), '1h').basis).toBe('assumed');
    expect(time[24] - time[23]).toBe(7 * HOUR);
  });

  it('agrees with series.json for every shipped series', async () => {
    const entries = await (await openShippedData()).list();
    for (const entry of entries.filter(({ synthetic }) => !synthetic)) {
      const file = join(SHIPPED_FOLDER, `${entry.symbol}-${entry.timeframe}.csv.gz`);
      const { instrument } = (await readBarsFile(file)).meta;
      const isCurrency = entry.symbol === 'EURUSD';
      expect([entry.symbol, instrument.tradesAllDay, instrument.calendarBasis]).toEqual([
        entry.symbol,
        false,
        isCurrency ? 'counted_days' : 'closed_days',
      ]);
      expect(periodsPerYear(entry.instrument)).toBe(periodsPerYear(instrument));
      expect(entry.instrument.calendarBasis).toBe(isCurrency ? 'counted_days' : 'given');
    }
  });
});

describe('a calendar that an instrument states', () => {
  const closed = { tradesAllDay: false, basis: 'closed_days' } as const;
  const assumed = { tradesAllDay: true, basis: 'assumed' } as const;

  it('overrides what the bars show', () => {
    expect(makeInstrument('SPY', {}, closed)).toMatchObject({ tradesAllDay: false, calendarBasis: 'closed_days' });
    expect(makeInstrument('SPY', { periodsPerYear: 365 }, closed)).toMatchObject({
      tradesAllDay: true,
      calendarBasis: 'given',
    });
    expect(makeInstrument('SPY', { tradesAllDay: true }, closed)).toMatchObject({ calendarBasis: 'given' });
    expect(() => makeInstrument('SPY', { tradesAllDay: true, periodsPerYear: 252 })).toThrow('contradict each other');
  });

  it('persists over later imports, while an inferred one is inferred again', () => {
    const stated = makeInstrument('SPY', { tradesAllDay: true, qtyStep: 1 }, closed);
    expect(updateInstrument(stated, {}, closed)).toMatchObject({ tradesAllDay: true, qtyStep: 1 });
    expect(updateInstrument(stated, { periodsPerYear: 252 }, assumed)).toMatchObject({
      tradesAllDay: false,
      calendarBasis: 'given',
    });
    const guessed = makeInstrument('SPY', {}, assumed);
    expect(updateInstrument(guessed, {}, closed)).toMatchObject({ tradesAllDay: false, calendarBasis: 'closed_days' });
    expect(updateInstrument(makeInstrument('SPY', {}, closed), {}, assumed)).toMatchObject({ tradesAllDay: false });
  });

  it('overrides the days that were counted, which a short file does not undo', () => {
    const counted = { ...closed, daysPerYear: 314 };
    const currency = makeInstrument('EURUSD', {}, counted);
    expect(currency).toMatchObject({ periodsPerYear: 314, calendarBasis: 'counted_days' });
    expect(periodsPerYear(updateInstrument(currency, {}, closed))).toBe(314);
    expect(periodsPerYear(updateInstrument(currency, {}, assumed))).toBe(314);
    expect(updateInstrument(currency, {}, { ...closed, daysPerYear: 252 })).toEqual(
      makeInstrument('EURUSD', {}, closed),
    );
    for (const stated of [{ tradesAllDay: false }, { periodsPerYear: 252 as const }]) {
      expect(periodsPerYear(makeInstrument('EURUSD', stated, counted))).toBe(252);
      expect(periodsPerYear(updateInstrument(currency, stated, counted))).toBe(252);
    }
    const stated = makeInstrument('EURUSD', { periodsPerYear: 252 }, counted);
    expect(periodsPerYear(updateInstrument(stated, {}, counted))).toBe(252);
  });

  it('is not read from the default of an old snapshot', () => {
    const { calendarBasis: _, ...old } = makeInstrument('SPY');
    expect(updateInstrument(old, {}, closed).tradesAllDay).toBe(false);
    expect(
      updateInstrument({ ...old, tradesAllDay: false }, {}, { tradesAllDay: true, basis: 'traded_every_day' }),
    ).toMatchObject({ tradesAllDay: false });
  });
});

describe('the calendar of an exchange', () => {
  const bars = { tradesAllDay: false, basis: 'closed_days' } as const;

  it('is stored by its code, holds for later imports, and is removed by null', () => {
    const stored = makeInstrument('AAPL', { calendar: 'XNAS' }, bars);
    expect(stored).toMatchObject({ calendar: 'XNYS', tradesAllDay: false, calendarBasis: 'closed_days' });
    expect(updateInstrument(stored, {}, bars)).toEqual(stored);
    expect(updateInstrument(stored, { calendar: 'XLON' }, bars).calendar).toBe('XLON');
    expect(updateInstrument(stored, { calendar: null }, bars)).toEqual(makeInstrument('AAPL', {}, bars));
  });

  it('is a member of --instrument and an option of its own', () => {
    expect(parseInstrumentFields('{"calendar": "XETR"}')).toEqual({ calendar: 'XETR' });
    expect(parseInstrumentFields('{"qtyStep": 1}', 'XETR')).toEqual({ qtyStep: 1, calendar: 'XETR' });
    expect(parseInstrumentFields('{}', 'none')).toEqual({ calendar: null });
    const refusal = /calendar: Use XNYS, XCME, .*or null for the days/;
    expect(() => parseInstrumentFields('{"calendar": "NYSE"}')).toThrow(refusal);
    expect(() => parseInstrumentFields('{}', 'NYSE')).toThrow(refusal);
  });

  it('tells holidays from gaps', () => {
    const days = ['2024-03-27', '2024-03-28', '2024-04-01', '2024-04-03'].map((day) => Date.parse(day));
    const closure = closuresOf(Float64Array.from(days), '1d', findExchange('XNYS'));
    const day = (text: string): number => Date.parse(text);
    expect(closure({ from: day('2024-03-29'), to: day('2024-04-01') })).toBe('holiday');
    expect(closure({ from: day('2024-04-02'), to: day('2024-04-03') })).toBeNull();
  });
});
