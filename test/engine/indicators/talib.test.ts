// Every TA-Lib function against TA-Lib's answers on our own series.
import { describe, expect, it } from 'vitest';
import { differenceOf, golden, goldenColumns } from '../../support/talibGolden.ts';
import { toleranceOf } from '../../support/tolerances.ts';

for (const { name, cases } of golden.series) {
  describe(`TA-Lib ${golden.c.split(' ')[0]} on ${name}`, () => {
    const columns = goldenColumns(name);
    it('has an answer for each of the 140 functions', () => {
      expect(new Set(cases.map((one) => one.fn)).size).toBe(140);
    });
    for (const one of cases) {
      it(`equals ${one.fn} ${JSON.stringify(one.params)}, lookback included`, () => {
        expect(differenceOf(one, columns)).toBeLessThanOrEqual(toleranceOf(one.fn));
      });
    }
  });
}
