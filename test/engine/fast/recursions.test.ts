// Averages that carry numbers from row to row, four parts of a column at once: bit for bit the loop over all rows.
import { describe, expect, it } from 'vitest';
import { findIndicator } from '../../../src/engine/indicators/registry.ts';
import { recursionInParts } from '../../../src/engine/fast/recursions/parts.ts';
import type { Recursion } from '../../../src/engine/kernels/recursion.ts';
import { newColumn } from '../../../src/engine/kernels/ownedColumns.ts';
import { allocateShared } from '../../../src/engine/kernels/sharedMemory.ts';
import { seededRandom } from '../../support/scale.ts';
import { bothWays } from './bothWays.ts';

const random = seededRandom(31);
let price = 100;
const wander = (): number => (price *= 1 + (random() - 0.5) * 0.02);

/** Each makes the value of a row. In all but the first, a part begins with another state than the last one reached. */
const VALUES: Record<string, (row: number, count: number) => number> = {
  'prices that wander': wander,
  'prices that stay from some row on': (row, count) => (row < count / 4 ? wander() : 100),
  'nothing after a first price': (row) => (row === 0 ? 100 : 0),
  'zeros below zero, after numbers of either sign that decay to nothing': (row) =>
    row > 200 ? -0 : row > 100 ? -1e-300 : 1e-300,
  'prices that overflow': (row, count) => (row === Math.floor(count / 3) ? 1.7e308 : (row % 7) * 1e307),
  'a price a quadrillion times the others, shortly before the third part': (row, count) =>
    row === Math.floor(count / 2) - 40 ? 1e17 : wander(),
  'a price that no other is beside, before the third part warms up': (row, count) =>
    row === Math.floor(count / 2) - 2000 ? 1e300 : wander(),
};

const COUNTS = [9_001, 20_000, 40_003];
const LENGTHS = [1, 2, 5, 14, 30];

const bits = ({ buffer, byteOffset, byteLength }: Float64Array): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength);

function rowByRow(source: Float64Array, length: number, weight: number): Float64Array {
  const out = new Float64Array(source.length).fill(NaN);
  let average = 0;
  for (let row = 0; row < length; row++) average += source[row];
  average /= length;
  out[length - 1] = average;
  for (let row = length; row < source.length; row++) out[row] = average = weight * source[row] + (1 - weight) * average;
  return out;
}

function strengthRowByRow(source: Float64Array, length: number): Float64Array {
  const out = new Float64Array(source.length).fill(NaN);
  const share = 1 / length;
  let gain = 0;
  let size = 0;
  for (let row = 1; row < source.length; row++) {
    const change = source[row] - source[row - 1];
    const distance = Math.abs(change);
    if (row <= length) {
      gain += change > 0 ? change : 0;
      size += distance;
      if (row < length) continue;
      gain *= share;
      size *= share;
    } else {
      gain = (1 - share) * gain + 0.5 * share * (distance + change);
      size = (1 - share) * size + share * distance;
    }
    out[row] = size > 0 ? 100 * (gain / size) : 0;
  }
  return out;
}

function rangeRowByRow([high, low, close]: readonly Float64Array[], length: number): Float64Array {
  const out = new Float64Array(high.length).fill(NaN);
  const share = 1 / length;
  let average = 0;
  for (let row = 1; row < high.length; row++) {
    const range = Math.max(high[row], close[row - 1]) - Math.min(low[row], close[row - 1]);
    if (row <= length) average += range;
    if (row === length) average *= share;
    if (row > length) average = (1 - share) * average + share * range;
    if (row >= length) out[row] = average;
  }
  return out;
}

type Place = (columns: readonly Float64Array[]) => readonly Float64Array[];

const inShared: Place = (columns) => {
  const { buffer } = allocateShared(columns.length * columns[0].byteLength).memory;
  return columns.map((column, index) => {
    const view = new Float64Array(buffer, index * column.byteLength, column.length);
    view.set(column);
    return view;
  });
};
const inOwned: Place = (columns) =>
  columns.map((column) => {
    const owned = newColumn(column.length, 1);
    owned.set(column);
    return owned;
  });
const anywhere: Place = (columns) => columns;

/** Where columns lie, and the least rows of a result that lies in a memory of its own. */
const PLACES: readonly (readonly [name: string, place: Place, leastRows: number])[] = [
  ['in shared memory, results in their own', inShared, 1],
  ['in shared memory, results anywhere', inShared, Infinity],
  ['each in its own memory', inOwned, 1],
  ['in its own memory, results anywhere', inOwned, Infinity],
  ['anywhere, results in their own memory', anywhere, 1],
  ['anywhere', anywhere, Infinity],
];

bothWays('a recursion', () => {
  describe.each(Object.keys(VALUES))('over %s', (name) => {
    it.each(COUNTS)('computes %i rows as row by row, wherever columns lie', (count) => {
      const source = Float64Array.from({ length: count }, (_, row) => VALUES[name](row, count));
      const prices = [source.map((value) => value + 1), source.map((value) => value - random()), source];
      for (const [placeName, place, leastRows] of PLACES) {
        const columns = place(prices);
        const computed = (id: string, length: number, inputs: readonly Float64Array[]): Uint8Array => {
          const out = newColumn(count, leastRows).fill(NaN);
          findIndicator(id)!.compute(inputs, { length }, [out]);
          return bits(out);
        };
        const expectBits = (
          id: string,
          length: number,
          inputs: readonly Float64Array[],
          expected: Float64Array,
        ): void =>
          expect(Buffer.compare(computed(id, length, inputs), bits(expected)), `${id} ${length} ${placeName}`).toBe(0);
        for (const length of LENGTHS) {
          expectBits('ema', length, [columns[2]], rowByRow(source, length, 2 / (length + 1)));
          expectBits('rma', length, [columns[2]], rowByRow(source, length, 1 / length));
          expectBits('atr', length, columns, rangeRowByRow(prices, length));
          if (length > 1) expectBits('rsi', length, [columns[2]], strengthRowByRow(source, length));
        }
      }
    });
  });
});

it('computes a long column in four parts, and leaves a short one', () => {
  const calls: string[] = [];
  const recursionOf = (rows: number): Recursion => ({
    seed: [0],
    weight: 0.5,
    run: (_state, _at, from, end) => void calls.push(`${from} ${end}`),
    known: { name: 'average', columns: [new Float64Array(rows)], out: new Float64Array(rows) },
  });
  // A warm-up takes 128 rows, and a part has at least four times as many.
  expect(recursionInParts(recursionOf(10 + 2047), 10, 10 + 2047)).toBeNull();
  expect(calls).toEqual([]);
  expect(recursionInParts(recursionOf(10 + 2049), 10, 10 + 2049)).toBe(true);
  expect(calls).toEqual(['394 522', '906 1034', '1418 1546', '2058 2059']);
});
