// The bytes of a detail: what is stored as numbers reads as the JSON it stands for.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { detailBytes } from '../../../src/engine/pool/detailBytes.ts';
import { decodeDetail, encodeDetail } from '../../../src/engine/pool/detail.ts';
import { monthName, monthRows } from '../../../src/engine/report/months.ts';
import type { ResultSeries } from '../../../src/engine/report/writtenResult.ts';
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
    marks: fc.constant(marks),
    months: ascending(months.length, 0, 12 * 9_999),
    monthEquity: fc.constant(Float64Array.from(months)),
  }),
);

const detailWith = (initialBalance: number, byMonth: unknown, equityPreview: unknown) => ({
  summary: { bySide: { long: 1 }, byMonth, fees: { total: 2 }, equityPreview, strategyTrace: {} },
  warnings: [],
  resolvedConfig: { initialBalance },
  reproducibility: {},
});

it('reads the lists back in their places, as JSON would', () => {
  fc.assert(
    fc.property(series, fc.integer({ min: 1, max: 1e6 }), (lists, balance) => {
      const { times, marks, months, monthEquity } = lists;
      const rows = monthRows(Array.from(months, monthName), monthEquity, balance);
      const points = marks.map((mark, point) => [times[point], mark]);
      const json = Buffer.from(JSON.stringify(detailWith(balance, [], [])));
      const bytes = detailBytes(json, lists, (value) => zstdCompressSync(value));
      expect(JSON.stringify(decodeDetail(bytes))).toBe(JSON.stringify(detailWith(balance, rows, points)));
    }),
  );
});

it('reads a detail of an earlier version, which is JSON throughout', () => {
  const detail = detailWith(100, [{ month: '2020-01', returnPct: 0, equity: 100 }], [[1, 100]]);
  expect(decodeDetail(encodeDetail(detail as never))).toEqual(detail);
});

it('takes bytes that lie anywhere in a buffer', () => {
  const lists = {
    times: Float64Array.of(1, 2),
    marks: [5, 5],
    months: Float64Array.of(24_000),
    monthEquity: Float64Array.of(5),
  };
  const json = Buffer.from(JSON.stringify(detailWith(5, [], [])));
  const bytes = detailBytes(json, lists, (value) => zstdCompressSync(value));
  const shifted = new Uint8Array(bytes.length + 3);
  shifted.set(bytes, 3);
  expect(decodeDetail(shifted.subarray(3)).summary).toMatchObject({
    byMonth: [{ month: '2000-01', returnPct: 0, equity: 5 }],
    equityPreview: [
      [1, 5],
      [2, 5],
    ],
  });
});
