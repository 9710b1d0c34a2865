// TA-Lib's answers for candlestick patterns (test/golden/patterns.py), and on how many bars ours differ from them.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { findPattern, type PatternDefinition } from '../../src/engine/patterns/patternRegistry.ts';
import type { PriceColumns } from '../engine/patterns/jagged.ts';

export interface SparseValues {
  readonly rows: readonly number[];
  readonly values: readonly number[];
}
interface Golden {
  readonly lookbacks: Readonly<Record<string, number>>;
  readonly series: Readonly<Record<string, Readonly<Record<string, SparseValues>>>>;
  readonly windows: readonly {
    readonly bars: readonly (readonly number[])[];
    readonly fires: Readonly<Record<string, SparseValues>>;
  }[];
}

const ROOT = join(import.meta.dirname, '..', '..');
const read = (...path: string[]): string => gunzipSync(readFileSync(join(ROOT, ...path))).toString('utf8');
export const patternGolden = JSON.parse(read('test', 'golden', 'patterns.json.gz')) as Golden;

/** What `key` (`CDLNAME`, or `CDLNAME@penetration`) finds: rows and values that are not 0. */
export function foundBy(key: string, columns: PriceColumns): SparseValues {
  const [name, penetration] = key.split('@');
  const out = new Float64Array(columns[0].length);
  findPattern(name)!.compute(...columns, penetration === undefined ? {} : { penetration: Number(penetration) }, out);
  const rows = [...out.keys()].filter((row) => out[row] !== 0);
  return { rows, values: rows.map((row) => out[row]) };
}

export function readPrices(name: string): PriceColumns {
  const rows = read('data', `${name}.csv.gz`)
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => line.split(','));
  const column = (at: number): Float64Array => Float64Array.from(rows, (row) => Number(row[at]));
  return [column(1), column(2), column(3), column(4)];
}

let series: ReadonlyMap<string, PriceColumns> | undefined;

/** On how many bars of the golden series, at every golden penetration, the pattern's value is not TA-Lib's. */
export function patternDifference({ talib }: PatternDefinition): number {
  series ??= new Map(Object.keys(patternGolden.series).map((name) => [name, readPrices(name)]));
  let differing = 0;
  for (const [name, columns] of series) {
    for (const [key, expected] of Object.entries(patternGolden.series[name])) {
      if (key.split('@')[0] !== talib) continue;
      const ours = foundBy(key, columns);
      const values = new Map(ours.rows.map((row, at) => [row, ours.values[at]]));
      expected.rows.forEach((row, at) => {
        if (values.get(row) !== expected.values[at]) differing++;
        values.delete(row);
      });
      differing += values.size;
    }
  }
  return differing;
}
