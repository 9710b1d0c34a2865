// The fields of a wall clock and windows of time, on dates known from the calendar.
import { describe, expect, it } from 'vitest';
import { timeField, timeWindow } from '../../../src/engine/definitions/expressions/clock.ts';
import { hasBit } from '../../../src/engine/kernels/bits.ts';

const time = (text: string): number => Date.parse(`${text}Z`);

describe('the week of the year', () => {
  it.each([
    ['2020-12-28T00:00', 53],
    ['2021-01-03T23:59', 53],
    ['2021-01-04T00:00', 1],
    ['2024-12-29T12:00', 52],
    ['2024-12-30T00:00', 1],
    ['2025-01-05T12:00', 1],
    ['2025-01-06T00:00', 2],
    ['2023-01-01T00:00', 52],
    ['1969-12-31T12:00', 1],
  ])('of %s is %i by ISO 8601', (text, week) => {
    expect(timeField(time(text), 'week_of_year')).toBe(week);
  });
});

describe('a window of time', () => {
  /** The times that are in the window. */
  const inside = (window: Parameters<typeof timeWindow>[1], texts: readonly string[]): string[] => {
    const out = new Uint32Array(1);
    timeWindow(Float64Array.from(texts, time), window, out);
    return texts.filter((_, row) => hasBit(out, row));
  };

  it('includes both of its dates, the whole of the last one', () => {
    const texts = ['2024-03-04T23:59', '2024-03-05T00:00', '2024-03-06T00:00', '2024-03-07T23:59', '2024-03-08T00:00'];
    const dates = { from: '2024-03-05', to: '2024-03-07' };
    expect(inside({ dates }, texts)).toEqual(texts.slice(1, 4));
    expect(inside({ dates: { from: dates.from } }, texts)).toEqual(texts.slice(1));
    expect(inside({ dates: { to: dates.to } }, texts)).toEqual(texts.slice(0, 4));
  });

  it('begins at its first minute and ends before its last', () => {
    const texts = ['2024-03-05T08:59', '2024-03-05T09:00', '2024-03-05T16:59', '2024-03-05T17:00'];
    expect(inside({ between: { from: '09:00', to: '17:00' } }, texts)).toEqual(texts.slice(1, 3));
  });

  it('past midnight belongs to the day on which it began', () => {
    // 2024-03-05 is a Tuesday.
    const texts = ['2024-03-05T01:00', '2024-03-05T21:59', '2024-03-05T22:00', '2024-03-06T01:59', '2024-03-06T02:00'];
    const between = { from: '22:00', to: '02:00' };
    const tuesday = texts.slice(2, 4);
    expect(inside({ between, weekdays: ['tue'] }, texts)).toEqual(tuesday);
    expect(inside({ between, dates: { from: '2024-03-05', to: '2024-03-05' } }, texts)).toEqual(tuesday);
  });
});
