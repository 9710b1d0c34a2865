// Robustness checks of portfolios: every run of an analysis is the backtest that it stands for, whatever thread or part
// it is run in, and a list of one instrument is checked as that instrument.
import { describe, expect, it } from 'vitest';
import { runBacktest } from '../../../src/engine/backtest.ts';
import type { Universe } from '../../../src/engine/bars/bars.ts';
import { ColumnStore } from '../../../src/engine/evaluate/columnStore.ts';
import type { BacktestConfig, BacktestTask, StrategyAst } from '../../../src/engine/index.ts';
import { jitteredNumbers, jitteredTask } from '../../../src/engine/robustness/analyses/parameterJitter.ts';
import { runCountOf, runSteps, stepsOf } from '../../../src/engine/robustness/robustnessSteps.ts';
import {
  listOf,
  openMarket,
  PORTFOLIO_CONFIG,
  ROTATION,
  SLOTTED,
  SYMBOLS,
  UNNAMED_ROTATION,
} from '../../support/portfolioSweeps.ts';
import { baselineOf, checked, outcomesOf, robustnessContext } from '../../support/robustness.ts';
import { CROSSING } from '../../support/sweeps.ts';

const universeOf = (symbols: readonly string[]): Universe => ({
  instruments: symbols.map((symbol) => openMarket(symbol)!),
});
const universe = universeOf(SYMBOLS);
const LINKED = [
  ['MID', 'YET'],
  ['ADD', 'ZIP'],
];
const CASES: Readonly<Record<string, readonly [ast: StrategyAst, config: BacktestConfig]>> = {
  'an account with slots': [SLOTTED, { ...PORTFOLIO_CONFIG, portfolio: { slots: 2 } }],
  'linked instruments': [SLOTTED, { ...PORTFOLIO_CONFIG, portfolio: { slots: 4, linked: LINKED } }],
  'a rotation': [ROTATION, PORTFOLIO_CONFIG],
};

/** The same numbers from a single backtest. */
function single(task: BacktestTask, on: Universe = universe): Record<string, number | null> {
  const outcome = runBacktest(task, on, null);
  if (!outcome.ok) throw new Error(outcome.error.message);
  const { returnPct, excessReturnPct, sharpeRatio, maxDrawdown, totalPositions } = outcome.summary;
  return { returnPct, excessReturnPct, sharpeRatio, maxDrawdown, totalPositions };
}

describe.each(Object.entries(CASES))('a robustness check of %s', (_name, [ast, config]) => {
  const context = robustnessContext(ast, universe, { config, spec: { samples: 10 } });
  const whole = checked(context);
  const withConfig = (changed: Partial<BacktestConfig>): BacktestTask => ({
    ...context.task,
    config: { ...config, ...changed },
  });

  it('has the numbers of the backtest as its baseline', () => {
    expect(whole.baseline).toEqual(single(context.task));
    expect(whole.baseline.totalPositions).toBeGreaterThan(20);
  });

  it('gives the same result in any number of parts', () => {
    expect(checked(context, outcomesOf(context, 7))).toEqual(whole);
  });

  it('gives at each stressed cost the numbers of a backtest with that cost', () => {
    const tiers = [{ minCumulativeNotional: 0, makerRate: 0.0006, takerRate: 0.0015 }];
    const fees = whole.feeStress!.levels.find((level) => 'multiplier' in level && level.multiplier === 3)!;
    expect(fees).toEqual({
      multiplier: 3,
      ...single(withConfig({ execution: { ...config.execution!, feeModel: { kind: 'tiered_maker_taker', tiers } } })),
    });
    const slippage = whole.slippageStress!.levels.find((level) => 'multiplier' in level && level.multiplier === 5)!;
    const tenBps = { kind: 'fixed', unit: 'bps', value: 10 } as const;
    expect(slippage).toEqual({
      multiplier: 5,
      ...single(withConfig({ execution: { ...config.execution!, slippage: tenBps } })),
    });
  });

  it('starts later at instants of the axis', () => {
    const { start, bars } = baselineOf(context).input;
    const { shifts } = whole.startShift!;
    expect(shifts.length).toBeGreaterThan(5);
    for (const { bars: shift, ...run } of shifts)
      expect(run).toEqual(single(withConfig({ range: { start: bars.time[start + shift] } })));
  });

  it('gives for drawn numbers the backtest with them, none of which is invalid', () => {
    const { jitterPercent, seed } = context.spec;
    const numbers = jitteredNumbers(context.task, jitterPercent);
    const runs = Array.from({ length: 10 }, (_, sample) =>
      single(jitteredTask(context.task, numbers, { seed, sample })),
    );
    const steps = stepsOf(context).flatMap(({ analysis }, at) => (analysis === 'parameterJitter' ? [at] : []));
    const outcomes = outcomesOf(context);
    expect(steps.map((at) => outcomes[at])).toEqual(runs.map((run) => ({ kind: 'run', outcome: { ok: true, run } })));
    expect(whole.parameterJitter).toMatchObject({ runs: 10, failed: 0 });
  });

  it('passes both audits, on instruments that begin later, pause and end early', () => {
    expect(whole.lookAheadAudit).toMatchObject({ passed: true, signalsDiffering: 0, equityDiffering: 0 });
    expect(whole.lookAheadAudit!.cuts).toBeGreaterThan(10);
    expect(whole.lookAheadAudit!.tradesCompared).toBeGreaterThan(100);
    expect(whole.warmUpAudit).toMatchObject({ passed: true });
  });

  it('counts its runs before they are made', () => {
    const { feeStress, slippageStress, counterfactuals } = whole;
    const others = 1 + 9 + 8 + 1 + 11 + 10 + 10;
    expect(runCountOf(context)).toBe(
      others + feeStress!.levels.length + slippageStress!.levels.length + counterfactuals!.length,
    );
  });
});

describe('a counterfactual of a portfolio', () => {
  it('gives the numbers of the strategy written without that part', () => {
    const [ast, config] = CASES['an account with slots'];
    const context = robustnessContext(ast, universe, { config, spec: { analyses: ['counterfactuals'] } });
    const rows = checked(context).counterfactuals!;
    expect(rows.map((row) => row.without)).toEqual(['fees', 'slippage', 'stopLoss']);
    const strategyAst = { ...ast, strategy: { ...ast.strategy, risk: {} } };
    expect(rows[2]).toEqual({ without: 'stopLoss', ...single({ ...context.task, strategyAst }) });
    const free = { ...config, execution: { ...config.execution!, slippage: { kind: 'none' } as const } };
    expect(rows[1]).toEqual({ without: 'slippage', ...single({ ...context.task, config: free }) });
  });

  it('takes a stop from the holdings of a rotation', () => {
    const { strategy } = ROTATION as StrategyAst;
    const stopped = {
      ...ROTATION,
      strategy: { ...strategy, risk: { stopLoss: { mode: 'percent', value: 3 } } },
    } as StrategyAst;
    const given = { config: PORTFOLIO_CONFIG, spec: { analyses: ['counterfactuals' as const] } };
    const rows = checked(robustnessContext(stopped, universe, given)).counterfactuals!;
    const context = robustnessContext(ROTATION, universe, given);
    expect(rows.find((row) => row.without === 'stopLoss')).toEqual({ without: 'stopLoss', ...single(context.task) });
    expect(baselineOf(robustnessContext(stopped, universe, given)).simulation.trades.length).toBeGreaterThan(0);
  });
});

describe('a robustness check of a list of one instrument', () => {
  const { instruments: _, ...common } = PORTFOLIO_CONFIG;
  const asSingle = robustnessContext(CROSSING as StrategyAst, openMarket('MID')!, {
    config: { ...common, signalInstrument: { symbol: 'MID' } },
    spec: { samples: 10 },
  });

  it('is that of the instrument', () => {
    const config = { ...common, instruments: listOf(['MID']) };
    const list = robustnessContext(CROSSING as StrategyAst, universeOf(['MID']), { config, spec: { samples: 10 } });
    expect(checked(list)).toEqual(checked(asSingle));
  });

  it('has its numbers with slots that bind nothing, where it is simulated as a portfolio', () => {
    const config = { ...common, instruments: listOf(['MID']), portfolio: { slots: 9 } };
    const list = robustnessContext(CROSSING as StrategyAst, universeOf(['MID']), { config, spec: { samples: 10 } });
    // Its look-ahead audit compares up to the cut itself, and so one mark more per cut.
    const { lookAheadAudit, ...others } = checked(list);
    const { lookAheadAudit: audit, ...expected } = checked(asSingle);
    expect(others).toEqual(expected);
    expect(lookAheadAudit).toEqual({ ...audit, tradesCompared: expect.any(Number) });
    expect(lookAheadAudit!.tradesCompared).toBeGreaterThan(10);
  });
});

describe('the jitter of a rotation without params', () => {
  it('gives runs of which none is invalid', () => {
    const context = robustnessContext(UNNAMED_ROTATION, universe, {
      config: PORTFOLIO_CONFIG,
      spec: { samples: 40, analyses: ['parameterJitter'] },
    });
    expect(checked(context).parameterJitter).toMatchObject({ runs: 40, failed: 0 });
  });
});

describe('a step of a check of a portfolio', () => {
  it('stops in the middle of a run when it is told to', () => {
    const { task, spec } = robustnessContext(ROTATION, universe, {
      config: PORTFOLIO_CONFIG,
      spec: { analyses: ['lookAheadAudit'] },
    });
    let polls = 0;
    const run = (most: number) => {
      polls = 0;
      const control = { isCancelled: () => ++polls > most, mayTake: () => 'yes' as const, report: () => {} };
      return runSteps({ task, spec }, { first: 1, last: 2 }, openMarket, new ColumnStore(0), control);
    };
    expect(run(Infinity)).toMatchObject([{ kind: 'lookAheadAudit', value: { passed: true } }]);
    const all = polls;
    expect(all).toBeGreaterThan(100);
    for (const most of [1, 10, all >> 1, all - 1]) {
      expect(run(most), `after ${most} of ${all}`).toBeNull();
      expect(polls).toBe(most + 1);
    }
  });

  it('fails where an instrument has no bars, and names it', () => {
    const { task, spec } = robustnessContext(ROTATION, universe, {
      config: { ...PORTFOLIO_CONFIG, instruments: listOf(['MID', 'NONE']) },
    });
    const steps = runSteps({ task, spec }, { first: 0, last: 1 }, openMarket, new ColumnStore(0), null);
    expect(steps).toMatchObject([
      { kind: 'failed', error: { code: 'SYMBOL_NOT_AVAILABLE', path: '/config/instruments/1/symbol' } },
    ]);
  });
});
