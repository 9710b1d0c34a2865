// Walk-forward: what a fold chooses depends on its training window alone, and its windows neither overlap nor leave the
// range.
import { describe, expect, it } from 'vitest';
import { cutFolds } from '../../../src/engine/sweep/folds.ts';
import { planSweep } from '../../../src/engine/sweep/sweepJob.ts';
import { SweepSpec } from '../../../src/engine/sweep/sweepRequest.ts';
import { compiled, CONFIG, CROSSING, marketOf, rowsOf, sweepContextFor, finished } from '../../support/sweeps.ts';

const strategy = compiled(CROSSING);
const space = { fast: { min: 2, max: 8, step: 2 }, slow: { min: 10, max: 40, step: 10 } };

describe('walk-forward', () => {
  it.each(['anchored', 'rolling'] as const)(
    'chooses the same parameters when every bar out of sample changes (%s)',
    (kind) => {
      const walkForward = { kind, folds: 1, trainFraction: 0.6, purgeBars: 3, embargoBars: 5 };
      const context = (market: ReturnType<typeof marketOf>) =>
        sweepContextFor(strategy, { space, method: 'grid', walkForward }, market);
      const before = marketOf(600, 9);
      // The same noise up to the purged bars, then another market.
      const after = marketOf(600, 9, (row, noise) => (row < 600 * 0.6 - 3 ? 0.01 * noise : 0.03 - 0.02 * noise));
      const [a, b] = [before, after].map((market) => finished(context(market), rowsOf(context(market))).walkForward!);
      expect(b.folds.map(({ variant, params, inSample }) => ({ variant, params, inSample }))).toEqual(
        a.folds.map(({ variant, params, inSample }) => ({ variant, params, inSample })),
      );
      expect(a.folds[0].variant).not.toBeNull();
      expect(b.outOfSample.returnPct).not.toBe(a.outOfSample.returnPct);
    },
  );

  it('begins each test window with the balance that the previous one left, closing every position at its end', () => {
    const walkForward = { kind: 'rolling', folds: 3, trainFraction: 0.4 };
    const context = sweepContextFor(strategy, { space, method: 'grid', walkForward }, marketOf(600, 4));
    const { folds, outOfSample, equity } = finished(context, rowsOf(context)).walkForward!;
    const grown = folds.reduce((money, { returnPct }) => money * (1 + returnPct!), CONFIG.initialBalance);
    expect(outOfSample.returnPct).toBeCloseTo(grown / CONFIG.initialBalance - 1, 12);
    expect(equity.at(-1)![1]).toBeCloseTo(grown, 8);
    folds.slice(1).forEach(({ test }, fold) => expect(test.start).toBe(folds[fold].test.end));
  });

  it('trains from the first bar when anchored, on a window of fixed length when rolling', () => {
    const settings = { folds: 4, trainFraction: 0.5, purgeBars: 2, embargoBars: 3 };
    const anchored = cutFolds({ kind: 'anchored', ...settings }, 100, 900);
    const rolling = cutFolds({ kind: 'rolling', ...settings }, 100, 900);
    expect(anchored.map(({ train }) => train)).toEqual([
      [100, 498],
      [100, 598],
      [100, 698],
      [100, 798],
    ]);
    expect(rolling.map(({ train }) => train)).toEqual([
      [100, 498],
      [200, 598],
      [300, 698],
      [400, 798],
    ]);
    expect(anchored.map(({ test }) => test)).toEqual([
      [503, 600],
      [603, 700],
      [703, 800],
      [803, 900],
    ]);
  });

  it('tests every bar after the first training once, whatever the number of folds', () => {
    for (const folds of [1, 2, 3, 4, 7]) {
      const settings = { kind: 'rolling', folds, trainFraction: 0.5, purgeBars: 0, embargoBars: 0 } as const;
      const tested = cutFolds(settings, 10, 113).flatMap(({ test: [from, to] }) =>
        Array.from({ length: to - from }, (_, row) => from + row),
      );
      // 51 of 103 rows are for the first training.
      expect(tested).toEqual(Array.from({ length: 52 }, (_, row) => 61 + row));
    }
  });

  it('is rejected with tpe, which has seen the test windows', () => {
    const spec = SweepSpec.parse({
      config: CONFIG,
      space,
      method: 'tpe',
      budget: 10,
      walkForward: { kind: 'rolling', folds: 2 },
    });
    expect(planSweep(strategy, spec)).toMatchObject({ ok: false, faults: [{ path: '/walkForward' }] });
  });
});
