// The kernels that read columns in place, against loops that say the same: equal bit for bit, whatever the rows hold.
import { describe, expect, it } from 'vitest';
import { findOutliers } from '../../../src/engine/bars/outliers.ts';
import { kernelsUnder } from '../../../src/engine/fast/barScans/kernelScans.ts';
import { kernelScans } from '../../../src/engine/fast/barScans/kernelScans.ts';
import { withoutAccelerators } from '../../../src/engine/fast/index.ts';
import { allocateShared } from '../../../src/engine/kernels/sharedMemory.ts';
import {
  ABOVE,
  BELOW,
  BEST,
  FACTOR,
  OFFSET,
  PEAK,
  rowScans,
  scanState,
  WORST,
} from '../../../src/engine/simulate/rowScan.ts';
import { dataQuality } from '../../../src/engine/report/dataQuality.ts';
import { barsFrom } from '../simulate/input.ts';
import { seededRandom } from '../../support/scale.ts';

const ROWS = 64;
const { buffer } = allocateShared(8 * 8 * ROWS).memory;
const columnAt = (index: number): Float64Array => new Float64Array(buffer, 8 * index * ROWS, ROWS);
const [a, b, c, d, e] = [0, 1, 2, 3, 4].map(columnAt);
const kernels = kernelsUnder(a, b)!;

/** Prices near 100, on a grid so that equal ones are frequent; now and then one that is no price. */
function fill(column: Float64Array, random: () => number, odd: readonly number[]): void {
  for (let row = 0; row < ROWS; row++)
    column[row] = random() < 0.05 ? odd[Math.floor(random() * odd.length)] : 100 + Math.round(random() * 16 - 8) / 4;
}

const ODD = [NaN, 0, Infinity, -Infinity, 100, 5e-324];

function setState(random: () => number, side: 1 | -1): void {
  const level = (): number => side * (100 + Math.round(random() * 16 - 8) / 4);
  scanState[ABOVE] = random() < 0.3 ? Infinity : level() + 1.5;
  scanState[BELOW] = random() < 0.3 ? -Infinity : level() - 1.5;
  scanState[BEST] = random() < 0.1 ? -Infinity : level();
  scanState[WORST] = random() < 0.1 ? Infinity : level();
  scanState[PEAK] = Math.max(scanState[BEST], level());
  scanState[FACTOR] = random() < 0.5 ? 1 : 1 - side * 0.015;
  scanState[OFFSET] = random() < 0.5 ? 0 : random() * 3;
}

describe.each(['passRows', 'trailRows'] as const)('%s', (name) => {
  const [fast, plain] = [kernelScans(a, b)!, withoutAccelerators(() => rowScans(a, b))];

  it.each([
    ['longs', 1],
    ['shorts', -1],
  ] as const)('stops at the row, and at the extremes, of the plain loop for %s', (_, side) => {
    const random = seededRandom(side + 7);
    const passed = new Set<number>();
    for (let trial = 0; trial < 20_000; trial++) {
      if (trial % 50 === 0) for (const column of [a, b]) fill(column, random, ODD);
      const rows = Math.floor(random() * 21);
      const first = Math.floor(random() * (ROWS - rows + 1));
      setState(random, side);
      const before = scanState.slice();
      const [expected, found] = [plain, fast].map((scans) => {
        scanState.set(before);
        const row = scans[name](side, first, first + rows) - first;
        // Which of two zeros is the extreme of both is not said: they are equal wherever they are read.
        return [row, scanState[BEST], scanState[WORST], scanState[PEAK]].map((value) => value + 0);
      });
      expect(found).toEqual(expected);
      passed.add(found[0]);
    }
    expect([...passed].toSorted((x, y) => x - y)).toEqual(Array.from({ length: 21 }, (__, row) => row));
  });
});

describe('countZeros and countEqualPairs', () => {
  it('count what the plain loops count, of every number of rows', () => {
    const random = seededRandom(3);
    let total = 0;
    for (let trial = 0; trial < 2_000; trial++) {
      for (const column of [a, b, c, d]) fill(column, random, [NaN, 0, -0]);
      for (let row = 0; row < ROWS; row++) if (random() < 0.5) [a[row], c[row]] = [b[row], d[row]];
      const rows = Math.floor(random() * 21);
      const first = Math.floor(random() * (ROWS - rows + 1));
      let zeros = 0;
      let pairs = 0;
      for (let row = first; row < first + rows; row++) {
        if (a[row] === 0) zeros++;
        if (a[row] === b[row] && c[row] === d[row]) pairs++;
      }
      const at = (column: Float64Array): number => column.byteOffset + 8 * first;
      expect(kernels.countZeros(at(a), rows)).toBe(zeros);
      expect(kernels.countEqualPairs(at(a), at(b), at(c), at(d), rows)).toBe(pairs);
      total += zeros + pairs;
    }
    expect(total).toBeGreaterThan(2_000);
  });
});

describe('data quality', () => {
  it('is that of the same bars in memory of their own', () => {
    const random = seededRandom(11);
    let outliers = 0;
    for (let trial = 0; trial < 400; trial++) {
      const length = 2 + Math.floor(random() * (ROWS - 2));
      const [open, high, low, close, volume] = [a, b, c, d, e].map((column) => column.subarray(0, length));
      for (let row = 0; row < length; row++) {
        const center = 100 * (random() < 0.04 ? 0.5 + random() : 1);
        [open[row], close[row]] = [center, random() < 0.3 ? center : center + random()];
        const spike = random() < 0.04 ? 1.2 : 1;
        high[row] = Math.max(open[row], close[row]) * spike;
        low[row] = Math.min(open[row], close[row]) / (random() < 0.04 ? 1.2 : 1);
        volume[row] = random() < 0.2 ? 0 : random();
      }
      const time = Float64Array.from({ length }, (_, row) => 3_600_000 * row);
      const shared = { ...barsFrom({ time, open, high, low, close }, '1h'), open, high, low, close, volume };
      const own = {
        ...shared,
        open: open.slice(),
        high: high.slice(),
        low: low.slice(),
        close: close.slice(),
        volume: volume.slice(),
      };
      expect(kernelsUnder(shared.open, shared.high, shared.low, shared.close)).toBe(kernels);
      expect(kernelsUnder(own.open)).toBeNull();
      const start = Math.floor(random() * length);
      expect(dataQuality(shared, null, start, length)).toEqual(dataQuality(own, null, start, length));
      expect(findOutliers(shared)).toEqual(findOutliers(own));
      outliers += findOutliers(own).length;
    }
    expect(outliers).toBeGreaterThan(400);
  });
});

it('gives no kernels over columns of two memories, one of which they could not read', () => {
  const other = new Float64Array(allocateShared(100).memory.buffer, 0, 10);
  expect(kernelsUnder(a, other)).toBeNull();
  expect(kernelsUnder(other, a)).toBeNull();
  expect(kernelsUnder(a, new Float64Array(10))).toBeNull();
});
