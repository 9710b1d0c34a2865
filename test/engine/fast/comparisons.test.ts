// Comparisons of columns: the bits of a loop over the rows.
import { describe, expect, it } from 'vitest';
import { wordCount } from '../../../src/engine/kernels/bits.ts';
import { greaterThan, lessThan } from '../../../src/engine/kernels/compare.ts';
import { seededRandom } from '../../support/scale.ts';
import { bothWays } from './bothWays.ts';

/** Rows that end within a word, with one, and around the ends of the blocks that are compared at a time. */
const COUNTS = [1, 31, 32, 33, 64, 4095, 4096, 4097, 8192, 8227];

function columnOf(rows: number, seed: number): Float64Array {
  const random = seededRandom(seed);
  // Few different values, so that many rows are equal, and some that are missing.
  const value = (): number => (random() < 0.1 ? NaN : Math.floor(random() * 4));
  return Float64Array.from({ length: rows }, value);
}

function bitsOf(rows: number, isTrue: (row: number) => boolean): Uint32Array {
  const words = new Uint32Array(wordCount(rows));
  for (let row = 0; row < rows; row++) if (isTrue(row)) words[row >>> 5] |= 1 << (row & 31);
  return words;
}

bothWays('comparisons', () => {
  describe.each(COUNTS)('of %i rows', (rows) => {
    const a = columnOf(rows, 1);
    const b = columnOf(rows, 2);
    const out = (): Uint32Array => new Uint32Array(wordCount(rows)).fill(0xffffffff);

    it('sets the bits of the rows on which a column is greater or less than another', () => {
      const [greater, less] = [out(), out()];
      greaterThan(a, b, greater);
      lessThan(a, b, less);
      expect(greater).toEqual(bitsOf(rows, (row) => a[row] > b[row]));
      expect(less).toEqual(bitsOf(rows, (row) => a[row] < b[row]));
    });

    it('sets the bits of the rows on which a column is greater or less than a number', () => {
      const [greater, less] = [out(), out()];
      greaterThan(a, 2, greater);
      lessThan(a, 2, less);
      expect(greater).toEqual(bitsOf(rows, (row) => a[row] > 2));
      expect(less).toEqual(bitsOf(rows, (row) => a[row] < 2));
    });
  });
});
