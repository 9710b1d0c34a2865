// The stress of fees per order: every order pays the multiple of what it paid, and without fees it pays nothing.
import { expect, it } from 'vitest';
import { runBacktest } from '../../../src/engine/backtest.ts';
import type { Market } from '../../../src/engine/bars/bars.ts';
import { createMarket } from '../../../src/engine/bars/market.ts';
import type { FeeModel } from '../../../src/engine/config.ts';
import { feeLevels, removables, withFees, without } from '../../../src/engine/robustness/stress.ts';
import type { BacktestTask } from '../../../src/engine/task.ts';
import { randomSnapshot } from '../../support/bars.ts';
import { astOf, cross, entry, exit, sma } from '../../support/builders.ts';
import { flatFee } from '../simulate/input.ts';

const market: Market = createMarket([randomSnapshot({ count: 400, seed: 5 })], 'TEST', '1h');
const feeModel: FeeModel = { ...flatFee(0.0005), perUnit: 0.01, perOrder: 0.5, minPerOrder: 2, maxRate: 0.02 };
const sizing = { mode: 'fixed', value: 3 };
const task: BacktestTask = {
  id: 'stress',
  strategyAst: astOf({
    entry: entry(cross(sma(5), 'cross_up', sma(20)), { action: { side: 'long', sizing } }),
    exits: [exit(cross(sma(5), 'cross_down', sma(20)))],
  }),
  settings: {},
  strategyHash: '',
  config: {
    timeframe: '1h',
    signalInstrument: { symbol: 'TEST' },
    initialBalance: 100_000,
    execution: { feeModel, slippage: { kind: 'none' } },
  },
};

function feesOf(stressed: BacktestTask): number {
  const outcome = runBacktest(stressed, market, null);
  if (!outcome.ok) throw new Error(outcome.error.message);
  return outcome.summary.totalFees;
}

it('multiplies the fees of every order', () => {
  const fees = feesOf(task);
  expect(fees).toBeGreaterThan(10);
  expect(feeLevels(task)).toContainEqual({ multiplier: 3 });
  for (const level of feeLevels(task))
    expect(feesOf(withFees(task, level))).toBeCloseTo(fees * ('multiplier' in level ? level.multiplier : NaN), 8);
});

it('removes them', () => {
  expect(removables(task)).toContain('fees');
  const free = without(task, 'fees');
  if ('code' in free) throw new Error(free.message);
  expect(feesOf(free)).toBe(0);
});
