// Kernels whose windows may be long: the same values as a scan of every window, in a number of steps that does not grow
// with the window.
import { describe, expect, it } from 'vitest';
import { percentile, percentileRank } from '../../../src/engine/indicators/ranks.ts';
import { pivot } from '../../../src/engine/kernels/history.ts';
import { rollingMaxIndex, rollingMinIndex } from '../../../src/engine/kernels/rollingExtremes.ts';
import { rollingQuantile } from '../../../src/engine/kernels/rollingRanks.ts';
import { rollingVariance } from '../../../src/engine/kernels/rollingVariance.ts';
import { seededRandom } from '../../support/scale.ts';

const ROWS = 1_500;
const LENGTHS = [2, 31, 32, 33, 64, 255, 256, 257, 700, 1_499, 1_500, 1_501];

const random = seededRandom(7);
const SHAPES: Readonly<Record<string, Float64Array>> = {
  rising: Float64Array.from({ length: ROWS }, (_, row) => row),
  falling: Float64Array.from({ length: ROWS }, (_, row) => -row),
  flat: new Float64Array(ROWS).fill(0.1),
  'few values': Float64Array.from({ length: ROWS }, () => Math.floor(random() * 5) - 2),
  random: Float64Array.from({ length: ROWS }, () => random() - 0.5),
};
const CASES = Object.entries(SHAPES).flatMap(([shape, source]) =>
  LENGTHS.map((length) => [shape, length, source] as const),
);

const filled = (compute: (out: Float64Array) => void): Float64Array => {
  const out = new Float64Array(ROWS).fill(NaN);
  compute(out);
  return out;
};
/** `read` of the window that ends at each row. */
const scan = (source: Float64Array, length: number, read: (window: Float64Array, row: number) => number) =>
  Float64Array.from(source, (_, row) =>
    row < length - 1 ? NaN : read(source.subarray(row - length + 1, row + 1), row),
  );

/** Rows of the extreme as TA-Lib finds them: by a new scan only when the last extreme has left the window. */
function extremeRows(source: Float64Array, length: number, sign: 1 | -1, isLatest: boolean): Float64Array {
  let best = -1;
  return scan(source, length, (window, row) => {
    const oldest = row - length + 1;
    if (best >= oldest) {
      if (sign * source[row] >= sign * source[best]) best = row;
      return best;
    }
    const extreme = window.reduce((most, value) => (sign * value > sign * most ? value : most));
    best = oldest + (isLatest ? window.lastIndexOf(extreme) : window.indexOf(extreme));
    return best;
  });
}

describe.each(CASES)('on %s prices, a window of %i rows', (_shape, length, source) => {
  it('has its extremes on the rows that a scan finds', () => {
    for (const isLatest of [true, false]) {
      expect(filled((out) => rollingMaxIndex(source, 0, length, out, isLatest))).toEqual(
        extremeRows(source, length, 1, isLatest),
      );
      expect(filled((out) => rollingMinIndex(source, 0, length, out, isLatest))).toEqual(
        extremeRows(source, length, -1, isLatest),
      );
    }
  });

  it('has the quantiles and percentiles of its sorted values', () => {
    const sorted = (window: Float64Array) => window.slice().sort();
    const at = 0.3 * (length - 1);
    const below = Math.floor(at);
    const above = Math.min(below + 1, length - 1);
    expect(filled((out) => rollingQuantile(source, length, 0.3, out))).toEqual(
      scan(source, length, (window) => {
        const values = sorted(window);
        return values[below] + (values[above] - values[below]) * (at - below);
      }),
    );
    const rank = Math.max(1, Math.ceil(0.3 * length));
    if (length <= ROWS)
      expect(filled((out) => percentile.compute([source], { length, percentile: 30 }, [out]))).toEqual(
        scan(source, length, (window) => sorted(window)[rank - 1]),
      );
  });

  it('ranks the value after it among its values', () => {
    const expected = scan(source, length + 1, (window) => {
      const value = window[length];
      return (window.subarray(0, length).reduce((count, one) => count + +(one < value), 0) / length) * 100;
    });
    expect(filled((out) => percentileRank.compute([source], { length }, [out]))).toEqual(expected);
  });
});

describe('the variance of a window', () => {
  it('is, over flat stretches and after them, what it is without the prices before', () => {
    const source = Float64Array.from({ length: ROWS }, (_, row) => (row % 400 < 250 ? 0.1 : 0.1 + random()));
    const length = 64;
    const out = filled((column) => rollingVariance(source, 0, length, column));
    for (let row = length - 1; row < ROWS; row++) {
      const window = source.subarray(row - length + 1, row + 1);
      const mean = window.reduce((sum, value) => sum + value, 0) / length;
      const expected = window.reduce((sum, value) => sum + (value - mean) ** 2, 0) / length;
      if (window.every((value) => value === window[0])) expect(out[row]).toBe(0);
      else expect(Math.abs(out[row] - expected)).toBeLessThan(1e-9 * expected);
    }
  });
});

describe('a pivot', () => {
  const isPivot = (prices: Float64Array, sign: number, at: number, left: number, right: number): boolean => {
    const price = sign * prices[at];
    const before = prices.subarray(at - left, at);
    const after = prices.subarray(at + 1, at + right + 1);
    return before.every((other) => price > sign * other) && after.every((other) => price >= sign * other);
  };
  const holed = SHAPES['few values'].map((price, row) => (row % 97 === 0 ? NaN : price));

  it.each([...Object.entries(SHAPES), ['holed', holed] as const])(
    'is where a scan finds it, on %s prices',
    (_, prices) => {
      for (const [left, right] of [
        [1, 1],
        [2, 5],
        [1, 400],
        [400, 1],
        [300, 300],
      ])
        for (const kind of ['high', 'low'] as const)
          for (const occurrence of [0, 2]) {
            const found: number[] = [];
            const expected = Float64Array.from(prices, (_price, row) => {
              const at = row - right;
              if (at >= left && isPivot(prices, kind === 'high' ? 1 : -1, at, left, right)) found.push(prices[at]);
              return found.at(-1 - occurrence) ?? NaN;
            });
            expect(filled((out) => pivot(prices, kind, left, right, occurrence, out))).toEqual(expected);
          }
    },
  );
});

/** A source that counts how often it is read. */
function counted(source: Float64Array): { source: Float64Array; reads: () => number } {
  let reads = 0;
  const proxy = new Proxy(source, {
    get(target, key) {
      if (typeof key === 'string' && /^\d+$/.test(key)) reads++;
      const value = Reflect.get(target, key, target) as unknown;
      return typeof value === 'function' ? (value as (...args: unknown[]) => unknown).bind(target) : value;
    },
  });
  return { source: proxy, reads: () => reads };
}

describe('a long window', () => {
  const LENGTH = 700;
  const kernels: Readonly<Record<string, (source: Float64Array, out: Float64Array) => void>> = {
    'the row of its highest value': (source, out) => rollingMaxIndex(source, 0, LENGTH, out),
    'the row of its lowest value': (source, out) => rollingMinIndex(source, 0, LENGTH, out, false),
    'its variance': (source, out) => rollingVariance(source, 0, LENGTH, out),
    'its percentile rank': (source, out) => percentileRank.compute([source], { length: LENGTH }, [out]),
    'its median': (source, out) => rollingQuantile(source, LENGTH, 0.5, out),
    'a pivot high': (source, out) => pivot(source, 'high', 1, LENGTH, 0, out),
    'a pivot low': (source, out) => pivot(source, 'low', 1, LENGTH, 0, out),
  };
  it.each(Object.keys(kernels))('is not read again for each row: %s', (name) => {
    for (const shape of ['rising', 'falling', 'flat', 'random']) {
      const { source, reads } = counted(SHAPES[shape]);
      kernels[name](source, new Float64Array(ROWS));
      expect(reads(), shape).toBeLessThan(20 * ROWS);
    }
  });
});
