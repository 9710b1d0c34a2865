// Deflated Sharpe and the probability of over-fitting against an implementation that computes both from the daily
// returns.
import { describe, expect, it } from 'vitest';
import { runBacktest } from '../../../src/engine/backtest.ts';
import { expectedMaximum, overfittingProbability } from '../../../src/engine/sweep/overfitting.ts';
import { configOf } from '../../../src/engine/sweep/space.ts';
import { simulateTask } from '../../../src/engine/backtest.ts';
import { dailyOf } from '../../../src/engine/report/flatSummary.ts';
import { taskOf } from '../../../src/engine/sweep/shard.ts';
import {
  blockSums,
  slowDeflatedSharpe,
  slowOverfittingProbability,
  slowProbabilisticSharpe,
} from '../../support/overfitting.ts';
import { seededRandom } from '../../support/scale.ts';
import { compiled, CONFIG, CROSSING, marketOf, rowsOf, sweepContextFor, finished } from '../../support/sweeps.ts';

describe('the probability of over-fitting', () => {
  it.each([
    { seed: 1, variants: 3, days: 163, blocks: 16 },
    { seed: 2, variants: 5, days: 101, blocks: 8 },
    { seed: 3, variants: 2, days: 80, blocks: 8 },
  ])('equals the slow computation with %j', ({ seed, variants, days, blocks }) => {
    const random = seededRandom(seed);
    const table = Array.from({ length: variants }, (_, variant) =>
      Array.from({ length: days }, () => (variant === 0 ? 0 : random() - 0.49)),
    );
    expect(overfittingProbability(blockSums(table, blocks))).toBe(slowOverfittingProbability(table, blocks));
  });

  it.each([-0.0003, -0.0009, -0.0013])(
    'takes a variant that returns %d every day for one without performance',
    (always) => {
      const random = seededRandom(4);
      const varying = Array.from({ length: 104 }, () => random() - 0.5);
      const table = [varying.map(() => always), varying];
      expect(overfittingProbability(blockSums(table, 8))).toBe(slowOverfittingProbability(table, 8));
    },
  );

  it('is null without blocks or with one variant', () => {
    expect(overfittingProbability({ blocks: 0, daysPerBlock: 0, sums: new Float64Array(0) })).toBeNull();
    expect(overfittingProbability({ blocks: 8, daysPerBlock: 10, sums: new Float64Array(16) })).toBeNull();
  });
});

describe('the deflated Sharpe ratio', () => {
  it('expects zero of a single trial, and more of more trials', () => {
    expect(expectedMaximum(1, 0.01)).toBe(0);
    expect(expectedMaximum(100, 0.01)).toBeGreaterThan(expectedMaximum(10, 0.01));
  });

  it('equals the one computed from the daily returns of single backtests, like the over-fitting', () => {
    const market = marketOf(150, 11);
    const context = sweepContextFor(
      compiled(CROSSING),
      { space: { fast: { values: [3, 5, 8] }, slow: { values: [20, 30] } }, method: 'grid' },
      market,
    );
    const rows = rowsOf(context);
    const result = finished(context, rows);
    const days = market.base.length;
    const table = Array.from(rows.indexes, (_, row) => {
      const config = configOf(
        CONFIG,
        context.space,
        rows.coordinates.map((column) => column[row]),
      );
      const run = simulateTask(taskOf(context.job, config), market, null, false);
      if (!run.ok) throw new Error(run.error.message);
      return [...dailyOf(run.report).returns];
    });
    const best = rows.indexes.indexOf(result.top[0].variant);
    expect(result.overfitting.deflatedSharpe).toBeCloseTo(slowDeflatedSharpe(table, best), 9);
    expect(result.overfitting.probabilisticSharpe).toBeCloseTo(slowProbabilisticSharpe(table[best], 0), 9);
    // Days of warm-up are days without gain, so that the blocks of all variants are the same days.
    const aligned = table.map((returns) => [...new Array<number>(days - returns.length).fill(0), ...returns]);
    expect(result.overfitting.overfittingProbability).toBe(slowOverfittingProbability(aligned, 8));
    const single = runBacktest(
      taskOf(
        context.job,
        configOf(
          CONFIG,
          context.space,
          rows.coordinates.map((column) => column[best]),
        ),
      ),
      market,
      null,
    );
    expect(single.ok && single.summary.probabilisticSharpe).toBeCloseTo(result.overfitting.probabilisticSharpe!, 12);
  });
});
