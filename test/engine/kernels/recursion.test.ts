// Averages that carry numbers from row to row, computed from two rows at once: bit for bit the loop over all rows.
import { describe, expect, it } from 'vitest';
import { computeIndicator } from '../../../src/engine/indicators/compute.ts';
import { findIndicator } from '../../../src/engine/indicators/registry.ts';
import { runRecursion } from '../../../src/engine/kernels/recursion.ts';
import { seededRandom } from '../../support/scale.ts';

const random = seededRandom(31);
let price = 100;
const wander = (): number => (price *= 1 + (random() - 0.5) * 0.02);

/** Each makes the value of a row. In all but the first, the halves do not begin with the same state. */
const VALUES: Record<string, (row: number, count: number) => number> = {
  'prices that wander': wander,
  'prices that stay from some row on': (row, count) => (row < count / 4 ? wander() : 100),
  'nothing after a first price': (row) => (row === 0 ? 100 : 0),
  'zeros below zero, after numbers of either sign that decay to nothing': (row) =>
    row > 200 ? -0 : row > 100 ? -1e-300 : 1e-300,
  'prices that overflow': (row, count) => (row === Math.floor(count / 3) ? 1.7e308 : (row % 7) * 1e307),
  'a price a quadrillion times the others, shortly before the second half': (row, count) =>
    row === Math.floor(count / 2) - 40 ? 1e17 : wander(),
  'a price that no other is beside, before the second half warms up': (row, count) =>
    row === Math.floor(count / 2) - 2000 ? 1e300 : wander(),
};

const COUNTS = [9_001, 20_000, 40_003];
const LENGTHS = [1, 2, 5, 14, 30];

const bits = (values: Float64Array): BigUint64Array => new BigUint64Array(values.buffer);

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

function computed(id: string, length: number, inputs: readonly Float64Array[]): BigUint64Array {
  return bits(computeIndicator(findIndicator(id)!, { length }, inputs)[0]);
}

describe.each(Object.keys(VALUES))('%s', (name) => {
  it.each(COUNTS)('%i rows', (count) => {
    const source = Float64Array.from({ length: count }, (_, row) => VALUES[name](row, count));
    const high = source.map((value) => value + 1);
    const low = source.map((value) => value - random());
    for (const length of LENGTHS) {
      expect(computed('ema', length, [source]), `ema ${length}`).toEqual(
        bits(rowByRow(source, length, 2 / (length + 1))),
      );
      expect(computed('rma', length, [source]), `rma ${length}`).toEqual(bits(rowByRow(source, length, 1 / length)));
      const prices = [high, low, source];
      expect(computed('atr', length, prices), `atr ${length}`).toEqual(bits(rangeRowByRow(prices, length)));
      if (length > 1)
        expect(computed('rsi', length, [source]), `rsi ${length}`).toEqual(bits(strengthRowByRow(source, length)));
    }
  });
});

it('computes a long column from two rows at once, and a short one row by row', () => {
  const calls: string[] = [];
  const recursion = {
    seed: [0],
    weight: 0.5,
    run: (_state: Float64Array, _at: number, from: number, end: number) => void calls.push(`${from} ${end}`),
    runPair: (_state: Float64Array, from: number, end: number, apart: number) =>
      void calls.push(`${from} ${end} +${apart}`),
  };
  runRecursion(recursion, 10, 10 + 2047);
  expect(calls).toEqual(['10 2057']);
  calls.length = 0;
  runRecursion(recursion, 10, 10 + 2049);
  expect(calls).toEqual(['906 1034', '10 1034 +1024', '2058 2059']);
});
