// Sums, variances and bands of windows, bit for bit what row-by-row loops give, on hostile columns.
import { expect, it } from 'vitest';
import { rollingMean, rollingSum, sumSegment } from '../../../src/engine/kernels/rollingSums.ts';
import { rollingBands, rollingVariance, varianceSegment } from '../../../src/engine/kernels/rollingVariance.ts';
import { newColumn } from '../../../src/engine/kernels/ownedColumns.ts';
import { allocateShared } from '../../../src/engine/kernels/sharedMemory.ts';
import { placeInRange } from '../../../src/engine/kernels/placeInRange.ts';
import { segmentEnd } from '../../../src/engine/kernels/segments.ts';
import { scaled, seededRandom } from '../../support/scale.ts';
import { bothWays } from './bothWays.ts';

/** Each makes the next value of a column of the value before it. */
const COLUMNS: Record<string, (random: () => number, before: number) => number> = {
  'prices that wander': (random, before) => before * (1 + (random() - 0.5) * 0.01),
  'coarse prices that often stay': (random, before) =>
    random() < 0.8 ? before : before + Math.floor(random() * 3) - 1,
  'prices that stay for hundreds of rows': (random, before) => (random() < 0.995 ? before : random() * 100),
  'values within a factor of two, at its ends': (random) =>
    (random() < 0.5 ? 1 : 2) * (random() < 0.1 ? 1 - 2 ** -53 : 1),
  'values of thirty orders of magnitude': (random) => (random() - 0.5) * 10 ** Math.floor(random() * 30 - 15),
  'small values with outliers': (random) => (random() < 0.01 ? 1e12 : 0.001 * random()),
  'zeros of both signs': (random) => [0, -0, 1, -1][Math.floor(random() * 4)],
  'values whose sum overflows': (random) => (random() < 0.01 ? 1e308 : random()),
  'denormal values': (random) => random() * 1e-310,
  'infinities and missing values': (random) => (random() < 0.003 ? Infinity : random() < 0.003 ? NaN : 1 + random()),
};
const COUNTS = [0, 1, 5, 256, 257, 300, 512, 777, 2048, 2300, 5000];
const LENGTHS = [1, 2, 3, 5, 14, 20, 33, 50, 300, 2049];

function column(name: string, count: number, seed: number): Float64Array {
  const random = seededRandom(seed);
  let value = 100;
  return Float64Array.from({ length: count }, () => (value = COLUMNS[name](random, value)));
}

const unwritten = (count: number): Float64Array => new Float64Array(count).fill(-7);

/** What a loop writes to one segment after the other. */
function bySegments(
  count: number,
  first: number,
  length: number,
  loop: (start: number, end: number, out: Float64Array) => void,
): Float64Array {
  const out = unwritten(count);
  for (let row = first + length - 1; row < count; row = segmentEnd(row, length, count))
    loop(row, segmentEnd(row, length, count), out);
  return out;
}

function meanBySegments(source: Float64Array, first: number, length: number): Float64Array {
  const n = source.length;
  const out = bySegments(n, first, length, (start, end, to) => sumSegment(source, start, end, length, length, to));
  let equal = 0;
  for (let row = first; row < n; row++) {
    equal = row > first && source[row] === source[row - 1] ? equal + 1 : 1;
    if (equal >= length || length === 1) out[row] = source[row];
  }
  return out;
}

/** Where kernels write their results in place. */
const unwrittenOwned = (count: number): Float64Array => newColumn(count, 1).fill(-7);

const made = (count: number, make: (out: Float64Array) => void): Float64Array => {
  const out = unwritten(count);
  make(out);
  return out;
};

bothWays('a function over segments of rows', () => {
  for (const name of Object.keys(COLUMNS)) {
    it(`gives the bits of the loop over rows, for ${name}`, () => {
      for (let seed = 1; seed <= scaled(1); seed++)
        for (const count of COUNTS) {
          const source = column(name, count, seed);
          for (const length of LENGTHS)
            for (const first of [0, 7]) {
              const which = { seed, count, length, first };
              const means = meanBySegments(source, first, length);
              const sums = bySegments(count, first, length, (start, end, to) =>
                sumSegment(source, start, end, length, 1, to),
              );
              const variances = bySegments(count, first, length, (start, end, to) =>
                varianceSegment(source, start, end, length, 0, to, 0),
              );
              const ours = {
                means: made(count, (out) => rollingMean(source, first, length, out)),
                sums: made(count, (out) => rollingSum(source, first, length, out)),
                variances: made(count, (out) => rollingVariance(source, first, length, out)),
              };
              expect({ which, ...ours }).toEqual({ which, means, sums, variances });
            }
        }
    });
  }

  it('writes the same bits in place, and nothing behind the last row', () => {
    for (const name of Object.keys(COLUMNS))
      for (const [count, length, first] of [
        [9000, 20, 0],
        [9000, 3, 7],
        [12_300, 50, 0],
        [12_300, 300, 5],
      ]) {
        const source = column(name, count, 4);
        const where = (): Float64Array => unwrittenOwned(count + 8).subarray(0, count);
        const [means, sums, variances] = [where(), where(), where()];
        rollingMean(source, first, length, means);
        rollingSum(source, first, length, sums);
        rollingVariance(source, first, length, variances, 1);
        const which = { name, count, length, first };
        expect({ which, means }).toEqual({ which, means: meanBySegments(source, first, length) });
        expect({ which, sums }).toEqual({
          which,
          sums: bySegments(count, first, length, (start, end, to) => sumSegment(source, start, end, length, 1, to)),
        });
        expect({ which, variances }).toEqual({
          which,
          variances: bySegments(count, first, length, (start, end, to) =>
            varianceSegment(source, start, end, length, 1, to, 0),
          ),
        });
        for (const out of [means, sums, variances])
          expect([...new Float64Array(out.buffer, out.byteOffset + out.byteLength, 8)]).toEqual(Array(8).fill(-7));
      }
  });

  it.each([
    ['in the memory of the kernels', unwritten],
    ['in place', unwrittenOwned],
  ])('draws bands around the mean from both at once, %s', (_, out) => {
    for (const name of Object.keys(COLUMNS))
      for (const count of [19, 300, 2300, 9000]) {
        const source = column(name, count, 3);
        const [upper, middle, lower] = [out(count), out(count), out(count)];
        rollingBands(source, 0, 20, 1, 2, 3, upper, middle, lower);
        const means = meanBySegments(source, 0, 20);
        const variances = bySegments(count, 0, 20, (start, end, to) =>
          varianceSegment(source, start, end, 20, 1, to, 0),
        );
        const band = (deviations: number): Float64Array =>
          means.map((mean, row) => (row < 19 ? -7 : mean + Math.sqrt(variances[row]) * deviations));
        expect({ name, upper, middle, lower }).toEqual({ name, upper: band(2), middle: means, lower: band(-3) });
      }
  });
});

bothWays('a place in a range', () => {
  it('places a close in the range of a window, 0 where the range is only rounding', () => {
    const random = seededRandom(8);
    for (const count of [13, 14, 2100, 5000])
      for (const length of [1, 3, 14, 70]) {
        const close = column('coarse prices that often stay', count, count);
        // A tenth of the rows have a range that rounding alone could make.
        const away = (): number => (random() < 0.1 ? 1e-13 : random() < 0.1 ? 0 : random());
        const high = close.map((price) => price + away());
        const low = close.map((price) => price - away());
        const expected = unwritten(count);
        for (let row = 2 + length - 1; row < count; row++) {
          const [top, bottom] = [
            Math.max(...high.subarray(row - length + 1, row + 1)),
            Math.min(...low.subarray(row - length + 1, row + 1)),
          ];
          const isOnlyRounding = top - bottom <= 1e-14 * (Math.abs(top) + Math.abs(bottom));
          expected[row] = isOnlyRounding ? 0 : (close[row] - bottom) / ((top - bottom) / 100);
        }
        const { memory } = allocateShared(8 * count);
        const shared = new Float64Array(memory.buffer, 0, count);
        shared.set(close);
        for (const source of [close, shared])
          for (const place of [unwritten(count + 1), newColumn(count + 1, 1).fill(-7)]) {
            const out = place.subarray(0, count);
            placeInRange(high, low, source, 2, length, 1e-14, out);
            expect(out).toEqual(expected);
            expect(place[count]).toBe(-7);
          }
      }
  });
});
