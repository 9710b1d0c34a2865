// A run that is told to stop does so between the columns of its plan, inside columns that take long, and in the loop.
import { describe, expect, it } from 'vitest';
import { createMarket, runBacktest } from '../../../src/engine/index.ts';
import type { StrategyAst } from '../../../src/engine/index.ts';
import { all, astOf, compare, entry, indicator, market, sma, type Json } from '../../support/builders.ts';
import { configOf, dailySnapshot, SYMBOL } from '../../support/runs.ts';

const BARS = 4_096;
let snapshots = 0;

/** Runs until the flag has been read `reads` times. */
function stoppedAfter(trigger: Json, reads: number): { code: string | null; reads: number } {
  // Bars of their own, so that no column is kept from another run.
  const bars = createMarket([dailySnapshot(BARS + ++snapshots)], SYMBOL, '1d');
  let count = 0;
  const control = { isCancelled: () => ++count >= reads, report: () => {} };
  const strategyAst: StrategyAst = astOf({ entry: entry(trigger) });
  const outcome = runBacktest(
    { id: 'r', strategyAst, settings: {}, config: configOf(), strategyHash: 'h' },
    bars,
    control,
  );
  return { code: outcome.ok ? null : outcome.error.code, reads: count };
}

describe('a run that is told to stop', () => {
  it('stops before the next column of its plan', () => {
    const columns = Array.from({ length: 20 }, (_, index) => compare(market(), 'gt', sma(index + 2)));
    expect(stoppedAfter(all(...columns), 10)).toEqual({ code: 'CANCELLED', reads: 10 });
  });

  const LENGTH = 600;
  const source2 = { kind: 'rolling', op: 'max', period: 3, source: market() };
  const slow: Readonly<Record<string, Json>> = {
    alma: indicator('alma', { length: LENGTH }),
    cci: indicator('cci', { length: LENGTH }),
    avgdev: indicator('avgdev', { length: LENGTH }),
    percentile_rank: indicator('percentile_rank', { length: LENGTH }),
    percentile: indicator('percentile', { length: LENGTH }),
    hurst: indicator('hurst', { length: LENGTH, max_lag: 20 }),
    correl: indicator('correl', { length: LENGTH }, { sources: [market(), source2] }),
    slope: { kind: 'rolling', op: 'slope', period: LENGTH, source: market() },
    median: { kind: 'rolling', op: 'median', period: LENGTH, source: market() },
  };
  it.each(Object.keys(slow))('stops inside a column that takes long: %s', (name) => {
    const trigger = compare(slow[name], 'gt', 0);
    const steps = name === 'correl' ? 2 : 1;
    // The reads are those before the steps, and at least one within the long one.
    expect(stoppedAfter(trigger, steps + 1)).toEqual({ code: 'CANCELLED', reads: steps + 1 });
  });

  it('stops in the loop within a thousand bars when a rule reads state', () => {
    const idle = compare({ kind: 'state', field: 'position_exists' }, 'gt', 5);
    const { reads } = stoppedAfter(idle, 1_000_000);
    expect(reads).toBeGreaterThanOrEqual(Math.floor(BARS / 1_024) - 1);
    expect(stoppedAfter(idle, 2)).toEqual({ code: 'CANCELLED', reads: 2 });
  });
});
