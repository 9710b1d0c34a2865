// Sums over windows against exact rational arithmetic, on data made to break running sums.
import { describe, expect, it } from 'vitest';
import { rollingMax, rollingMin } from '../../../src/engine/kernels/rollingExtremes.ts';
import { rollingMean, rollingSum } from '../../../src/engine/kernels/rollingSums.ts';
import { rollingVariance } from '../../../src/engine/kernels/rollingVariance.ts';
import { scaled, seededRandom } from '../../support/scale.ts';

const LENGTHS = [1, 2, 3, 5, 7, 10, 20, 49, 50, 100, 255];

/** The double as a multiple of 2^-100, which every price here is. */
function exact(value: number): bigint {
  const exponent = value === 0 ? 0 : Math.floor(Math.log2(Math.abs(value)));
  return BigInt(value * 2 ** (52 - exponent)) << BigInt(48 + exponent);
}

function walk(seed: number, rows: number, decimals: number): Float64Array {
  const random = seededRandom(seed);
  let price = 50;
  return Float64Array.from({ length: rows }, () => {
    // A third of the bars do not move: ties are where exactness shows.
    if (random() > 0.33) price = Math.max(1, price + random() - 0.5);
    return Number(price.toFixed(decimals));
  });
}

describe('a rolling mean', () => {
  it('equals the sum of its window, rounded once, over its length, whatever came before', () => {
    for (let seed = 1; seed <= scaled(50); seed++) {
      const source = walk(seed, 600, seed % 2 === 0 ? 2 : 8);
      for (const length of LENGTHS) {
        const out = new Float64Array(source.length).fill(NaN);
        rollingMean(source, 0, length, out);
        for (let row = length - 1; row < source.length; row += 7) {
          let sum = 0n;
          for (let i = row - length + 1; i <= row; i++) sum += exact(source[i]);
          const isFlat = source.subarray(row - length + 1, row + 1).every((value) => value === source[row]);
          const expected = isFlat ? source[row] : (Number(sum) * 2 ** -100) / length;
          expect(out[row], `seed ${seed} length ${length} row ${row}`).toBe(expected);
        }
      }
    }
  });

  it('equals the value that all of its window has, for every length, whatever came before', () => {
    const random = seededRandom(5);
    for (let trial = 0; trial < scaled(400); trial++) {
      const value = random() * 10 ** Math.floor(random() * 12 - 4);
      const length = 1 + Math.floor(random() * 60);
      const source = Float64Array.from({ length: 3 * length + 20 }, (_, row) =>
        row < length ? random() * 1e6 : value,
      );
      const out = new Float64Array(source.length);
      rollingMean(source, 0, length, out);
      for (let row = 2 * length; row < source.length; row++) expect(out[row]).toBe(value);
    }
  });

  it('gives equal numbers for windows of equal mean and different length, so that a tie is not a cross', () => {
    const source = Float64Array.from({ length: 400 }, (_, row) => [23.45, 23.47, 23.43, 23.46, 23.44][row % 5]);
    const [ten, twenty] = [10, 20].map((length) => {
      const out = new Float64Array(source.length);
      rollingMean(source, 0, length, out);
      return out;
    });
    for (let row = 19; row < source.length; row++) expect(ten[row]).toBe(twenty[row]);
  });

  it('begins at `first` and never writes before its first window', () => {
    const out = new Float64Array(10).fill(-1);
    rollingMean(Float64Array.from([9, 9, 1, 2, 3, 4, 5, 6, 7, 8]), 2, 3, out);
    expect([...out]).toEqual([-1, -1, -1, -1, 2, 3, 4, 5, 6, 7]);
  });
});

describe('a rolling sum', () => {
  it('recovers from an outlier a trillion times its neighbors', () => {
    const source = Float64Array.from({ length: 700 }, (_, row) => (row === 100 ? 1e12 : 1e-3 * (1 + (row % 7))));
    const out = new Float64Array(source.length);
    rollingSum(source, 0, 14, out);
    for (let row = 200; row < 700; row++) expect(out[row]).toBeCloseTo(0.056, 12);
  });
});

describe('a rolling variance', () => {
  it('equals the two-pass variance to ten digits, on quiet, loud and spiked series', () => {
    const spiked = walk(3, 900, 4).map((value, row) => (row === 300 ? value * 1000 : value));
    for (const source of [walk(1, 900, 2), walk(2, 900, 8).map((value) => 1e9 + value), spiked]) {
      for (const length of [2, 5, 20, 50]) {
        for (const ddof of [0, 1]) {
          const out = new Float64Array(source.length);
          rollingVariance(source, 0, length, out, ddof);
          for (let row = length - 1; row < source.length; row++) {
            const window = source.subarray(row - length + 1, row + 1);
            const shift = window[0];
            const mean = window.reduce((sum, value) => sum + (value - shift), 0) / length;
            const squares = window.reduce((sum, value) => sum + (value - shift - mean) ** 2, 0);
            const expected = squares / (length - ddof);
            expect(Math.abs(out[row] - expected), `row ${row}`).toBeLessThanOrEqual(1e-9 * Math.max(expected, 1e-12));
          }
        }
      }
    }
  });

  it('is exactly 0 for equal values', () => {
    const source = walk(4, 300, 2).map((value, row) => (row > 100 && row < 200 ? 33.3 : value));
    const out = new Float64Array(300);
    rollingVariance(source, 0, 20, out);
    for (let row = 121; row < 200; row++) expect(out[row]).toBe(0);
  });
});

describe('a rolling extreme', () => {
  it('is that of the window, for lengths around the block size and for shorter series', () => {
    const random = seededRandom(9);
    for (let trial = 0; trial < scaled(300); trial++) {
      const source = Float64Array.from({ length: 1 + Math.floor(random() * 80) }, () => Math.floor(random() * 20));
      const length = 1 + Math.floor(random() * 30);
      const first = Math.floor(random() * 5);
      const [max, min] = [new Float64Array(source.length).fill(-1), new Float64Array(source.length).fill(-1)];
      rollingMax(source, first, length, max);
      rollingMin(source, first, length, min);
      for (let row = 0; row < source.length; row++) {
        const window = source.subarray(row - length + 1, row + 1);
        const isFull = row >= first + length - 1;
        expect(max[row]).toBe(isFull ? Math.max(...window) : -1);
        expect(min[row]).toBe(isFull ? Math.min(...window) : -1);
      }
    }
  });
});
