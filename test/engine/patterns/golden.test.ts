// Patterns against TA-Lib on the project's own series and on windows in which each of them fires
// (test/golden/patterns.py).
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { findPattern, PATTERNS } from '../../../src/engine/patterns/patternRegistry.ts';
import type { PriceColumns } from './jagged.ts';

interface Sparse {
  readonly rows: readonly number[];
  readonly values: readonly number[];
}
interface Golden {
  readonly lookbacks: Readonly<Record<string, number>>;
  readonly series: Readonly<Record<string, Readonly<Record<string, Sparse>>>>;
  readonly windows: readonly {
    readonly bars: readonly (readonly number[])[];
    readonly fires: Readonly<Record<string, Sparse>>;
  }[];
}

const read = (path: string): string => gunzipSync(readFileSync(path)).toString('utf8');
const golden = JSON.parse(read('test/golden/patterns.json.gz')) as Golden;

/** What `key` (`CDLNAME`, or `CDLNAME@penetration`) finds: rows and values that are not 0. */
function found(key: string, columns: PriceColumns): Sparse {
  const [name, penetration] = key.split('@');
  const out = new Float64Array(columns[0].length);
  findPattern(name)!.compute(...columns, penetration === undefined ? {} : { penetration: Number(penetration) }, out);
  const rows = [...out.keys()].filter((row) => out[row] !== 0);
  return { rows, values: rows.map((row) => out[row]) };
}

describe('a pattern', () => {
  it('has the lookback of TA-Lib', () => {
    const ours = Object.fromEntries(PATTERNS.map((pattern) => [pattern.talib, pattern.lookback({})]));
    expect(ours).toEqual(golden.lookbacks);
  });

  for (const [series, answers] of Object.entries(golden.series)) {
    it(`occurs on the same bars of ${series} as in TA-Lib, with every penetration`, () => {
      const columns = readSeries(series);
      expect(Object.keys(answers).length).toBe(61 + 14);
      for (const [key, sparse] of Object.entries(answers))
        expect({ key, ...found(key, columns) }).toEqual({ key, ...sparse });
    });
  }

  it('occurs on the same bars as in TA-Lib in windows where each pattern fires twice', () => {
    const fired = new Map<string, number>();
    golden.windows.forEach(({ bars, fires }, index) => {
      const column = (at: number): Float64Array => Float64Array.from(bars, (bar) => bar[at]);
      const columns: PriceColumns = [column(0), column(1), column(2), column(3)];
      for (const { talib } of PATTERNS) {
        const expected = fires[talib] ?? { rows: [], values: [] };
        expect({ index, talib, ...found(talib, columns) }).toEqual({ index, talib, ...expected });
        if (expected.rows.length > 0) fired.set(talib, (fired.get(talib) ?? 0) + 1);
      }
    });
    expect([...fired.values()].every((times) => times >= 2)).toBe(true);
    expect(fired.size).toBe(61);
  });
});

function readSeries(name: string): PriceColumns {
  const rows = read(`data/${name}.csv.gz`)
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => line.split(','));
  const column = (at: number): Float64Array => Float64Array.from(rows, (row) => Number(row[at]));
  return [column(1), column(2), column(3), column(4)];
}
