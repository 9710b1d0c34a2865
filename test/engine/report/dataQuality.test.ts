// Gaps of the bars behind a result, against a count of row after row.
import { expect, it } from 'vitest';
import type { Bars } from '../../../src/engine/bars/bars.ts';
import { flawSearch } from '../../../src/engine/bars/flaws.ts';
import { dataQuality } from '../../../src/engine/report/dataQuality.ts';
import { diceOf } from '../../support/dice.ts';
import { barsFrom } from '../simulate/input.ts';

const HOUR = 3_600_000;

it('counts the gaps of a range, and names the longest', () => {
  let found = 0;
  for (let seed = 1; seed <= 300; seed++) {
    const dice = diceOf(seed);
    const share = dice.pick([0, 0.01, 0.05, 0.3]);
    const count = dice.whole(2, 300);
    const time = new Float64Array(count);
    for (let row = 1; row < count; row++)
      time[row] = time[row - 1] + HOUR * (dice.chance(share) ? dice.whole(2, 9) : 1);
    const price = time.map(() => 100);
    const bars = barsFrom({ time, open: price, high: price, low: price, close: price }, '1h');
    const start = dice.whole(0, count - 1);
    const end = dice.whole(start, count);
    const spans = [...time.subarray(start, end)].map((at, index) => (index === 0 ? 0 : at - time[start + index - 1]));
    const gaps = spans.filter((span) => span > HOUR);
    const expected = { gaps: gaps.length, longestGapBars: Math.round(Math.max(HOUR, ...gaps) / HOUR) - 1 };
    expect(dataQuality(bars, null, start, end), `seed ${seed}`).toMatchObject(expected);
    found += gaps.length;
  }
  expect(found).toBeGreaterThan(200);
});

it('finds the same flaws when rows are looked at some at a time', () => {
  const dice = diceOf(7);
  const count = 3_000;
  const time = Float64Array.from({ length: count }, () => 0);
  for (let row = 1; row < count; row++) time[row] = time[row - 1] + HOUR * (dice.chance(0.01) ? 3 : 1);
  // Flat bars, with an outlier here and there.
  const price = time.map(() => (dice.chance(0.01) ? 150 : 100));
  const columns = { time, open: price, high: price, low: price, close: price };
  const whole = dataQuality(barsFrom(columns, '1h'), null, 100, 2_900);
  const bars = barsFrom(columns, '1h');
  const search = flawSearch(bars, 100, 2_900);
  for (let row = 50; row < count; row += dice.whole(1, 200)) search.readTo(row);
  expect(dataQuality(bars, null, 100, 2_900)).toEqual(whole);
  expect([whole.gaps > 10, whole.flatBars, whole.outlierCount > 10]).toEqual([true, 2_800, true]);
});

it('lists the outliers from the first bar of a range to its last', () => {
  const price = Float64Array.from({ length: 300 }, (_, row) => (row === 100 || row === 200 ? 150 : 100));
  const time = price.map((_, row) => row * HOUR);
  const bars = barsFrom({ time, open: price, high: price, low: price, close: price }, '1h');
  const rowsOf = (start: number, end: number): number[] =>
    dataQuality(bars, null, start, end).outliers.map((outlier) => outlier.time / HOUR);
  expect(rowsOf(100, 201)).toEqual([100, 200]);
  expect(rowsOf(101, 200)).toEqual([]);
});

it('counts the bars of a range that finer bars contradict, and says when none is drilled into', () => {
  const price = Float64Array.from({ length: 40 }, () => 100);
  const bars = (count: number, timeframe: '1h' | '15m', wrong: number) => {
    const columns = { open: price.slice(0, count), low: price.slice(0, count), close: price.slice(0, count) };
    const time = Float64Array.from({ length: count }, (_, row) => (row * HOUR * 40) / count);
    return barsFrom(
      { ...columns, time, high: price.slice(0, count).map((_, row) => (row < wrong ? 130 : 100)) },
      timeframe,
    );
  };
  const base = bars(40, '1h', 0);
  const told = (fine: Bars, start: number, end: number) => {
    const { fineTimeframe, contradictedBars, isDrillingOff } = dataQuality(base, fine, start, end);
    return [fineTimeframe, contradictedBars, isDrillingOff];
  };
  const few = bars(40, '15m', 4);
  expect(told(few, 0, 40)).toEqual(['15m', 4, false]);
  expect(told(few, 2, 40)).toEqual(['15m', 2, false]);
  // Other bars of the same timeframe, over the same range.
  expect(told(bars(40, '15m', 20), 2, 40)).toEqual(['15m', 18, true]);
  expect(told(few, 2, 40)).toEqual(['15m', 2, false]);
  const { contradictedBars, isDrillingOff } = dataQuality(base, null, 0, 40);
  expect([contradictedBars, isDrillingOff]).toEqual([0, false]);
});
