// The 61 candlestick patterns against TA-Lib's own values: whole series, and windows in which every one of them fires.
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { findPattern, PATTERNS, type PatternDefinition } from '../../src/engine/patterns/patternRegistry.ts';
import { readOracle, sharedPath } from './shared.ts';

interface Sparse {
  readonly params: Readonly<Record<string, number>>;
  readonly lookback: number;
  readonly idx: readonly number[];
  readonly val: readonly number[];
}
interface Oracle {
  readonly series: Readonly<
    Record<string, { readonly rows: number; readonly patterns: Readonly<Record<string, Sparse>> }>
  >;
}
interface Synthetic {
  readonly windows: readonly {
    readonly bars: readonly (readonly number[])[];
    readonly fires: Readonly<Record<string, Readonly<Record<string, number>>>>;
  }[];
}
type Columns = readonly [Float64Array, Float64Array, Float64Array, Float64Array];

const values = (pattern: PatternDefinition, columns: Columns, penetration?: number): Float64Array => {
  const out = new Float64Array(columns[0].length).fill(NaN);
  pattern.compute(...columns, penetration === undefined ? {} : { penetration }, out);
  return out;
};

describe('the engine, compared with TA-Lib’s patterns on whole series,', () => {
  for (const [name, series] of Object.entries(readOracle<Oracle>('talib-cdl').series)) {
    const columns = readColumns(name);
    it(`reads ${series.rows} bars of ${name}`, () => expect(columns[0].length).toBe(series.rows));

    for (const [key, sparse] of Object.entries(series.patterns)) {
      it(`finds ${key} on the same bars of ${name}, with the same lookback`, () => {
        const pattern = findPattern(key.split('@')[0])!;
        expect(pattern.lookback({})).toBe(sparse.lookback);
        const ours = values(pattern, columns, sparse.params.penetration);
        const expected = new Float64Array(series.rows).fill(NaN, 0, sparse.lookback);
        sparse.idx.forEach((row, at) => (expected[row] = sparse.val[at]));
        const wrong = [...ours.keys()].filter((row) => !Object.is(ours[row] + 0, expected[row]));
        expect(wrong).toEqual([]);
      });
    }
  }
});

describe('the engine, compared with TA-Lib’s patterns on synthetic windows,', () => {
  const { windows } = readOracle<Synthetic>('talib-cdl-synthetic');

  for (const pattern of PATTERNS) {
    it(`finds ${pattern.talib} in ${windows.length} windows on the same bars`, () => {
      let fired = 0;
      windows.forEach(({ bars, fires }, index) => {
        const column = (at: number) => Float64Array.from(bars, (bar) => bar[at]);
        const ours = values(pattern, [column(0), column(1), column(2), column(3)]);
        const expected = fires[pattern.talib] ?? {};
        const found: Record<string, number> = {};
        ours.forEach((value, row) => {
          if (value !== 0 && !Number.isNaN(value)) found[row] = value;
        });
        expect(found, `window ${index}`).toEqual(expected);
        fired += Object.keys(found).length;
      });
      expect(fired).toBeGreaterThan(0);
    });
  }
});

function readColumns(name: string): Columns {
  const lines = gunzipSync(readFileSync(sharedPath('data', `${name}.csv.gz`)))
    .toString('utf8')
    .trim()
    .split('\n')
    .slice(1);
  const rows = lines.map((line) => line.split(',').map(Number));
  const column = (at: number) => Float64Array.from(rows, (row) => row[at]);
  return [column(1), column(2), column(3), column(4)];
}
