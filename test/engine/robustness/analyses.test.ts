// The analyses of a robustness check against single backtests and small cases that can be counted by hand.
import { describe, expect, it } from 'vitest';
import { runBacktest } from '../../../src/engine/backtest.ts';
import type { BacktestConfig, BacktestTask, StrategyAst } from '../../../src/engine/index.ts';
import { bootstrapMarket, defaultBlockBars } from '../../../src/engine/robustness/analyses/blockBootstrap.ts';
import { monteCarlo } from '../../../src/engine/robustness/analyses/monteCarlo.ts';
import { jitteredNumbers, jitteredTask } from '../../../src/engine/robustness/analyses/parameterJitter.ts';
import type { CheckRun } from '../../../src/engine/robustness/checkRuns.ts';
import { compare, constant, cross, indicator, market as field } from '../../support/builders.ts';
import { baselineOf, checked, outcomesOf, robustnessContext } from '../../support/robustness.ts';
import { compiled, CONFIG, CROSSING, marketOf } from '../../support/sweeps.ts';
import { TRADE, TradeLog } from '../../../src/engine/simulate/tradeLog.ts';

const crossing = compiled(CROSSING).strategyAst;
const bars = marketOf(700, 11, (row, noise) => 0.004 * Math.sin(row / 15) + 0.006 * noise);
const context = robustnessContext(crossing, bars, { spec: { samples: 12 } });
const whole = checked(context);

/** The same numbers from a single backtest. */
function single(task: BacktestTask): Record<string, number | null> {
  const outcome = runBacktest(task, bars, null);
  if (!outcome.ok) throw new Error(outcome.error.message);
  const { returnPct, excessReturnPct, sharpeRatio, maxDrawdown, totalPositions } = outcome.summary;
  return { returnPct, excessReturnPct, sharpeRatio, maxDrawdown, totalPositions };
}
const withConfig = (config: Partial<BacktestConfig>): BacktestTask => ({
  ...context.task,
  config: { ...context.task.config, ...config },
});

describe('a robustness check', () => {
  it('gives the same result again, and in any number of parts', () => {
    expect(checked(context)).toEqual(whole);
    expect(checked(context, outcomesOf(context, 7))).toEqual(whole);
  });

  it('draws other samples with another seed, and leaves alone what is not drawn', () => {
    const other = checked(robustnessContext(crossing, bars, { spec: { samples: 12, seed: 2 } }));
    expect(other.blockBootstrap).not.toEqual(whole.blockBootstrap);
    expect(other.monteCarlo!.resampled).not.toEqual(whole.monteCarlo!.resampled);
    expect(other.feeStress).toEqual(whole.feeStress);
    expect(other.lookAheadAudit).toEqual(whole.lookAheadAudit);
  });

  it('holds what was asked for and nothing else, in less than 20 KB', () => {
    const few = checked(robustnessContext(crossing, bars, { spec: { analyses: ['startShift'] } }));
    expect(Object.keys(few).toSorted()).toEqual([
      'baseline', 'bounds', 'evidence', 'findings', 'luck', 'seed', 'startShift', 'verdict',
    ]); // prettier-ignore
    const large = checked(robustnessContext(crossing, bars, { spec: { samples: 100 } }));
    expect(JSON.stringify(large).length).toBeLessThan(20_000);
  });

  it('has the numbers of the backtest as its baseline', () => {
    expect(whole.baseline).toEqual(single(context.task));
    expect(whole.baseline.totalPositions).toBeGreaterThan(5);
  });
});

describe('a stressed cost', () => {
  it('gives the numbers of a backtest with that cost', () => {
    const tiers = [{ minCumulativeNotional: 0, makerRate: 0.0006, takerRate: 0.0015 }];
    const { multiplier, ...run } = whole.feeStress!.levels.find(
      (level) => 'multiplier' in level && level.multiplier === 3,
    )! as Record<string, number>;
    expect(multiplier).toBe(3);
    expect(run).toEqual(
      single(withConfig({ execution: { ...CONFIG.execution!, feeModel: { kind: 'tiered_maker_taker', tiers } } })),
    );
  });

  it('is given in bps where the config has none', () => {
    const level = whole.slippageStress!.levels[1];
    expect(level).toMatchObject({ bps: 2 });
    const { bps: _, ...run } = level as { bps: number };
    const slippage = { kind: 'fixed', unit: 'bps', value: 2 } as const;
    expect(run).toEqual(single(withConfig({ execution: { ...CONFIG.execution!, slippage } })));
  });

  it('names the multiple at which the gain is gone', () => {
    const { breakEven, levels } = whole.feeStress!;
    const returns = levels.map((level) => level.returnPct!);
    expect(returns).toEqual(returns.toSorted((a, b) => b - a));
    if (breakEven !== null) expect(returns.at(-1)).toBeLessThanOrEqual(0);
    else expect(returns.at(-1)).toBeGreaterThan(0);
  });
});

describe('a later start', () => {
  it('gives the numbers of a backtest that starts there', () => {
    const { start } = baselineOf(context).input;
    for (const { bars: shift, ...run } of whole.startShift!.shifts)
      expect(run).toEqual(single(withConfig({ range: { start: bars.base.time[start + shift] } })));
  });
});

describe('the first later start', () => {
  /** Buys at row `row` of the bars and sells ten bars later, again and again from there. */
  const lateStrategy = (row: number) => ({
    ...crossing,
    strategy: {
      ...crossing.strategy,
      entry: {
        kind: 'entry',
        action: { side: 'long', sizing: { mode: 'percent_equity', value: 100 } },
        trigger: compare({ kind: 'series', name: 'row' }, 'gte', constant(row)),
      },
      exits: [],
      risk: { timeStop: { maxBars: 10 } },
    },
  }) as StrategyAst; // prettier-ignore
  const rows = new Map([['row', Float64Array.from({ length: 700 }, (_, row) => row)]]);
  const numbered = marketOf(700, 11, (row, noise) => 0.004 * Math.sin(row / 15) + 0.006 * noise, rows);

  it('leaves out the first signal that was traded, because an earlier one changes nothing', () => {
    const late = robustnessContext(lateStrategy(300), numbered, { spec: { analyses: ['startShift'] } });
    const { startShift, baseline } = checked(late);
    const { start } = baselineOf(late).input;
    expect(startShift!.shifts.map(({ bars: shift }) => shift)).toEqual(
      [1, 2, 3, 5, 8, 13, 21, 34, 55].map((shift) => 300 - start + shift),
    );
    for (const { returnPct } of startShift!.shifts) expect(returnPct).not.toBe(baseline.returnPct);
  });

  it('is not run where too little is left after the first signal', () => {
    const last = robustnessContext(lateStrategy(696), numbered, { spec: { analyses: ['startShift'] } });
    expect(checked(last).startShift!.shifts).toEqual([]);
  });
});

describe('a counterfactual', () => {
  it('gives the numbers of the strategy written without that part', () => {
    const rows = whole.counterfactuals!;
    expect(rows.map((row) => row.without)).toEqual(['fees', 'stopLoss', 'timeStop']);
    const { strategy } = crossing;
    const risks = { stopLoss: { timeStop: strategy.risk!.timeStop }, timeStop: { stopLoss: strategy.risk!.stopLoss } };
    for (const rule of ['stopLoss', 'timeStop'] as const) {
      const { without: _, ...run } = rows.find((row) => row.without === rule)!;
      const strategyAst = { ...crossing, strategy: { ...strategy, risk: risks[rule] } } as StrategyAst;
      expect(run).toEqual(single({ ...context.task, strategyAst }));
    }
  });

  it('says why a strategy that sizes by its stop cannot be run without it', () => {
    const { strategy } = crossing;
    const entry = strategy.entry as { action: object };
    const action = { ...entry.action, sizing: { mode: 'risk_percent', value: 1 } };
    const bySize = { ...crossing, strategy: { ...strategy, entry: { ...entry, action } } } as StrategyAst;
    const { counterfactuals } = checked(robustnessContext(bySize, bars, { spec: { analyses: ['counterfactuals'] } }));
    expect(counterfactuals!.find((row) => row.without === 'stopLoss')).toMatchObject({
      error: { code: 'SIZING_NEEDS_STOP' },
    });
  });
});

describe('Monte Carlo over trades', () => {
  /** Positions that earn these fractions of the balance, one after the other. */
  function runOf(returns: readonly number[]): CheckRun {
    const made = baselineOf(context);
    const log = new TradeLog();
    let balance = made.input.config.initialBalance;
    for (const [index, fraction] of returns.entries()) {
      const row = log.add('signal', { method: 'direct', resolution: '1h', policy: null, fineTime: null });
      log.numbers[row + TRADE.positionId] = index + 1;
      log.numbers[row + TRADE.exitRow] = 10 + index;
      log.numbers[row + TRADE.pnl] = balance * fraction;
      balance += balance * fraction;
    }
    return { ...made, simulation: { ...made.simulation, tradeLog: log } };
  }

  it('draws each of the four pairs of two positions about equally often', () => {
    const { samples, actual, resampled, shuffled } = monteCarlo(runOf([0.5, -0.2]), 1)!;
    expect(samples).toBe(2_000);
    expect(actual.returnPct).toBeCloseTo(0.2, 12);
    expect(actual.maxDrawdown).toBeCloseTo(0.2, 12);
    // Only twice the loss loses: 1.5 · 0.8 gains.
    expect(resampled.lossProbability).toBeGreaterThan(0.22);
    expect(resampled.lossProbability).toBeLessThan(0.28);
    expect(resampled.returnPct.p5).toBeCloseTo(-0.36, 12);
    expect(resampled.returnPct.p50).toBeCloseTo(0.2, 12);
    expect(resampled.returnPct.p95).toBeCloseTo(1.25, 12);
    expect(shuffled.maxDrawdown.p5).toBeCloseTo(0.2, 12);
  });

  it('finds the drawdowns of other orders of the same positions', () => {
    const { actual, shuffled } = monteCarlo(runOf([0.1, -0.1, 0.1, -0.1, 0.1, -0.1]), 1)!;
    expect(actual.maxDrawdown).toBeCloseTo(1 - 0.9 * 1.1 * 0.9 * 1.1 * 0.9, 12);
    expect(shuffled.maxDrawdown.p95).toBeCloseTo(1 - 0.9 ** 3, 12);
    expect(shuffled.maxDrawdown.count).toBe(2_000);
  });

  it('has nothing to say about one position', () => {
    expect(monteCarlo(runOf([0.1]), 1)).toBeNull();
  });
});

describe('the block bootstrap of bars', () => {
  const { base } = bars;
  const made = bootstrapMarket(bars, { end: 600, blockBars: 20, seed: 5, sample: 3 }).base;

  it('joins blocks of the same bars, each relative to the close before it', () => {
    expect(made.length).toBe(600);
    expect(made.time).toEqual(base.time.subarray(0, 600));
    const shape = (from: typeof base, row: number): number => from.close[row] / from.close[row - 1];
    const sources = Array.from({ length: 599 }, (_, row) => {
      const wanted = shape(made, row + 1);
      return base.close.findIndex((_close, at) => at > 0 && at < 600 && Math.abs(shape(base, at) - wanted) < 1e-12);
    });
    expect(sources.every((source) => source > 0)).toBe(true);
    for (let row = 1; row < sources.length; row++)
      if (row % 20 !== 0) expect(sources[row]).toBe((sources[row - 1] % 599) + 1);
    for (let row = 1; row < 600; row++) {
      const source = sources[row - 1];
      for (const column of ['open', 'high', 'low'] as const)
        expect(made[column][row] / made.close[row]).toBeCloseTo(base[column][source] / base.close[source], 10);
      expect(made.volume[row]).toBe(base.volume[source]);
    }
  });

  it('is drawn again by another sample, and has blocks of about the square root of the bars', () => {
    expect(bootstrapMarket(bars, { end: 600, blockBars: 20, seed: 5, sample: 4 }).base.close).not.toEqual(made.close);
    expect(defaultBlockBars(10_000)).toBe(100);
    expect(whole.blockBootstrap!.blockBars).toBe(defaultBlockBars(700));
  });
});

describe('what random variations are compared with', () => {
  it('is the run on the same bars without finer ones, as drawn histories have none', () => {
    const finer = { ...bars, fine: bars.base };
    const { blockBootstrap, baseline } = checked(
      robustnessContext(crossing, finer, { spec: { samples: 10, analyses: ['blockBootstrap'] } }),
    );
    expect(blockBootstrap!.original).toEqual(single(context.task));
    expect(blockBootstrap!.runs).toBe(10);
    expect(whole.blockBootstrap!.original).toEqual(whole.baseline);
    expect(whole.parameterJitter!.original).toEqual(whole.baseline);
    expect(Object.keys(blockBootstrap!.original!)).toEqual(Object.keys(baseline));
  });

  it('is measured at exits for the positions, as are the draws of them', () => {
    expect(whole.monteCarlo!.basis).toBe('exits');
    // Drawdowns inside positions are in the marked baseline, and not in the numbers at exits.
    expect(whole.monteCarlo!.actual.maxDrawdown).toBeLessThan(whole.baseline.maxDrawdown!);
    expect(whole.monteCarlo!.actual.returnPct).toBeCloseTo(whole.baseline.returnPct!, 12);
  });
});

describe('parameter jitter', () => {
  it('moves declared params within their bounds, whole ones to whole numbers', () => {
    const numbers = jitteredNumbers(context.task, 10);
    expect(numbers.map(({ name, low, high }) => [name, low, high])).toEqual([
      ['fast', 4, 6],
      ['slow', 18, 22],
      ['stop', 4.5, 5.5],
    ]);
    const drawn = Array.from({ length: 50 }, (_, sample) => jitteredTask(context.task, numbers, { seed: 1, sample }));
    const fast = new Set(drawn.map(({ config }) => config.params!.fast));
    expect(fast).toEqual(new Set([4, 5, 6]));
    for (const { config } of drawn) expect(Math.abs(Number(config.params!.stop) - 5)).toBeLessThanOrEqual(0.5);
  });

  it('moves the numbers of a strategy without params, equal nodes together and sizes not at all', () => {
    const average = { ...indicator('sma', { length: 20 }), id: 'average' };
    const strategyAst = {
      protocol: 'svc.strategy',
      version: 1,
      strategy: {
        kind: 'strategy',
        entry: {
          kind: 'entry',
          trigger: cross(field('close'), 'cross_up', average),
          action: { side: 'long', sizing: { mode: 'percent_equity', value: 50 } },
        },
        exits: [{ kind: 'exit', when: cross(field('close'), 'cross_down', average) }],
        risk: { stopLoss: { mode: 'percent', value: 4 } },
      },
    } as StrategyAst;
    const task = { ...context.task, strategyAst };
    const numbers = jitteredNumbers(task, 25);
    expect(numbers.map(({ value, low, high, pointers }) => [value, low, high, pointers!.length])).toEqual([
      [20, 15, 25, 2],
      [4, 3, 5, 1],
    ]);
    const { overrides } = jitteredTask(task, numbers, { seed: 1, sample: 0 }).config;
    expect(Object.keys(overrides!)).toHaveLength(3);
    const jittered = checked(
      robustnessContext(strategyAst, bars, { spec: { samples: 10, analyses: ['parameterJitter'] } }),
    );
    expect(jittered.parameterJitter).toMatchObject({ runs: 10, failed: 0 });
  });
});
