// Patterns against TA-Lib on the project's own series and on windows in which each of them fires
// (test/golden/patterns.py).
import { describe, expect, it } from 'vitest';
import { PATTERNS } from '../../../src/engine/patterns/patternRegistry.ts';
import { foundBy, patternGolden as golden, readPrices } from '../../support/patternGolden.ts';
import type { PriceColumns } from './jagged.ts';

describe('a pattern', () => {
  it('has the lookback of TA-Lib', () => {
    const ours = Object.fromEntries(PATTERNS.map((pattern) => [pattern.talib, pattern.lookback({})]));
    expect(ours).toEqual(golden.lookbacks);
  });

  for (const [series, answers] of Object.entries(golden.series)) {
    it(`occurs on the same bars of ${series} as in TA-Lib, with every penetration`, () => {
      const columns = readPrices(series);
      expect(Object.keys(answers).length).toBe(61 + 14);
      for (const [key, sparse] of Object.entries(answers))
        expect({ key, ...foundBy(key, columns) }).toEqual({ key, ...sparse });
    });
  }

  it('occurs on the same bars as in TA-Lib in windows where each pattern fires twice', () => {
    const fired = new Map<string, number>();
    golden.windows.forEach(({ bars, fires }, index) => {
      const column = (at: number): Float64Array => Float64Array.from(bars, (bar) => bar[at]);
      const columns: PriceColumns = [column(0), column(1), column(2), column(3)];
      for (const { talib } of PATTERNS) {
        const expected = fires[talib] ?? { rows: [], values: [] };
        expect({ index, talib, ...foundBy(talib, columns) }).toEqual({ index, talib, ...expected });
        if (expected.rows.length > 0) fired.set(talib, (fired.get(talib) ?? 0) + 1);
      }
    });
    expect([...fired.values()].every((times) => times >= 2)).toBe(true);
    expect(fired.size).toBe(61);
  });
});
