// The indicators TA-Lib lacks beside pandas-ta-classic and ta, on the project's own series (test/golden/indicators.py).
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { Args, InputName } from '../../../src/engine/indicators/definition.ts';
import { findIndicator } from '../../../src/engine/indicators/registry.ts';
import { argsOf, computeIndicator } from '../../support/indicators.ts';
import { TOLERANCE } from '../../support/tolerances.ts';

interface Golden {
  readonly bars: number;
  readonly step: number;
  readonly cases: readonly {
    readonly id: string;
    readonly args: Args;
    readonly series: string;
    readonly outputs: Readonly<Record<string, { readonly first: number; readonly values: readonly (number | null)[] }>>;
  }[];
}

const read = (path: string): string => gunzipSync(readFileSync(path)).toString('utf8');
const golden = JSON.parse(read('test/golden/indicators.json.gz')) as Golden;
/** ta replaces the prices before the first bar by the mean of all, and needs these rows to forget them. */
const PEER_WARM_UP: Readonly<Record<string, number>> = { kst: 30 };

describe('indicators beside their peers', () => {
  for (const { id, args, series, outputs } of golden.cases) {
    it(`${id} ${JSON.stringify(args)} on ${series}`, () => {
      const indicator = findIndicator(id)!;
      const resolved = argsOf(indicator, args);
      const ours = computeIndicator(indicator, resolved, readInputs(series, indicator.inputs));
      const from = Math.max(indicator.lookback(resolved), PEER_WARM_UP[id] ?? 0);
      for (const [name, { first, values }] of Object.entries(outputs)) {
        const column = ours[indicator.outputs.findIndex((output) => output.name === name)];
        expect(indicator.lookback(resolved), name).toBeGreaterThanOrEqual(Math.min(first, 1));
        values.forEach((value, at) => {
          const row = first + at * golden.step;
          if (row < from) return;
          const difference = Math.abs(column[row] - value!) / Math.max(1, Math.abs(value!));
          if (!(difference <= TOLERANCE)) throw new Error(`${name}[${row}] is ${column[row]}, the peer has ${value}`);
        });
      }
    });
  }
});

function readInputs(series: string, inputs: readonly InputName[]): Float64Array[] {
  const [header, ...lines] = read(`data/${series}.csv.gz`).trim().split('\n');
  const names = header.split(',');
  const rows = lines.slice(0, golden.bars).map((line) => line.split(','));
  return inputs.map((input) => {
    const at = names.indexOf(input === 'source' ? 'close' : input);
    return Float64Array.from(rows, (row) => (input === 'time' ? Date.parse(row[at]) : Number(row[at])));
  });
}
