// The numbers that parameter jitter moves where a strategy has no params: those of allocations and schedules.
import { describe, expect, it } from 'vitest';
import type { BacktestTask, StrategyAst } from '../../../src/engine/index.ts';
import { jitteredNumbers, jitteredTask } from '../../../src/engine/robustness/analyses/parameterJitter.ts';
import { astOf, constant, market as field } from '../../support/builders.ts';
import { PORTFOLIO_CONFIG, UNNAMED_ROTATION } from '../../support/portfolioSweeps.ts';
import { CONFIG } from '../../support/sweeps.ts';

const taskOf = (strategyAst: StrategyAst): BacktestTask => ({
  id: 'jitter',
  strategyAst,
  settings: {},
  config: CONFIG,
  strategyHash: '',
});

describe('the jitter of a rotation without params', () => {
  const task = { ...taskOf(UNNAMED_ROTATION), config: PORTFOLIO_CONFIG };
  const numbers = jitteredNumbers(task, 10);
  const root = '/strategyAst/strategy/allocation';

  it('moves places and lookbacks, whole ones to whole numbers, and leaves weights alone', () => {
    expect(numbers.map(({ name, low, high, isWhole }) => [name.replace(root, ''), low, high, isWhole])).toEqual([
      ['/when/everyBars', 18, 22, true],
      ['/long/by/args/length', 54, 66, true],
      ['/long/top', 1, 3, true],
      ['/long/keepWithin', 2, 4, true],
      ['/short/by/args/length', 54, 66, true],
      ['/short/bottomPercent', 96 * 0.9, 100, false],
      ['/weights/by/args/length', 18, 22, true],
    ]);
  });

  it('never draws a keepWithin below the places', () => {
    const drawn = Array.from({ length: 200 }, (_, sample) => {
      const { overrides } = jitteredTask(task, numbers, { seed: 1, sample }).config;
      return [overrides![`${root}/long/top`], overrides![`${root}/long/keepWithin`]];
    });
    for (const [top, kept] of drawn) expect(kept).toBeGreaterThanOrEqual(top);
    expect(drawn.some(([top, kept]) => top === 3 && kept === 3)).toBe(true);
    expect(drawn.some(([top, kept]) => top === 1 && kept === 4)).toBe(true);
  });
});

describe('the jitter of a scheduled day', () => {
  it('moves it by a day, and never to a day 0', () => {
    const when = (on: number) => ({ kind: 'schedule', every: 'month', on });
    const strategyAst = astOf({
      entry: {
        kind: 'entry',
        trigger: when(-1),
        action: { side: 'long', sizing: { mode: 'percent_equity', value: 9 } },
      },
      exits: [
        { kind: 'exit', when: when(3) },
        { kind: 'exit', when: { kind: 'compare', op: 'gt', left: field(), right: constant(9e9) } },
      ],
    }) as StrategyAst;
    const [last, third] = jitteredNumbers(taskOf(strategyAst), 10);
    expect([last.low, last.high, third.low, third.high]).toEqual([-2, -1, 2, 4]);
  });
});
