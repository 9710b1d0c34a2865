// The verdict of sweeps: luck on random walks, not luck where an edge was planted. 100 seeds in a long run, 5
// otherwise.
import { describe, expect, it } from 'vitest';
import { compare } from '../support/builders.ts';
import { isLong, seededRandom } from '../support/scale.ts';
import { compiled, CROSSING, marketOf, rowsOf, sweepContextFor, finished } from '../support/sweeps.ts';

const SEEDS = isLong ? 100 : 5;
const BARS = 700;
/** 500 backtests for each seed. */
const TIMEOUT_MS = 600_000;

describe('a verdict on 500 variants', { timeout: TIMEOUT_MS }, () => {
  it('calls the best of a random walk luck for at least 95 of 100 seeds', () => {
    const strategy = compiled(CROSSING);
    const given = {
      space: { fast: { min: 2, max: 21 }, slow: { min: 25, max: 121, step: 4 } },
      method: 'grid',
      metrics: 'headline',
    };
    const verdicts = Array.from({ length: SEEDS }, (_, seed) => {
      const context = sweepContextFor(strategy, given, marketOf(BARS, 1_000 + seed));
      const result = finished(context, rowsOf(context));
      expect(result.trials.sweep).toBe(500);
      return result.verdict.code;
    });
    expect(shareOf(verdicts, 'luck')).toBeGreaterThanOrEqual(0.95);
  });

  it('recognizes a lag that predicts part of the next return for at least 90 of 100 seeds', () => {
    const strategy = compiled(FORECAST);
    const given = {
      space: { lag: { min: 0, max: 49 }, threshold: { min: -0.45, max: 0.45, step: 0.1 } },
      method: 'grid',
      metrics: 'headline',
    };
    const verdicts = Array.from({ length: SEEDS }, (_, seed) => {
      const random = seededRandom(5_000 + seed);
      const forecast = Float64Array.from({ length: BARS }, () => 2 * Math.sqrt(3) * (random() - 0.5));
      const returnOf = (row: number, noise: number): number => 0.01 * (0.6 * (forecast[row - 1 - LAG] ?? 0) + noise);
      const market = marketOf(BARS, 1_000 + seed, returnOf, new Map([['forecast', forecast]]));
      const context = sweepContextFor(strategy, given, market);
      const result = finished(context, rowsOf(context));
      expect(result.trials.sweep).toBe(500);
      return result.verdict.code;
    });
    expect(shareOf(verdicts, 'not_luck')).toBeGreaterThanOrEqual(0.9);
  });
});

/** Printed, so that a long run shows by how much the limit is met. */
function shareOf(verdicts: readonly string[], wanted: string): number {
  const count = verdicts.filter((code) => code === wanted).length;
  process.stdout.write(`the verdict is ${wanted} for ${count} of ${verdicts.length} seeds\n`);
  return count / verdicts.length;
}

const LAG = 7;
const forecast = { kind: 'shift', source: { kind: 'series', name: 'forecast' }, offset: { param: 'lag' } };
const FORECAST = {
  protocol: 'svc.strategy',
  version: 1,
  strategy: {
    kind: 'strategy',
    params: [
      { name: 'lag', type: 'int', default: 0, min: 0, max: 100 },
      { name: 'threshold', type: 'float', default: 0 },
    ],
    entry: {
      kind: 'entry',
      trigger: compare(forecast, 'gt', { kind: 'param', name: 'threshold' }),
      action: { side: 'long', sizing: { mode: 'percent_equity', value: 100 } },
    },
    exits: [
      {
        kind: 'exit',
        when: compare(forecast, 'lt', { kind: 'param', name: 'threshold' }),
      },
    ],
  },
};
