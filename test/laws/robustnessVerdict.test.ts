// The verdict of robustness checks: hardly ever robust on random walks, whose best variant of a sweep is luck, and
// often robust where an edge was planted. 300 seeds in a long run, a tenth otherwise.
import { describe, expect, it } from 'vitest';
import type { Market } from '../../src/engine/bars/bars.ts';
import type { LineageSweep } from '../../src/engine/robustness/lineage.ts';
import type { SweepResult } from '../../src/engine/sweep/sweepResult.ts';
import { compare } from '../support/builders.ts';
import { checked, outcomesOf, robustnessContext } from '../support/robustness.ts';
import { scaled, seededRandom } from '../support/scale.ts';
import { compiled, CONFIG, CROSSING, marketOf, rowsOf, sweepContextFor, finished } from '../support/sweeps.ts';

const SEEDS = scaled(300);
const BARS = 1_000;
const TIMEOUT_MS = 900_000;

interface Verdicts {
  /** On the best variant of a sweep, in the light of the sweep. */
  readonly withSweep: string;
  /** On the same variant, in the light of how many were tried. */
  readonly withTrials: string;
}

function verdictsOf(strategyAst: object, space: object, market: Market): Verdicts {
  const strategy = compiled(strategyAst);
  const sweep = sweepContextFor(strategy, { space, method: 'grid', metrics: 'headline' }, market);
  const result = finished(sweep, rowsOf(sweep));
  expect(result.trials.sweep).toBe(100);
  const best = contextOf(strategyAst, market, result.top[0].params);
  const outcomes = outcomesOf(best);
  return {
    withSweep: checked(best, outcomes, { trials: 100, sweeps: [lineageSweep(result)] }).verdict.code,
    withTrials: checked(best, outcomes, { trials: 100, sweeps: [] }).verdict.code,
  };
}

const contextOf = (strategyAst: object, market: Market, params: Readonly<Record<string, unknown>>) =>
  robustnessContext(compiled(strategyAst).strategyAst, market, {
    config: { ...CONFIG, params: params as Record<string, number> },
    spec: { samples: 40 },
  });

const lineageSweep = ({ verdict, overfitting, top }: SweepResult): LineageSweep => ({
  name: 'sweep',
  isOfBacktest: true,
  verdict,
  overfitting,
  top: top.map(({ rank, metrics: { returnPct, sharpeRatio, totalPositions }, plateau }) => ({
    rank,
    plateau,
    returnPct: returnPct ?? null,
    sharpeRatio: sharpeRatio ?? null,
    totalPositions: totalPositions ?? null,
  })),
});

/** The share of robust verdicts; printed, so that a long run shows by how much the limit is met. */
function robustShare(what: string, codes: readonly string[]): number {
  const counts = [...Map.groupBy(codes, (code) => code)].map(([code, list]) => `${code} ${list.length}`);
  process.stdout.write(`${what}: ${counts.join(', ')} of ${codes.length} seeds\n`);
  return codes.filter((code) => code === 'robust').length / codes.length;
}

describe('the verdict on the best of 100 variants', { timeout: TIMEOUT_MS }, () => {
  it('is robust for at most one random walk of fifty', () => {
    const space = { fast: { min: 2, max: 11 }, slow: { min: 12, max: 30, step: 2 } };
    const markets = Array.from({ length: SEEDS }, (_, seed) => marketOf(BARS, 7_000 + seed));
    const all = markets.map((market) => verdictsOf(CROSSING, space, market));
    // The variant of the defaults, which nobody chose.
    const first = markets.map((market) => checked(contextOf(CROSSING, market, {})).verdict.code);
    expect(
      robustShare(
        'best, sweep known',
        all.map(({ withSweep }) => withSweep),
      ),
    ).toBeLessThanOrEqual(0.02);
    expect(
      robustShare(
        'best, trials known',
        all.map(({ withTrials }) => withTrials),
      ),
    ).toBeLessThanOrEqual(0.02);
    expect(robustShare('first try', first)).toBeLessThanOrEqual(0.05);
  });

  it('is robust for at least seven of ten markets in which a column predicts a part of the next return', () => {
    const space = { enter: { min: -0.45, max: 1.35, step: 0.2 }, exit: { min: -1.35, max: 0.45, step: 0.2 } };
    const all = Array.from({ length: SEEDS }, (_, seed) => {
      const random = seededRandom(5_000 + seed);
      const forecast = Float64Array.from({ length: BARS }, () => 2 * Math.sqrt(3) * (random() - 0.5));
      const returnOf = (row: number, noise: number): number => 0.01 * (0.6 * (forecast[row - 1] ?? 0) + noise);
      return verdictsOf(FORECAST, space, marketOf(BARS, 1_000 + seed, returnOf, new Map([['forecast', forecast]])));
    });
    expect(
      robustShare(
        'planted edge',
        all.map(({ withSweep }) => withSweep),
      ),
    ).toBeGreaterThanOrEqual(0.7);
  });
});

const FORECAST_COLUMN = { kind: 'series', name: 'forecast' };
const number = (name: string) => ({ kind: 'param', name });
/** In the market while the forecast is high: neither number has to be met exactly. */
const FORECAST = {
  protocol: 'svc.strategy',
  version: 1,
  strategy: {
    kind: 'strategy',
    params: [
      { name: 'enter', type: 'float', default: 0 },
      { name: 'exit', type: 'float', default: 0 },
    ],
    entry: {
      kind: 'entry',
      trigger: compare(FORECAST_COLUMN, 'gt', number('enter')),
      action: { side: 'long', sizing: { mode: 'percent_equity', value: 100 } },
    },
    exits: [{ kind: 'exit', when: compare(FORECAST_COLUMN, 'lt', number('exit')) }],
  },
};
