// The kernels of daily returns: bit for bit the compensated sums of plain loops, powers as `**` gives them (hashes that
// are stored cover both), and ends as sorting gives them.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compensatedSum } from '../../../src/engine/kernels/compensatedSum.ts';
import { dayColumns, endsOf, powerSums, returnSums } from '../../../src/engine/kernels/simd/powerSums.ts';
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

describe('powerSums', () => {
  const powersOf = (value: number): [number, number] => {
    const { third, fourth } = powerSums([value], 0);
    return [third, fourth];
  };

  it('adds powers that equal ** on a million numbers the size of returns', () => {
    const random = seededRandom(3);
    const differing: number[] = [];
    for (let count = 0; count < 1_000_000; count++) {
      const value = (random() - 0.5) * 10 ** (-8 * random());
      const [third, fourth] = powersOf(value);
      if (third !== value ** 3 || fourth !== value ** 4) differing.push(value);
    }
    expect(differing).toEqual([]);
  });

  it('adds powers that equal ** on any double', () => {
    fc.assert(
      fc.property(fc.double({ noDefaultInfinity: true, min: -1e70, max: 1e70 }), (value) => {
        expect(powersOf(value).map((power) => power + 0)).toEqual([value ** 3 + 0, value ** 4 + 0]);
      }),
      { numRuns: 20_000 },
    );
  });

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
    const columns = dayColumns(equity.length);
    columns.marks.set(equity);
    const sums = returnSums(columns, initialBalance);
    return { sums, returns: columns.returns };
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

it('leaves the days of a run where they are when it sums another list', () => {
  const columns = dayColumns(100);
  columns.marks.fill(7);
  columns.returns.fill(8);
  powerSums(new Float64Array(100).fill(1), 0, new Float64Array(100).fill(2));
  endsOf(new Float64Array(100).fill(3), 100);
  expect([columns.marks, columns.returns]).toEqual([new Float64Array(100).fill(7), new Float64Array(100).fill(8)]);
});

describe('endsOf', () => {
  const finite = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0);
  /** Also with many equal values, and with all of them in one bucket. */
  const values = fc.oneof(
    fc.array(finite, { minLength: 1, maxLength: 300 }),
    fc.array(
      fc.double({ noNaN: true, min: -0.1, max: 0.1 }).map((value) => value + 0),
      { minLength: 1, maxLength: 300 },
    ),
    fc.array(fc.integer({ min: -2, max: 2 }), { minLength: 1, maxLength: 300 }),
    fc.array(fc.double({ noNaN: true, min: 1e-9, max: 1e-8 }), { minLength: 1, maxLength: 300 }),
  );

  it('has at least the wanted lowest and highest values, sorted', () => {
    fc.assert(
      fc.property(values, fc.nat(), fc.constantFrom(0, 1e-9, 0.02, 1), (list, seed, size) => {
        const wanted = 1 + (seed % list.length);
        const sorted = Float64Array.from(list).sort();
        const { lowest, highest } = endsOf(Float64Array.from(list), wanted, size);
        expect(lowest.length).toBeGreaterThanOrEqual(wanted);
        expect(highest.length).toBeGreaterThanOrEqual(wanted);
        expect(lowest).toEqual(sorted.subarray(0, lowest.length));
        expect(highest).toEqual(sorted.subarray(sorted.length - highest.length));
      }),
      { numRuns: 500 },
    );
  });

  it.each([0.02, 1e-9])('gathers few more than are wanted from returns of about ± %d', (scale) => {
    const random = seededRandom(5);
    const returns = Float64Array.from({ length: 2_000 }, () => (random() + random() + random() - 1.5) * scale);
    const { lowest, highest } = endsOf(returns, 100);
    expect([lowest.length < 200, highest.length < 200]).toEqual([true, true]);
  });
});
