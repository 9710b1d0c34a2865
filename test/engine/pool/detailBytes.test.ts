// The bytes of a detail: what is stored as numbers reads as the JSON it stands for.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { detailParts } from '../../../src/engine/pool/detailBytes.ts';
import { decodeDetail } from '../../../src/engine/pool/result.ts';
import { monthRows } from '../../../src/engine/report/months.ts';
import type { ResultSeries } from '../../../src/engine/report/summary.ts';
import type { Reproducibility } from '../../../src/engine/task.ts';
import { jsonDetail } from '../../support/jsonResults.ts';
import { zstdCompressSync } from 'node:zlib';

/** Accounts rest, and a run can end in numbers that JSON does not have. */
const money = fc.oneof(fc.constantFrom(10_000, 0, -0, NaN, Infinity, -Infinity), fc.double());
const restless = fc.array(fc.tuple(money, fc.integer({ min: 1, max: 5 })), { maxLength: 60 });
const repeated = restless.map((stretches) => stretches.flatMap(([value, times]) => Array<number>(times).fill(value)));
const ascending = (length: number, min: number, max: number) =>
  fc
    .uniqueArray(fc.integer({ min, max }), { minLength: length, maxLength: length })
    .map((values) => Float64Array.from(values).sort());
const series: fc.Arbitrary<ResultSeries> = fc.tuple(repeated, repeated).chain(([marks, months]) =>
  fc.record({
    times: ascending(marks.length, -2_000_000_000_000, 4_000_000_000_000),
    marks: fc.constant(Float64Array.from(marks)),
    months: ascending(months.length, 0, 12 * 9_999),
    monthEquity: fc.constant(Float64Array.from(months)),
  }),
);

const HASHES: Reproducibility = {
  engineVersion: '1.4.0',
  strategyHash: 'a1'.repeat(32),
  dataHash: '00'.repeat(32),
  configHash: '3e'.repeat(32),
  runKey: 'ff'.repeat(32),
  resultHash: `${'0'.repeat(63)}1`,
};

const detailWith = (
  initialBalance: number,
  byMonth: unknown,
  equityPreview: unknown,
  reproducibility: object = HASHES,
) => ({
  summary: { bySide: { long: 1.5e-7 }, byMonth, fees: { total: -2.25 }, equityPreview, 'a 1 金': { '2': [-0.5] } },
  warnings: [{ code: 'A', message: '12 of 5' }],
  resolvedConfig: { initialBalance },
  reproducibility,
});

function bytesOf(lists: ResultSeries, balance: number, reproducibility = HASHES): Uint8Array {
  const { summary, warnings, resolvedConfig } = detailWith(balance, [], []);
  const text = JSON.stringify(summary);
  const detail = {
    warnings,
    configJson: JSON.stringify(resolvedConfig),
    reproducibility,
    series: lists,
    summaryJson: [text.slice(0, 9), Buffer.from(text.slice(9))],
  };
  return Buffer.concat(detailParts(detail, 'an owner', (value) => zstdCompressSync(value)));
}

const LISTS = {
  times: Float64Array.of(1, 2, 4),
  marks: Float64Array.of(100, 100, NaN),
  months: Float64Array.of(24_000, 24_001),
  monthEquity: Float64Array.of(100, 150),
};
const MONTHS = [
  { month: '2000-01', returnPct: 0, equity: 100 },
  { month: '2000-02', returnPct: 0.5, equity: 150 },
];
const POINTS = [
  [1, 100],
  [2, 100],
  [4, null],
];

it('reads the lists back in their places, as JSON would', () => {
  fc.assert(
    fc.property(series, fc.integer({ min: 1, max: 1e6 }), (lists, balance) => {
      const { times, marks, months, monthEquity } = lists;
      const rows = monthRows(months, monthEquity, balance);
      const points = Array.from(marks, (mark, point) => [times[point], mark]);
      const bytes = bytesOf(lists, balance);
      expect(JSON.stringify(decodeDetail(bytes))).toBe(JSON.stringify(detailWith(balance, rows, points)));
    }),
  );
});

it.each([
  ['', 'no hash'],
  ['A1'.repeat(32), 'a hash in capitals'],
  [`${'a1'.repeat(32)}0`, 'a longer text'],
])('reads %j back, which is %s', (runKey) => {
  const reproducibility = { ...HASHES, runKey };
  expect(decodeDetail(bytesOf(LISTS, 100, reproducibility)).reproducibility).toEqual(reproducibility);
});

it('reads back the hashes of one detail after the other, whichever of them stay the same', () => {
  const hash = (digit: string): string => digit.repeat(64);
  const first = { ...HASHES, configHash: hash('a'), runKey: hash('b') };
  const other = { ...first, configHash: `${'d'.repeat(40)}none${'e'.repeat(20)}`, runKey: hash('f') };
  for (const reproducibility of [first, { ...first, runKey: hash('c') }, other, other, first, HASHES])
    expect(decodeDetail(bytesOf(LISTS, 100, reproducibility)).reproducibility).toEqual(reproducibility);
});

describe('a detail of an earlier version', () => {
  it('is JSON throughout', () => {
    const detail = detailWith(100, MONTHS, POINTS);
    expect(decodeDetail(jsonDetail(detail))).toEqual(detail);
  });

  it('has its numbers in its text', () => {
    const stored =
      'REVUQUlMMDKnAAAAGgAAABkAAAADAAAAAgAAACi1L/0gx/UEALJKIh9gSasD1ArQSkqMdGcx8vJfC5HrZ+Nz6an3ITYUBFFcMf4wUP58aTnQ' +
      'yjXl16sWLeISxgrKN7EojJUqA1Ru79rD87TKYgKJIhRryi2tXZyJmxjhuSLJBy9pJ3dL6CKUC16vW9CbCGA4zlU266aq3CQgnC+9GMFDN9E4' +
      'T4spTdbgocPzx3k4uHYYBgCZCiZWwVHUcC41Y6ECb1DsKLUv/SAYjQAAOAAA8D8AAEADACsEwA0LYAEotS/9IBCBAAAAAAAAAHDXQAAAAAAA' +
      'APA/BQAAAAAAAFlAAAAAAAAA+H8DAAAAAAAAWUAAAAAAAMBiQA==';
    expect(decodeDetail(Buffer.from(stored, 'base64'))).toEqual({
      summary: { bySide: { long: 1 }, byMonth: MONTHS, fees: { total: 2.5 }, equityPreview: POINTS, strategyTrace: {} },
      warnings: [],
      resolvedConfig: { initialBalance: 100 },
      reproducibility: { resultHash: 'ab12' },
    });
  });
});

it('writes the same bytes whatever was written before', () => {
  const bytes = bytesOf(LISTS, 100);
  const { length } = bytesOf({ ...LISTS, marks: Float64Array.from({ length: 9_000 }, (_, point) => point) }, 12_345);
  expect(length).toBeGreaterThan(72_000);
  expect(bytesOf(LISTS, 100)).toEqual(bytes);
});

it('takes bytes that lie anywhere in a buffer', () => {
  const bytes = bytesOf(LISTS, 100);
  const shifted = new Uint8Array(bytes.length + 3);
  shifted.set(bytes, 3);
  expect(decodeDetail(shifted.subarray(3))).toEqual(detailWith(100, MONTHS, POINTS));
});

it('says that bytes are damaged, wherever they end', () => {
  const bytes = bytesOf(LISTS, 100);
  for (let length = 8; length < bytes.length; length++)
    expect(() => decodeDetail(bytes.subarray(0, length))).toThrow('The stored bytes of a detail are damaged.');
});

it('reads any byte changed as a detail or as damaged, and ends', () => {
  const bytes = bytesOf(LISTS, 100);
  for (let at = 8; at < bytes.length; at++) {
    const changed = Uint8Array.from(bytes);
    changed[at] ^= 0x80;
    try {
      expect(decodeDetail(changed)).toHaveProperty('summary');
    } catch (error) {
      expect((error as Error).message).toBe('The stored bytes of a detail are damaged.');
    }
  }
});
