import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { alignRows } from '../../../src/engine/bars/align.ts';
import { TIMEFRAME_MS } from '../../../src/engine/bars/bars.ts';
import type { Bars, StoredTimeframe } from '../../../src/engine/bars/bars.ts';
import { resample } from '../../../src/engine/bars/resample.ts';
import { START, randomBars } from '../../support/bars.ts';
import { scaled } from '../../support/scale.ts';

const HOUR = 3_600_000;
const hours = (...list: number[]): number[] => list.map((hour) => START + hour * HOUR);
const steps = fc.array(fc.oneof({ weight: 9, arbitrary: fc.constant(1) }, fc.integer({ min: 2, max: 60 })), {
  minLength: 1,
  maxLength: 120,
});

function holeyBars(symbol: string, timeframe: StoredTimeframe, gaps: readonly number[]): Bars {
  let at = START - TIMEFRAME_MS[timeframe];
  return randomBars({ symbol, timeframe, times: gaps.map((gap) => (at += gap * TIMEFRAME_MS[timeframe])) });
}

/** Semantics §1.6 and §1.7 read aloud, every pair of bars looked at. */
function bruteForce(base: Bars, other: Bars): number[] {
  const size = TIMEFRAME_MS[other.timeframe];
  return Array.from(base.time, (time) => {
    const now = time + TIMEFRAME_MS[base.timeframe];
    const closes = Array.from(other.time, (open) => open + size);
    if (base.symbol === other.symbol) return closes.findLastIndex((close) => close <= now);
    if (base.timeframe === other.timeframe) return closes.indexOf(now);
    // The bucket that ended last, and no older one.
    return closes.indexOf(Math.floor(now / size) * size);
  });
}

describe('alignment', () => {
  it('shows the last bar of another timeframe that closed at or before the base close', () => {
    fc.assert(
      fc.property(fc.constantFrom('1h', '4h', '1d'), steps, steps, (timeframe, gaps, otherGaps) => {
        const base = holeyBars('A', '1h', gaps);
        const other = holeyBars('A', timeframe, otherGaps);
        expect([...alignRows(base, other)]).toEqual(bruteForce(base, other));
      }),
      { numRuns: scaled(500), seed: 1 },
    );
  });

  it('shows another instrument’s bar that closes then, or the bucket that ended last, or nothing', () => {
    fc.assert(
      fc.property(fc.constantFrom('1h', '4h', '1d'), steps, steps, (timeframe, gaps, otherGaps) => {
        const base = holeyBars('A', '1h', gaps);
        const other = holeyBars('B', timeframe, otherGaps);
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

  it('shows a resampled bar only once the last child in it has closed', () => {
    // New York's 09:30 in UTC: the child of 15:30 belongs to the bucket 12 to 16 and closes at 16:30.
    const shares = randomBars({ symbol: 'S', timeframe: '1h', times: hours(14.5, 15.5) });
    const base = randomBars({ symbol: 'B', timeframe: '15m', times: hours(15.5, 15.75, 16, 16.25) });
    expect([...alignRows(base, resample(shares, '4h'))]).toEqual([-1, -1, -1, 0]);
  });
});
