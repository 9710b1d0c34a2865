import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { alignRows } from '../../../src/engine/evaluate/frames.ts';
import { TIMEFRAMES } from '../../../src/engine/bars/bars.ts';
import type { Bars, Timeframe } from '../../../src/engine/bars/bars.ts';
import { resample } from '../../../src/engine/bars/resample.ts';
import { START, randomBars } from '../../support/bars.ts';
import { scaled } from '../../support/scale.ts';
import { bucketOf, endOf, laterOpen } from '../../support/timeGrid.ts';

const HOUR = 3_600_000;
const hours = (...list: number[]): number[] => list.map((hour) => START + hour * HOUR);
const steps = fc.array(fc.oneof({ weight: 9, arbitrary: fc.constant(1) }, fc.integer({ min: 2, max: 60 })), {
  minLength: 1,
  maxLength: 120,
});

function holeyBars(symbol: string, timeframe: Timeframe, gaps: readonly number[]): Bars {
  let at = bucketOf(timeframe, START);
  return randomBars({ symbol, timeframe, times: gaps.map((gap) => (at = laterOpen(timeframe, at, gap))) });
}

/** Semantics §1.6 and §1.7 read aloud, every pair of bars looked at. */
function bruteForce(base: Bars, other: Bars): number[] {
  const closes = Array.from(other.time, (open) => endOf(other.timeframe, open));
  return Array.from(base.time, (time) => {
    const now = endOf(base.timeframe, time);
    if (base.symbol === other.symbol) return closes.findLastIndex((close) => close <= now);
    if (base.timeframe === other.timeframe) return closes.indexOf(now);
    // The bucket that ended last, and no older one.
    return closes.indexOf(bucketOf(other.timeframe, now));
  });
}

/** Every pair of timeframes of which the second is not finer, whether or not whole bars of the first make it. */
const PAIRS = TIMEFRAMES.flatMap((base, at) => TIMEFRAMES.slice(at).map((other) => [base, other] as const));
const pair = fc.constantFrom(...PAIRS);

describe('alignment', () => {
  it('shows the last bar of another timeframe that closed at or before the base close', () => {
    fc.assert(
      fc.property(pair, steps, steps, ([timeframe, otherTimeframe], gaps, otherGaps) => {
        const base = holeyBars('A', timeframe, gaps);
        const other = holeyBars('A', otherTimeframe, otherGaps);
        expect([...alignRows(base, other)]).toEqual(bruteForce(base, other));
      }),
      { numRuns: scaled(500), seed: 1 },
    );
  });

  it('shows another instrument’s bar that closes then, or the bucket that ended last, or nothing', () => {
    fc.assert(
      fc.property(pair, steps, steps, ([timeframe, otherTimeframe], gaps, otherGaps) => {
        const base = holeyBars('A', timeframe, gaps);
        const other = holeyBars('B', otherTimeframe, otherGaps);
        expect([...alignRows(base, other)]).toEqual(bruteForce(base, other));
      }),
      { numRuns: scaled(500), seed: 2 },
    );
  });

  it('maps a series onto itself as the identity', () => {
    const bars = holeyBars('A', '1h', [1, 1, 5, 1, 30]);
    expect([...alignRows(bars, bars)]).toEqual([0, 1, 2, 3, 4]);
  });

  it('shows a 4h bar first on the base bar that closes with it, not on the one before', () => {
    const base = randomBars({ timeframe: '1h', times: hours(0, 1, 2, 3, 4) });
    expect([...alignRows(base, resample(base, '4h'))]).toEqual([-1, -1, -1, 0, 0]);
  });

  it('never fills another instrument forward across a gap', () => {
    const base = randomBars({ symbol: 'A', timeframe: '1h', times: hours(0, 1, 2) });
    const other = randomBars({ symbol: 'B', timeframe: '1h', times: hours(0, 2) });
    expect([...alignRows(base, other)]).toEqual([0, -1, 1]);
  });

  it('shows no bar of the same timeframe of another instrument that closed within a bar', () => {
    const base = randomBars({ symbol: 'A', timeframe: '1h', times: hours(0, 1, 2) });
    const other = randomBars({ symbol: 'B', timeframe: '1h', times: hours(0.5, 1, 1.5) });
    expect([...alignRows(base, other)]).toEqual([-1, 1, -1]);
  });

  it('shows a month first on the base bar that closes with its last day', () => {
    const days = [28, 29, 30, 31, 32, 60, 61].map((day) => START + (day - 1) * 24 * HOUR);
    const base = randomBars({ timeframe: '1d', times: days });
    const months = randomBars({ timeframe: '1M', times: [START, Date.UTC(2024, 1, 1)] });
    expect([...alignRows(base, months)]).toEqual([-1, -1, -1, 0, 0, 1, 1]);
  });

  it('shows the month of another instrument until the next month ends', () => {
    const days = [31, 59, 60].map((day) => START + (day - 1) * 24 * HOUR);
    const base = randomBars({ symbol: 'A', timeframe: '1d', times: days });
    const months = randomBars({ symbol: 'B', timeframe: '1M', times: [START] });
    expect([...alignRows(base, months)]).toEqual([0, 0, -1]);
  });

  it('shows a resampled bar only once the last child in it has closed', () => {
    // New York's 09:30 in UTC: the child of 15:30 belongs to the bucket 12 to 16 and closes at 16:30.
    const shares = randomBars({ symbol: 'S', timeframe: '1h', times: hours(14.5, 15.5) });
    const base = randomBars({ symbol: 'B', timeframe: '15m', times: hours(15.5, 15.75, 16, 16.25) });
    expect([...alignRows(base, resample(shares, '4h'))]).toEqual([-1, -1, -1, 0]);
  });
});
