// Whether the ends of a finer series allow it to stand in for a coarser one, to the millisecond.
import { describe, expect, it } from 'vitest';
import { DAY_MS } from '../../../src/engine/bars/bars.ts';
import { coversSpan } from '../../../src/engine/bars/coverage.ts';

describe('the span of a finer series', () => {
  const from = Date.UTC(2024, 0, 1);
  const to = from + 10 * DAY_MS;
  const covers = (timeframe: '4h' | '1d', late: number, early: number): boolean =>
    coversSpan({ timeframe: '1h', start: from + late, end: to - early }, { timeframe, start: from, end: to });

  it('covers one with the same ends, and none that begins before it or ends after it', () => {
    expect(covers('4h', 0, 0)).toBe(true);
    expect(covers('4h', 1, 0)).toBe(false);
    expect(covers('4h', 0, 1)).toBe(false);
  });

  it('may lack up to a day at either end of daily bars', () => {
    expect(covers('1d', DAY_MS, DAY_MS)).toBe(true);
    expect(covers('1d', DAY_MS + 1, 0)).toBe(false);
    expect(covers('1d', 0, DAY_MS + 1)).toBe(false);
  });
});
