// Resampling beside pandas (test/golden/resample.py): every pair of timeframes, on bars with gaps.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { TIMEFRAMES, type Timeframe } from '../../../src/engine/bars/bars.ts';
import { resample } from '../../../src/engine/bars/resample.ts';
import { divides } from '../../../src/engine/bars/timeframes.ts';
import { randomBars } from '../../support/bars.ts';
import { endOf, lengthOf } from '../../support/timeGrid.ts';

const COLUMNS = ['time', 'open', 'high', 'low', 'close', 'volume'] as const;
type Listed = Readonly<Record<(typeof COLUMNS)[number], readonly number[]>>;
interface Golden {
  readonly timeframes: Partial<
    Record<
      Timeframe,
      {
        readonly bars: Listed;
        readonly made: Partial<Record<Timeframe, Listed & { readonly bars: readonly number[] }>>;
      }
    >
  >;
}

const file = join(import.meta.dirname, '../../golden/resample.json.gz');
const { timeframes } = JSON.parse(gunzipSync(readFileSync(file)).toString()) as Golden;

describe('resampling beside pandas', () => {
  it('has every pair of which whole bars of one make the other', () => {
    const pairs = Object.entries(timeframes).flatMap(([from, { made }]) =>
      Object.keys(made).map((to) => `${from} ${to}`),
    );
    const expected = TIMEFRAMES.flatMap((from) =>
      TIMEFRAMES.filter((to) => divides(from, to)).map((to) => `${from} ${to}`),
    );
    expect(pairs).toEqual(expected);
    expect(pairs.length).toBe(86);
  });

  it.each(Object.keys(timeframes) as Timeframe[])('gives the same bars of %s bars with gaps', (from) => {
    const { bars, made } = timeframes[from]!;
    const columns = Object.fromEntries(COLUMNS.map((name) => [name, Float64Array.from(bars[name])]));
    const source = { ...randomBars({ timeframe: from, times: bars.time }), ...columns };
    for (const [to, expected] of Object.entries(made) as [Timeframe, (typeof made)[Timeframe] & object][]) {
      const found = resample(source, to);
      for (const name of COLUMNS) expect([...found[name]], `${to} ${name}`).toEqual(expected[name]);
      const whole = expected.time.map((open) => (endOf(to, open) - open) / lengthOf(from));
      expect(found.partialBars, to).toBe(expected.bars.filter((count, row) => count < whole[row]).length);
    }
  });
});
