// Sums of daily returns: each is the compensated sum of its terms, in the order of the days (stored hashes cover them).
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compensatedSum } from '../../../src/engine/kernels/compensatedSum.ts';
import { fourthPower, thirdPower } from '../../../src/engine/report/returnSums.ts';
import { powerSums, returnSums } from '../../../src/engine/report/returnSums.ts';
import { seededRandom } from '../../support/scale.ts';

/** Equity that rests half of the time, and its returns. */
function walk(seed: number, days: number): { returns: Float64Array; equity: Float64Array } {
  const random = seededRandom(seed);
  let mark = 10_000;
  let isHeld = false;
  const equity = Float64Array.from({ length: days }, () => {
    if (random() < 0.1) isHeld = !isHeld;
    return isHeld ? (mark *= 1 + (random() - 0.5) * 10 ** (-3 * random())) : mark;
  });
  return { equity, returns: equity.map((value, day) => value / (day === 0 ? 10_000 : equity[day - 1]) - 1) };
}

describe('powers', () => {
  const differs = (value: number): boolean => thirdPower(value) !== value ** 3 || fourthPower(value) !== value ** 4;

  it('equal ** on a million numbers the size of returns', () => {
    const random = seededRandom(3);
    const values = Array.from({ length: 1_000_000 }, () => (random() - 0.5) * 10 ** (-8 * random()));
    expect(values.filter(differs)).toEqual([]);
  });

  it('equal ** on any double', () => {
    fc.assert(
      fc.property(fc.double({ noDefaultInfinity: true, noNaN: true, min: -1e70, max: 1e70 }), (value) => {
        expect(differs(value)).toBe(false);
      }),
      { numRuns: 20_000 },
    );
  });
});

describe('powerSums', () => {
  it.each([0, 1, 2, 3, 500, 501])('of %i returns are the compensated sums of each', (days) => {
    for (let seed = 1; seed <= 20; seed++) {
      const { returns } = walk(seed, days);
      const others = walk(seed + 1_000, days).returns;
      const apart = returns.map((value) => value - 0.001);
      expect(powerSums(returns, 0.001, others, -0.002)).toEqual({
        second: compensatedSum(apart.map((value) => value * value)),
        third: compensatedSum(apart.map((value) => value ** 3)),
        fourth: compensatedSum(apart.map((value) => value ** 4)),
        product: compensatedSum(apart.map((value, day) => value * (others[day] + 0.002))),
      });
    }
  });
});

describe('returnSums', () => {
  const sumsOf = (equity: Float64Array, initialBalance: number) => {
    const returns = new Float64Array(equity.length);
    return { sums: returnSums(equity, returns, initialBalance), returns };
  };

  it.each([0, 1, 2, 3, 500, 501])('of %i days are the compensated sums of each', (days) => {
    for (let seed = 1; seed <= 20; seed++) {
      const { returns, equity } = walk(seed, days);
      let peak = 10_000;
      const falls = equity.map((mark) => mark / (peak = Math.max(peak, mark)) - 1);
      const found = sumsOf(equity, 10_000);
      expect(found.returns).toEqual(returns);
      expect(found.sums).toEqual({
        total: compensatedSum(returns),
        gains: compensatedSum(returns.filter((value) => value > 0)),
        losses: compensatedSum(returns.filter((value) => value < 0).map((value) => -value)),
        squaredLosses: compensatedSum(returns.filter((value) => value < 0).map((value) => value * value)),
        squaredFalls: compensatedSum(falls.map((fall) => fall * fall)),
      });
    }
  });

  it('takes the return for 0 once nothing is left', () => {
    const { returns, sums } = sumsOf(Float64Array.of(150, 0, 0, -50, 25, 50), 100);
    expect([...returns]).toEqual([0.5, -1, 0, 0, 0, 1]);
    expect(sums).toMatchObject({ total: 0.5, gains: 1.5, losses: 1, squaredFalls: 1 + 1 + 16 / 9 + 25 / 36 + 4 / 9 });
  });
});
