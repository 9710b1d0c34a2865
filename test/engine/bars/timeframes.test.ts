import { describe, expect, it } from 'vitest';
import * as fc from 'fast-check';
import { TIMEFRAMES } from '../../../src/engine/bars/bars.ts';
import { rowsClosedBy } from '../../../src/engine/bars/rowRange.ts';
import {
  barsBetween,
  closeOf,
  closesOf,
  divides,
  divisorsOf,
  isIntraday,
  longestMs,
  mostBarsIn,
  openOf,
  shortestMs,
} from '../../../src/engine/bars/timeframes.ts';
import { bucketOf, endOf, laterOpen, lengthOf } from '../../support/timeGrid.ts';
import { scaled } from '../../support/scale.ts';

const DAY = 86_400_000;
const timeframe = fc.constantFrom(...TIMEFRAMES);
const time = fc.integer({ min: Date.UTC(1950, 0, 1), max: Date.UTC(2100, 0, 1) });

describe('timeframes', () => {
  it('open and close where a calendar read day by day has them', () => {
    fc.assert(
      fc.property(timeframe, time, fc.integer({ min: 0, max: 30 }), (each, at, steps) => {
        const open = bucketOf(each, at);
        expect(openOf(each, at)).toBe(open);
        expect([closeOf(each, open), closesOf(each)(open)]).toEqual([endOf(each, open), endOf(each, open)]);
        expect(barsBetween(each, open, laterOpen(each, open, steps))).toBe(steps);
        expect(openOf(each, closeOf(each, open) - 1)).toBe(open);
        const length = closeOf(each, open) - open;
        expect(length >= shortestMs(each) && length <= longestMs(each)).toBe(true);
      }),
      { numRuns: scaled(500), seed: 3 },
    );
  });

  it('have closed by a time as a count of all closes says', () => {
    fc.assert(
      fc.property(timeframe, time, fc.integer({ min: -40 * DAY, max: 200 * DAY }), (each, at, later) => {
        const times = Float64Array.from({ length: 40 }, (_, step) => laterOpen(each, bucketOf(each, at), step));
        const by = times[0] + (each === '1M' ? later : Math.round((later * lengthOf(each)) / (30 * DAY)));
        const closed = times.filter((open) => endOf(each, open) <= by).length;
        expect(rowsClosedBy({ time: times, timeframe: each }, by)).toBe(closed);
        if (by >= times[0]) expect(Math.min(mostBarsIn(each, times[0], by), times.length)).toBe(closed);
      }),
      { numRuns: scaled(500), seed: 4 },
    );
  });

  it('are made of others in whole numbers', () => {
    expect(divisorsOf('1M')).toEqual(TIMEFRAMES.slice(0, -2));
    expect(divisorsOf('6h')).toEqual(['1m', '3m', '5m', '15m', '30m', '1h', '2h']);
    expect(divisorsOf('5m')).toEqual(['1m']);
    expect([divides('1d', '1w'), divides('1w', '1M'), divides('1d', '1d'), divides('1d', '4h')]).toEqual([
      true,
      false,
      false,
      false,
    ]);
    expect(TIMEFRAMES.filter(isIntraday)).toEqual(TIMEFRAMES.slice(0, -3));
  });
});
