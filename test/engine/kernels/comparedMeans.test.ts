// Means that are compared block by block, bit for bit the comparison of their columns.
import { describe, expect, it } from 'vitest';
import { wordCount } from '../../../src/engine/kernels/bits.ts';
import { compareMeans, meansAt } from '../../../src/engine/kernels/comparedMeans.ts';
import { meansOfWindows } from '../../../src/engine/kernels/simd/means.ts';
import { allocateShared } from '../../../src/engine/kernels/simd/sharedMemory.ts';
import { rollingMean } from '../../../src/engine/kernels/rollingSums.ts';
import { scaled, seededRandom } from '../../support/scale.ts';

/** Each makes the next price of the price before it. */
const PRICES: Record<string, (random: () => number, before: number) => number> = {
  'prices that wander': (random, before) => before * (1 + (random() - 0.5) * 0.01),
  'prices that treble within a block, and not within a segment': (random, before) =>
    before * (1.0006 + (random() - 0.5) * 0.002),
  'coarse prices that often stay': (random, before) =>
    Math.max(90, Math.min(110, random() < 0.8 ? before : before + Math.floor(random() * 3) - 1)),
  'prices that stay for dozens of rows': (random, before) =>
    random() < 0.985 ? before : 100 + 90 * Math.sqrt(random()),
  'denormal prices': (random) => (1 + random()) * 1e-310,
};
const LENGTHS = [2, 3, 10, 30, 33, 51, 64];
const COUNTS = [0, 1, 29, 30, 31, 64, 257, 300, 2049, 6001];

function columnOf(name: string, count: number, seed: number): Float64Array {
  const random = seededRandom(seed);
  let price = 100;
  return Float64Array.from({ length: count }, () => (price = PRICES[name](random, price)));
}

function meanOf(source: Float64Array, length: number): Float64Array {
  const out = new Float64Array(source.length).fill(NaN);
  rollingMean(source, 0, length, out);
  return out;
}

function bitsOf(count: number, isTrue: (row: number) => boolean): number[] {
  const words = new Uint32Array(wordCount(count));
  for (let row = 0; row < count; row++) if (isTrue(row)) words[row >>> 5] |= 1 << (row & 31);
  return [...words];
}

/** A copy that begins behind other bytes of a shared memory, as the columns of a market do. */
function sharedCopy(source: Float64Array): Float64Array {
  const copy = new Float64Array(allocateShared(64 + source.byteLength).memory.buffer, 64, source.length);
  copy.set(source);
  return copy;
}

const bytesOf = ({ buffer }: Float64Array): Buffer => Buffer.from(buffer as ArrayBuffer);

const unwritten = (count: number): Uint32Array => new Uint32Array(wordCount(count)).fill(0xdeadbeef);

describe.each(Object.keys(PRICES))('%s', (name) => {
  it.each(COUNTS)('compares the means of %i rows as their columns compare', (count) => {
    const source = columnOf(name, count, count + 1);
    for (const fast of LENGTHS) {
      for (const slow of LENGTHS) {
        const [a, b] = [meanOf(source, fast), meanOf(source, slow)];
        const [greater, less] = [unwritten(count), unwritten(count)];
        const columns = [new Float64Array(count), new Float64Array(count)] as const;
        expect(compareMeans(source, fast, slow, greater, less, columns)).toBe(true);
        expect([...greater], `${fast} above ${slow}`).toEqual(bitsOf(count, (row) => a[row] > b[row]));
        expect([...less], `${fast} below ${slow}`).toEqual(bitsOf(count, (row) => a[row] < b[row]));
        // Where no row has both means, there is nothing to compare.
        if (count < Math.max(fast, slow)) continue;
        expect(columns.map(bytesOf), `means of ${fast} and ${slow}`).toEqual([a, b].map(bytesOf));
      }
    }
  });

  it('reads the mean of a single row as its column has it, also where a kernel reads the column', () => {
    const source = columnOf(name, 3000, 5);
    const shared = sharedCopy(source);
    const random = seededRandom(6);
    const rows = Int32Array.from({ length: scaled(300) + 3 }, () => Math.floor(random() * source.length));
    rows.set([0, 1, source.length - 1]);
    for (const length of LENGTHS) {
      const column = meanOf(source, length);
      for (let count = rows.length - 4; count <= rows.length; count++) {
        const some = rows.subarray(0, count);
        const plain = new Float64Array(count);
        meansAt(source, some, length, plain);
        expect([...plain]).toEqual([...some].map((row) => column[row]));
        const ofKernel = new Float64Array(count);
        expect(meansOfWindows(shared, some, length, ofKernel)).toBe(true);
        meansAt(shared, some, length, ofKernel);
        expect(bytesOf(ofKernel)).toEqual(bytesOf(plain));
      }
    }
  });
});

it('leaves a column to TypeScript that is shorter than a window, or not in shared memory', () => {
  const rows = Int32Array.of(0, 4);
  const short = sharedCopy(new Float64Array(5).fill(100));
  for (const source of [short, new Float64Array(100).fill(100)]) {
    const out = new Float64Array(2).fill(7);
    expect(meansOfWindows(source, rows, 6, out)).toBe(false);
    expect([...out]).toEqual([7, 7]);
    meansAt(source, rows, 6, out);
    expect([...out]).toEqual([NaN, NaN]);
  }
});

const HOSTILE: Record<string, number> = {
  'a price that is more than twice the others': 250,
  'a price of zero': 0,
  'a negative price': -100,
  'a missing price': NaN,
  'an infinite price': Infinity,
};

it.each(Object.entries(HOSTILE))('says that sums may not be exact: %s', (_, price) => {
  for (const row of [...Array.from({ length: 329 }, (_, at) => 7 * at), 255, 256, 1500, 2304]) {
    const source = columnOf('prices that wander', 2305, 9).map((value) => (value * 100) / value);
    source[row] = price;
    expect(compareMeans(source, 10, 30, unwritten(2305), unwritten(2305)), `row ${row}`).toBe(false);
  }
});

it('says that the sum of large prices is not finite', () => {
  const source = new Float64Array(400).fill(1e308);
  expect(compareMeans(source, 10, 30, unwritten(400), unwritten(400))).toBe(false);
});
