// What runs over one range share: kept by series and range, never answered for another one.
import { describe, expect, it } from 'vitest';
import { KeptByRange, MOST_RANGES } from '../../../src/engine/bars/keptByRange.ts';
import { dataQuality } from '../../../src/engine/report/dataQuality.ts';
import { equityPreview } from '../../../src/engine/report/equityPreview.ts';
import { monthMarks, monthRows, monthsOf } from '../../../src/engine/report/months.ts';
import { dailySeries } from '../../../src/engine/report/returns.ts';
import { diceOf } from '../../support/dice.ts';
import { barsFrom } from '../simulate/input.ts';

describe('KeptByRange', () => {
  it('makes a value once for each series and range', () => {
    const kept = new KeptByRange<object, number>();
    const [one, other] = [{}, {}];
    let made = 0;
    const get = (series: object, start: number, end: number): number => kept.get(series, start, end, () => ++made);
    expect([get(one, 0, 5), get(one, 1, 5), get(one, 0, 4), get(other, 0, 5)]).toEqual([1, 2, 3, 4]);
    expect([get(one, 0, 5), get(one, 1, 5), get(one, 0, 4), get(other, 0, 5)]).toEqual([1, 2, 3, 4]);
  });

  it('forgets the range that was not used for longest', () => {
    const kept = new KeptByRange<object, number>();
    const series = {};
    const get = (start: number, value: number): number => kept.get(series, start, 100, () => value);
    for (let start = 0; start < MOST_RANGES; start++) get(start, 1);
    get(0, 2);
    get(MOST_RANGES, 1);
    expect([get(0, 3), get(1, 3), get(MOST_RANGES, 3)]).toEqual([1, 3, 1]);
  });
});

const HOUR = 3_600_000;

it('says of every range what it says of bars that it has not seen', () => {
  const dice = diceOf(7);
  const count = 2_000;
  const price = Float64Array.from({ length: count }, () => 100 + dice.whole(0, 50));
  const time = Float64Array.from(price, (_, row) => (row + 24 * Math.floor(row / 200)) * HOUR);
  const barsOf = () => barsFrom({ time: time.slice(), open: price, high: price, low: price, close: price }, '1h');
  const shared = barsOf();
  for (let round = 0; round < 100; round++) {
    const start = 20 * dice.whole(0, 60);
    const end = dice.whole(start, start + 3) + dice.pick([0, 0, 300, 700]);
    const said = (bars: typeof shared): unknown => {
      const equity = price.slice(start, end);
      const { day, returns, benchmark } = dailySeries(bars, equity, start, end, 100);
      const months = monthsOf(day);
      const marks = { simulation: { equity, streamed: null }, input: { start, end, bars } } as unknown as Parameters<
        typeof equityPreview
      >[0];
      return {
        days: [...day],
        returns: [...returns],
        benchmark: { ...benchmark(), returns: [...benchmark().returns] },
        byMonth: monthRows(months.numbers, monthMarks(months, returns), 100),
        preview: equityPreview(marks).points(),
        quality: dataQuality(bars, null, start, end),
      };
    };
    expect(said(shared), `rows ${start} to ${end}`).toEqual(said(barsOf()));
    // The months of a part of the days are a part of all months: counted again from the days themselves.
    const { day } = dailySeries(shared, price.slice(start, end), start, end, 100);
    const lastDays = new Map(Array.from(day, (at, index) => [new Date(at).toISOString().slice(0, 7), index]));
    const months = monthsOf(day);
    const names = monthRows(months.numbers, monthMarks(months, day), 100).map(({ month }) => month);
    expect([names, [...months.lastDays]]).toEqual([[...lastDays.keys()], [...lastDays.values()]]);
  }
});
