// The kernels of the two sides of a comparison: what plain loops find.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Sides, valueStats } from '../../../src/engine/kernels/simd/sides.ts';

const value = fc.oneof(fc.constantFrom(NaN, Infinity, -Infinity, 0, 1), fc.double(), fc.double({ min: 99, max: 101 }));
/** Some of them are near, others are not. */
const LEFT_BEHIND = Float64Array.from({ length: 60 }, (_, at) => ((at * at * 7) % 11 < 5 ? 0 : 5));

describe('valueStats', () => {
  it('is what a loop over the values that are not missing finds', () => {
    fc.assert(
      fc.property(fc.array(value, { maxLength: 40 }), (list) => {
        const present = list.filter((each) => !Number.isNaN(each));
        expect(valueStats(Float64Array.from(list))).toEqual({
          count: present.length,
          min: Math.min(...present) + 0,
          max: Math.max(...present) + 0,
          total: present.reduce((sum, each) => sum + each, 0),
        });
      }),
    );
  });
});

describe('Sides', () => {
  it('finds each row on which the sides are near, and none on which one is missing', () => {
    const limit = fc.oneof(fc.constantFrom(0, Infinity), fc.double({ min: 0, max: 0.01, noNaN: true }));
    fc.assert(
      fc.property(fc.array(fc.tuple(value, value), { maxLength: 40 }), limit, (rows, most) => {
        const [left, right] = [0, 1].map((side) => Float64Array.from(rows, (row) => row[side]));
        // What an earlier call has left behind the last row.
        expect(new Sides(LEFT_BEHIND, LEFT_BEHIND).nextNear(7, 0)).toBe(7);
        const sides = new Sides(left, right);
        const found: number[] = [];
        let row = sides.nextNear(0, most);
        for (; row < rows.length; row = sides.nextNear(row + 1, most)) found.push(row);
        expect(row).toBe(rows.length);
        const near = rows.flatMap(([a, b], row) => (Math.abs(a - b) <= most * (Math.abs(a) + 1e-12) ? [row] : []));
        expect(found).toEqual(near);
      }),
    );
  });
});
