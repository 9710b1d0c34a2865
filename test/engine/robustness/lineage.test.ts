// The lineage of a result: what its tries make of its Sharpe ratio, and which sweeps it comes from.
import { describe, expect, it } from 'vitest';
import type { RunNumbers } from '../../../src/engine/robustness/checkRuns.ts';
import type { Evidence } from '../../../src/engine/robustness/evidence.ts';
import { deflationOf, type LineageSweep } from '../../../src/engine/robustness/lineage.ts';
import { probabilisticSharpe } from '../../../src/engine/report/sharpeConfidence.ts';
import { expectedMaximum } from '../../../src/engine/sweep/overfitting.ts';

const sample = { sharpe: 0.1, skew: 0, kurtosis: 3, days: 1_001 };
const evidence = { sample } as Evidence;
const baseline = { returnPct: 0.5, sharpeRatio: 1.5, totalPositions: 40 } as RunNumbers;
const row = { rank: 3, returnPct: 0.5, sharpeRatio: 1.5, totalPositions: 40, plateau: { score: 0.2, isCliff: true } };
const sweep = (more: Partial<LineageSweep> = {}): LineageSweep => ({
  name: 'a',
  isOfBacktest: false,
  verdict: { code: 'luck', text: 'Treat it as luck.' },
  overfitting: { trials: 50, expectedMaximum: expectedMaximum(50, 0.0004) },
  top: [],
  ...more,
});

describe('the deflated Sharpe ratio of a check', () => {
  it('is that of one try where nothing else was tried', () => {
    const found = deflationOf({ trials: 1, sweeps: [] }, undefined, baseline, evidence);
    expect(found).toMatchObject({ trials: 1, expectedMaximum: 0, days: 1_001 });
    expect(found.deflatedSharpe).toBe(found.probabilisticSharpe);
    expect(found.deflatedSharpe).toBe(probabilisticSharpe(sample, 0));
  });

  it('takes the variance of the tries from the sweep where they varied most', () => {
    const wide = sweep({ overfitting: { trials: 9, expectedMaximum: expectedMaximum(9, 0.0009) } });
    const { deflatedSharpe } = deflationOf({ trials: 60, sweeps: [sweep(), wide] }, undefined, baseline, evidence);
    expect(deflatedSharpe).toBeCloseTo(probabilisticSharpe(sample, expectedMaximum(60, 0.0009))!, 12);
  });

  it('takes the variance of an estimate without skill where no sweep is known', () => {
    const { expectedMaximum: found } = deflationOf({ trials: 60, sweeps: [] }, undefined, baseline, evidence);
    expect(found).toBeCloseTo(expectedMaximum(60, 1 / 1_000), 12);
  });

  it('counts the larger of the trials that are known and those that are stated', () => {
    const trials = (known: number | null, stated?: number) =>
      deflationOf({ trials: known, sweeps: [] }, stated, baseline, evidence).trials;
    expect([trials(5, 100), trials(100, 5), trials(null, 7), trials(7), trials(null)]).toEqual([100, 100, 7, 7, null]);
  });

  it('is null where nobody knows how many were tried', () => {
    expect(deflationOf({ trials: null, sweeps: [] }, undefined, baseline, evidence)).toMatchObject({
      deflatedSharpe: null,
      probabilisticSharpe: probabilisticSharpe(sample, 0),
    });
  });
});

describe('the sweeps of a check', () => {
  const sweepsOf = (...sweeps: LineageSweep[]) =>
    deflationOf({ trials: 50, sweeps }, undefined, baseline, evidence).sweeps;

  it('are those that the backtest is a variant of, and those with a best row of the same numbers', () => {
    expect(sweepsOf(sweep())).toEqual([]);
    expect(sweepsOf(sweep({ isOfBacktest: true }))).toEqual([
      { name: 'a', verdict: 'luck', text: 'Treat it as luck.', rank: null, plateau: null, isCliff: false },
    ]);
    expect(sweepsOf(sweep({ top: [{ ...row, rank: 1, returnPct: 0.6 }, row] }))).toMatchObject([
      { rank: 3, plateau: 0.2, isCliff: true },
    ]);
  });

  it('begin with those that call it luck', () => {
    const good = sweep({ name: 'b', isOfBacktest: true, verdict: { code: 'not_luck', text: '' } });
    expect(sweepsOf(good, good, good, good, good, sweep({ isOfBacktest: true })).map(({ name }) => name)).toEqual([
      'a', 'b', 'b', 'b', 'b',
    ]); // prettier-ignore
  });
});
