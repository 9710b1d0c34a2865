// Selection: the value at a rank, and the two sides of it, against sorting.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { least, selectRank } from '../../../src/engine/kernels/select.ts';
import { percentile, percentileOf } from '../../../src/engine/report/moments.ts';
import { seededRandom } from '../../support/scale.ts';

const finite = fc.double({ noNaN: true, noDefaultInfinity: true });
/** With many equal values, as the returns of days without a position are. */
const values = fc.oneof(
  fc.array(finite, { minLength: 1, maxLength: 300 }),
  fc.array(fc.integer({ min: -2, max: 2 }), { minLength: 1, maxLength: 300 }),
);

describe('selectRank', () => {
  it('puts the value of the rank in its place, nothing larger before it and nothing smaller after it', () => {
    fc.assert(
      fc.property(values, fc.nat(), (list, seed) => {
        const rank = seed % list.length;
        const chosen = Float64Array.from(list);
        selectRank(chosen, rank);
        const sorted = Float64Array.from(list).sort();
        expect(chosen[rank] === sorted[rank]).toBe(true);
        expect(chosen.slice(0, rank).every((value) => value <= chosen[rank])).toBe(true);
        expect(least(chosen, rank, chosen.length) >= chosen[rank]).toBe(true);
        expect(chosen.sort().every((value, index) => value === sorted[index])).toBe(true);
      }),
    );
  });

  it('selects from sorted, reversed and equal values', () => {
    for (const list of [Float64Array.from({ length: 5_000 }, (_, i) => i), new Float64Array(5_000).fill(7)]) {
      for (const chosen of [list.slice(), list.slice().reverse()]) {
        selectRank(chosen, 250);
        expect(chosen[250]).toBe(list[250]);
      }
    }
  });

  it('selects any rank of thousands of values, with and without ties', () => {
    const random = seededRandom(3);
    for (const scale of [20, 1e9]) {
      const list = Float64Array.from({ length: 5_000 }, () => Math.floor(random() * scale));
      const sorted = list.slice().sort();
      for (const rank of [0, 1, 249, 250, 2_499, 4_000, 4_749, 4_999]) {
        const chosen = list.slice();
        selectRank(chosen, rank);
        expect(chosen[rank]).toBe(sorted[rank]);
        expect(least(chosen, rank, chosen.length)).toBe(sorted[rank]);
        expect(chosen.subarray(0, rank).every((value) => value <= chosen[rank])).toBe(true);
        expect(chosen.sort()).toEqual(sorted);
      }
    }
  });
});

describe('percentileOf', () => {
  it('equals the percentile of the sorted values', () => {
    fc.assert(
      fc.property(values, fc.integer({ min: 0, max: 100 }), (list, percent) => {
        const sorted = Float64Array.from(list).sort();
        // Adding 0 makes the two zeros one: sorting tells them apart.
        expect(percentileOf(Float64Array.from(list), percent)! + 0).toBe(percentile(sorted, percent)! + 0);
      }),
    );
  });
});
