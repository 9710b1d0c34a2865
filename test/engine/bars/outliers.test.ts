import { describe, expect, it } from 'vitest';
import { findOutliers, OutlierSearch } from '../../../src/engine/bars/outliers.ts';
import type { TimedPrices } from '../../../src/engine/bars/outliers.ts';
import { dataQuality } from '../../../src/engine/report/dataQuality.ts';
import { randomBars } from '../../support/bars.ts';
import { seededRandom } from '../../support/scale.ts';

const DAY = 86_400_000;
type Row = readonly [open: number, high: number, low: number, close: number];

/** Quiet days of about 1 %, with rows replaced. */
function days(replaced: Readonly<Record<number, Row>> = {}, count = 60): TimedPrices {
  const random = seededRandom(3);
  let price = 110;
  const rows = Array.from({ length: count }, (_, at): Row => {
    const open = price;
    price *= 1 + (random() - 0.5) / 100;
    const [high, low] = [Math.max(open, price) * 1.003, Math.min(open, price) * 0.997];
    return replaced[at] ?? [open, high, low, price];
  });
  const column = (index: number): Float64Array => Float64Array.from(rows, (row) => row[index]);
  const time = Float64Array.from({ length: count }, (_, at) => at * DAY);
  return { time, open: column(0), high: column(1), low: column(2), close: column(3) };
}

/** The row at 30, scaled. */
function changed(open: number, high: number, low: number, close: number): Row {
  const plain = days();
  return [plain.open[30] * open, plain.high[30] * high, plain.low[30] * low, plain.close[30] * close];
}

/** Whether two prices are apart by a fraction and so many times the median range of the 100 bars on either side. */
function areApart(bars: TimedPrices, row: number, a: number, b: number, fraction: number, ranges: number): boolean {
  const ratio = Math.max(a / b, b / a);
  const around = Array.from(bars.high, (high, other) => Math.log(high / bars.low[other])).filter(
    (_, other) => other !== row && Math.abs(other - row) <= 100,
  );
  around.sort((left, right) => left - right);
  return ratio > 1 + fraction && Math.log(ratio) > ranges * around[around.length >> 1];
}

/** Every row by the words of the definition: its kind and row. */
function plainOutliers(bars: TimedPrices): string[] {
  const { open, high, low, close } = bars;
  const found: string[] = [];
  for (let row = 1; row < high.length; row++) {
    const [top, bottom] = [Math.max(high[row - 1], high[row + 1]), Math.min(low[row - 1], low[row + 1])];
    const isOut = (fraction: number, ranges: number): boolean =>
      (high[row] > top && areApart(bars, row, high[row], top, fraction, ranges)) ||
      (low[row] < bottom && areApart(bars, row, low[row], bottom, fraction, ranges));
    if (row + 1 < high.length && (isOut(0.05, 6) || isOut(0.01, 25))) found.push(`spike ${row}`);
    else if (found.at(-1) !== `spike ${row - 1}` && areApart(bars, row, open[row], close[row - 1], 0.2, 10))
      found.push(`jump ${row}`);
  }
  return found;
}

describe('the search for outliers', () => {
  const cases: readonly (readonly [string, Row, 'open' | 'high' | 'low' | 'close'])[] = [
    ['finds a low at a hundredth of its neighbors', changed(1, 1, 0.01, 1), 'low'],
    ['finds a high of 144 on a bar of 114', changed(1, 144 / 114, 1, 1), 'high'],
    ['finds an open that is 16 % off, and the low with it', changed(0.84, 1, 0.84 / 0.997, 1), 'open'],
    ['finds a whole bar in another unit', changed(100, 100, 100, 100), 'high'],
  ];
  it.each(cases)('%s', (_, row, column) => {
    const bars = days({ 30: column === 'open' ? [row[0], row[1], row[0], row[3]] : row });
    expect(findOutliers(bars)).toEqual([
      {
        time: 30 * DAY,
        kind: 'spike',
        column,
        price: column === 'open' ? bars.open[30] : bars[column][30],
        neighbor: column === 'high' ? Math.max(bars.high[29], bars.high[31]) : Math.min(bars.low[29], bars.low[31]),
      },
    ]);
  });

  it('finds a jump to a price that lasts, as after a split, and the end of a run of bad bars', () => {
    const plain = days();
    const scaled = (row: number): Row => [
      plain.open[row] / 4,
      plain.high[row] / 4,
      plain.low[row] / 4,
      plain.close[row] / 4,
    ];
    const split = days(Object.fromEntries(Array.from({ length: 30 }, (_, at) => [at + 30, scaled(at + 30)])));
    expect(findOutliers(split)).toEqual([
      { time: 30 * DAY, kind: 'jump', column: 'open', price: plain.open[30] / 4, neighbor: plain.close[29] },
    ]);
    const run = days({ 30: scaled(30), 31: scaled(31), 32: scaled(32) });
    expect(findOutliers(run).map(({ time, kind }) => `${kind} ${time / DAY}`)).toEqual(['jump 30', 'jump 33']);
  });

  it.each([1, 2, 3, 4])('finds what the definition says on bars with many flaws (seed %i)', (seed) => {
    const random = seededRandom(seed);
    const plain = days({}, 800);
    const flaws = [0.02, 0.8, 0.94, 0.985, 0.9901, 1.011, 1.02, 1.07, 1.25, 40];
    const rows: Record<number, Row> = {};
    let level = 1;
    for (let row = 0; row < 800; row++) {
      if (random() < 0.01) level *= random() < 0.5 ? 2 : 0.5;
      const flaw = (): number => level * (random() < 0.05 ? flaws[Math.floor(random() * flaws.length)] : 1);
      const [open, close] = [plain.open[row] * flaw(), plain.close[row] * flaw()];
      const [high, low] = [plain.high[row] * flaw(), plain.low[row] * flaw()];
      rows[row] = [open, Math.max(open, high, low, close), Math.min(open, high, low, close), close];
    }
    const bars = days(rows, 800);
    const found = findOutliers(bars).map(({ kind, time }) => `${kind} ${time / DAY}`);
    expect(found.length).toBeGreaterThan(20);
    expect(found).toEqual(plainOutliers(bars));
    const inPieces = new OutlierSearch(bars);
    for (let end = 0; end < 800; end += Math.floor(random() * 40)) inPieces.readTo(end);
    inPieces.readTo(800);
    expect(inPieces.found).toEqual(findOutliers(bars));
  });

  it('ignores wide bars in a volatile market, and trends', () => {
    expect(findOutliers(days())).toEqual([]);
    expect(findOutliers(days({ 30: changed(1, 1.04, 0.96, 1) }))).toEqual([]);
    const wild = randomBars({ timeframe: '1d', count: 500, seed: 9 });
    expect(findOutliers(wild)).toEqual([]);
    const trend = days(
      Object.fromEntries(
        Array.from({ length: 60 }, (_, at) => {
          const open = 100 * 1.1 ** at;
          return [at, [open, open * 1.101, open * 0.999, open * 1.1] as Row];
        }),
      ),
    );
    expect(findOutliers(trend)).toEqual([]);
  });

  it('does not compare with one neighbor alone, unless the price jumped', () => {
    const plain = days();
    expect(findOutliers(days({ 0: [plain.open[0], plain.high[0] * 1.3, plain.low[0], plain.close[0]] }))).toEqual([]);
    expect(findOutliers(days({ 59: changed(100, 100, 100, 100) }))).toMatchObject([{ kind: 'jump', time: 59 * DAY }]);
    expect(findOutliers(days({}, 1))).toEqual([]);
  });
});

it('lists at most twenty outliers of the range under data quality, and counts all of them', () => {
  const rows = Object.fromEntries(Array.from({ length: 25 }, (_, at) => [10 * at + 5, changed(1, 1, 0.01, 1)]));
  const bars = { ...randomBars({ timeframe: '1d', count: 300 }), ...days(rows, 300) };
  const whole = dataQuality(bars, null, 0, 300);
  expect([whole.outlierCount, whole.outliers.length]).toEqual([25, 20]);
  const part = dataQuality(bars, null, 10, 30);
  expect([part.outlierCount, ...part.outliers.map(({ time }) => time / DAY)]).toEqual([2, 15, 25]);
  expect(dataQuality(bars, null, 30, 30)).toMatchObject({ outlierCount: 0, outliers: [] });
});
