// Estimates of many runs at once: what a strategy is found to take does not depend on what was estimated before.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { estimateTask } from '../../src/engine/estimateBacktest.ts';
import { withoutAccelerators } from '../../src/engine/fast/index.ts';
import type { Param, StrategyAst } from '../../src/engine/language/grammar/ast.ts';
import { all, astOf, compare, entry, market, sma } from '../support/builders.ts';
import { configOf } from '../support/runs.ts';

const PARAMS: readonly Param[] = [
  { name: 'length', type: 'int', default: 10, min: 1, max: 500 },
  { name: 'period', type: 'int', default: 10, min: 1, max: 500 },
  { name: 'within', type: 'int', default: 1, min: 1, max: 500 },
];

const period = (name: string): never => ({ param: name }) as never;
const median = { kind: 'rolling', op: 'median', period: period('period'), source: market() };
const cross = { kind: 'cross', op: 'cross_up', left: sma(period('length')), right: market(), within: period('within') };

/** Averages, ranks and windows, whose estimates depend on the values. */
const ast = astOf({ entry: entry(all(cross, compare(market(), 'gt', median))) });
const strategyAst = { ...ast, strategy: { ...ast.strategy, params: PARAMS } } as StrategyAst;

const estimated = (params: Record<string, number>, slippage: object = { kind: 'none' }) => {
  const config = { ...configOf(), params };
  return estimateTask({
    strategyAst,
    settings: {},
    config: { ...config, execution: { ...config.execution, slippage: slippage as never } },
  });
};

it('estimates a variant as it would alone', () => {
  const seen = new Set<string>();
  const value = fc.integer({ min: 1, max: 500 });
  fc.assert(
    fc.property(fc.record({ length: value, period: value, within: value }), (params) => {
      const alone = withoutAccelerators(() => estimated(params));
      expect(alone.ok).toBe(true);
      expect(estimated(params)).toEqual(alone);
      seen.add(JSON.stringify(alone));
    }),
    { numRuns: 50 },
  );
  expect(seen.size).toBeGreaterThan(10);
});

it('reports the issues of a variant as it would alone', () => {
  const variants: Record<string, number>[] = [{ length: 10 }, { length: 20 }, { length: 0 }, { period: 501 }];
  for (const params of variants) expect(estimated(params)).toEqual(withoutAccelerators(() => estimated(params)));
  expect(estimated({ length: 0 })).toMatchObject({ ok: false, issues: [{ path: '/config/params/length' }] });
});

it('leaves out what orders cost', () => {
  const slippage = { kind: 'volatility_scaled', reference: 'atr_pct', multiplier: 1, atrPeriod: 20 };
  const alone = estimated({ length: 10 });
  expect(alone.ok).toBe(true);
  expect(estimated({ length: 10 }, slippage)).toEqual(alone);
});
