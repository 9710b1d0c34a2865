// Third and fourth powers against `**`, to the last bit: hashes that are stored cover it.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cubeOf, fourthPowerOf } from '../../../src/engine/kernels/powers.ts';
import { seededRandom } from '../../support/scale.ts';

describe('powers', () => {
  it('equal ** on a million numbers the size of returns', () => {
    const random = seededRandom(3);
    const differing: number[] = [];
    for (let count = 0; count < 1_000_000; count++) {
      const value = (random() - 0.5) * 10 ** (-8 * random());
      if (cubeOf(value) !== value ** 3 || fourthPowerOf(value) !== value ** 4) differing.push(value);
    }
    expect(differing).toEqual([]);
  });

  it('equal ** on any double', () => {
    fc.assert(
      fc.property(fc.double(), (value) => {
        expect(cubeOf(value)).toBe(value ** 3);
        expect(fourthPowerOf(value)).toBe(value ** 4);
      }),
      { numRuns: 20_000 },
    );
  });
});
