import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TIMEFRAMES } from '../../../src/engine/bars/bars.ts';
import type { Bars, Timeframe } from '../../../src/engine/bars/bars.ts';
import { resample } from '../../../src/engine/bars/resample.ts';
import { START, randomBars } from '../../support/bars.ts';
import { scaled } from '../../support/scale.ts';
import { bucketOf, endOf, lengthOf } from '../../support/timeGrid.ts';

/** Every pair of which whole bars of the first make the second. */
const ROUTES = TIMEFRAMES.flatMap((from, at) => TIMEFRAMES.slice(at + 1).map((to) => [from, to] as const)).filter(
  ([from, to]) => (to === '1M' ? from !== '1w' : lengthOf(to) % lengthOf(from) === 0),
);
const route = fc.constantFrom(...ROUTES);
/** Steps between bars, 1 or, at a hole, more. */
const steps = fc.array(fc.oneof({ weight: 9, arbitrary: fc.constant(1) }, fc.integer({ min: 2, max: 400 })), {
  minLength: 1,
  maxLength: 300,
});
const seed = fc.integer({ min: 1, max: 1e9 });

function holeyBars(timeframe: Timeframe, gaps: readonly number[], phase: number, seed: number): Bars {
  let at = bucketOf(timeframe, START) + phase;
  const times = gaps.map((gap) => (at += gap * lengthOf(timeframe)));
  const series = { signal: times.map((_, row) => (row % 3 === 0 ? NaN : row)) };
  return randomBars({ timeframe, times, seed, series });
}

/** The slow, obvious way: group rows by bucket, then read each group. */
function bruteForce(bars: Bars, timeframe: Timeframe): Record<string, number>[] {
  const groups = new Map<number, number[]>();
  bars.time.forEach((time, row) => {
    const bucket = bucketOf(timeframe, time);
    groups.set(bucket, [...(groups.get(bucket) ?? []), row]);
  });
  return [...groups].map(([time, rows]) => ({
    time,
    open: bars.open[rows[0]],
    high: Math.max(...rows.map((row) => bars.high[row])),
    low: Math.min(...rows.map((row) => bars.low[row])),
    close: bars.close[rows.at(-1)!],
    // Five decimals each: whole hundred-thousandths add up exactly.
    volume: rows.reduce((sum, row) => sum + Math.round(bars.volume[row] * 1e5), 0) / 1e5,
    signal: rows.map((row) => bars.series.get('signal')![row]).findLast((value) => !Number.isNaN(value)) ?? NaN,
    children: rows.length,
  }));
}

describe('resampling', () => {
  it('equals a brute-force aggregation, whatever the holes', () => {
    fc.assert(
      fc.property(route, steps, seed, ([from, to], gaps, seed) => {
        const bars = holeyBars(from, gaps, 0, seed);
        const made = resample(bars, to);
        const expected = bruteForce(bars, to);
        expect(made.length).toBe(expected.length);
        for (const name of ['time', 'open', 'high', 'low', 'close', 'volume'] as const) {
          expect([...made[name]], name).toEqual(expected.map((bar) => bar[name]));
        }
        expect([...made.series.get('signal')!]).toEqual(expected.map((bar) => bar.signal));
        const isPartial = (bar: Record<string, number>): boolean =>
          bar.children < (endOf(to, bar.time) - bar.time) / lengthOf(from);
        expect(made.partialBars).toBe(expected.filter(isPartial).length);
      }),
      { numRuns: scaled(500), seed: 20_240_101 },
    );
  });

  it('gives in two steps what it gives in one', () => {
    fc.assert(
      fc.property(steps, seed, (gaps, seed) => {
        const bars = holeyBars('1m', gaps, 0, seed);
        const direct = resample(bars, '4h');
        const twice = resample(resample(bars, '1h'), '4h');
        for (const name of ['time', 'open', 'high', 'low', 'close', 'volume'] as const) {
          expect([...twice[name]]).toEqual([...direct[name]]);
        }
      }),
      { numRuns: scaled(200), seed: 7 },
    );
  });

  it('never lets a later bar change an earlier bucket', () => {
    const bars = randomBars({ timeframe: '1m', count: 1000 });
    const whole = resample(bars, '1h');
    const prefix = resample(randomBars({ timeframe: '1m', count: 720 }), '1h');
    for (let row = 0; row < prefix.length; row++) expect(prefix.close[row]).toBe(whole.close[row]);
  });

  it('names the snapshot it was resampled from, and keeps the instrument', () => {
    const made = resample(randomBars({ timeframe: '1m', symbol: 'ABC' }), '1h');
    expect(made).toMatchObject({ symbol: 'ABC', timeframe: '1h', isResampled: true, sha256: 'test' });
  });

  it('begins days at 00:00 UTC, even before 1970', () => {
    const times = [-2, -1, 0, 1].map((hours) => hours * 3_600_000);
    const made = resample(randomBars({ timeframe: '1h', times }), '1d');
    expect([...made.time]).toEqual([-86_400_000, 0]);
    expect(made.partialBars).toBe(2);
  });

  it('sums volumes as decimals', () => {
    const bars = randomBars({ timeframe: '1m', count: 3 });
    bars.volume.set([0.1, 0.2, 0.3]);
    expect(resample(bars, '1h').volume[0]).toBe(0.6);
    bars.volume.set([1e300, 1, 1 / 3]);
    expect(resample(bars, '1h').volume[0]).toBe(1e300);
  });

  it('loses no small volume behind one that is too large for whole units', () => {
    const bars = randomBars({ timeframe: '1m', count: 15 });
    bars.volume.fill(1e-8).set([1.2e8]);
    // 14 times 1e-8; neighboring doubles are 1.5e-8 apart here.
    expect(resample(bars, '15m').volume[0]).toBeCloseTo(1.2e8 + 1.4e-7, 7);
  });

  it('reports how long after its bucket an off-grid child may close', () => {
    const times = [14.5, 15.5, 16.5].map((hour) => START + hour * 3_600_000);
    const made = resample(randomBars({ timeframe: '1h', times }), '4h');
    expect([...made.time]).toEqual([START + 12 * 3_600_000, START + 16 * 3_600_000]);
    expect(made.overhangMs).toBe(30 * 60_000);
    expect(resample(randomBars({ timeframe: '1h' }), '4h').overhangMs).toBe(0);
  });

  it('refuses to make finer bars', () => {
    expect(() => resample(randomBars({ timeframe: '1h' }), '15m')).toThrow('1h bars cannot be resampled to 15m');
    expect(() => resample(randomBars({ timeframe: '1h' }), '1h')).toThrow('not coarser');
  });

  it('refuses every pair of which no whole number of bars makes one', () => {
    const refused = TIMEFRAMES.flatMap((from, at) => TIMEFRAMES.slice(at + 1).map((to) => [from, to] as const)).filter(
      ([from, to]) => !ROUTES.some((pair) => pair[0] === from && pair[1] === to),
    );
    expect(refused.map((pair) => pair.join(' '))).toEqual(['3m 5m', '4h 6h', '6h 8h', '8h 12h', '1w 1M']);
    for (const [from, to] of refused)
      expect(() => resample(randomBars({ timeframe: from, count: 3 }), to)).toThrow('no whole number of them');
  });

  it('begins weeks on Monday and months on their first day, also before 1970 and around leap days', () => {
    const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);
    const days = (first: number, count: number): number[] =>
      Array.from({ length: count }, (_, day) => first + day * 86_400_000);
    const winter = randomBars({ timeframe: '1d', times: days(Date.UTC(1969, 11, 28), 9) });
    expect([...resample(winter, '1w').time].map(dayOf)).toEqual(['1969-12-22', '1969-12-29', '1970-01-05']);
    expect([...resample(winter, '1M').time].map(dayOf)).toEqual(['1969-12-01', '1970-01-01']);
    const leap = resample(randomBars({ timeframe: '1d', times: days(Date.UTC(2024, 1, 1), 30) }), '1M');
    expect([[...leap.time].map(dayOf), leap.partialBars]).toEqual([['2024-02-01', '2024-03-01'], 1]);
  });
});
