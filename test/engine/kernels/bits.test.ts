// The words of bits that the fill loop scans, against an array of booleans.
import { describe, expect, it } from 'vitest';
import { countBits, nextBit, setBits, unionOf } from '../../../src/engine/kernels/bits.ts';
import { seededRandom } from '../../support/scale.ts';
import { bitsAt } from '../simulate/input.ts';

const LENGTH = 130;
const random = seededRandom(3);
const made = Array.from({ length: 200 }, (_, index) => {
  const density = [0, 0.02, 0.3, 1][index % 4];
  return Array.from({ length: LENGTH }, () => random() < density);
});
const rowsOf = (flags: readonly boolean[]) => flags.flatMap((flag, row) => (flag ? [row] : []));
const ranges = [0, 1, 5, 31, 32, 33, 63, 64, 96, 127, 128, 129, 130];

describe('a column of bits', () => {
  it('finds the next bit, or the end', () => {
    for (const flags of made) {
      const words = bitsAt(LENGTH, rowsOf(flags));
      for (const row of ranges) {
        for (const end of ranges) {
          const found = rowsOf(flags).find((at) => at >= row && at < end);
          expect(nextBit(words, row, end)).toBe(found ?? end);
        }
      }
    }
  });

  it('counts and sets the bits of a range', () => {
    for (const flags of made) {
      for (const from of ranges) {
        for (const to of ranges) {
          const words = bitsAt(LENGTH, rowsOf(flags));
          expect(countBits(words, from, to)).toBe(rowsOf(flags).filter((row) => row >= from && row < to).length);
          setBits(words, from, to);
          const expected = flags.map((flag, row) => flag || (row >= from && row < to));
          expect(words).toEqual(bitsAt(LENGTH, rowsOf(expected)));
        }
      }
    }
  });

  it('unites several columns, and returns a single one unchanged', () => {
    const [a, b] = [bitsAt(LENGTH, [1, 40]), bitsAt(LENGTH, [40, 129])];
    expect(unionOf([a, b], a.length)).toEqual(bitsAt(LENGTH, [1, 40, 129]));
    expect(unionOf([a], a.length)).toBe(a);
    expect(unionOf([], a.length)).toEqual(bitsAt(LENGTH, []));
  });
});
