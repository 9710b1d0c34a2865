// Compared runs: their numbers are those of the backtest, whatever is asked of them, over any part of the range.
import { describe, expect, it } from 'vitest';
import { runBacktest } from '../../src/engine/backtest.ts';
import type { Market, Universe } from '../../src/engine/bars/bars.ts';
import { openedMarkets, prepareComparedRun, type ComparedRun } from '../../src/engine/comparedRun.ts';
import type { BacktestConfig } from '../../src/engine/config.ts';
import { FLAT_KEYS, type FlatKey } from '../../src/engine/definitions/statistics/statistics.ts';
import { ColumnStore } from '../../src/engine/evaluate/columnStore.ts';
import { RunStopped } from '../../src/engine/evaluate/evaluatePlan.ts';
import { chosenSummary } from '../../src/engine/report/flatSummary.ts';
import { LentMemory } from '../../src/engine/simulate/lentMemory.ts';
import type { BacktestTask } from '../../src/engine/task.ts';
import { listOf, openMarket, PORTFOLIO_CONFIG, ROTATION, SLOTTED, SYMBOLS } from '../support/portfolioSweeps.ts';
import { CROSSING } from '../support/sweeps.ts';

const taskOf = (strategyAst: BacktestTask['strategyAst'], config: BacktestConfig): BacktestTask => ({
  id: 'compared',
  strategyAst,
  settings: {},
  config,
  strategyHash: 'hash',
});
const { instruments: _list, ...COMMON } = PORTFOLIO_CONFIG;
const CASES: Readonly<Record<string, BacktestTask>> = {
  'one instrument': taskOf(CROSSING as BacktestTask['strategyAst'], {
    ...COMMON,
    signalInstrument: { symbol: 'ADD' },
  }),
  'one instrument with a benchmark': taskOf(CROSSING as BacktestTask['strategyAst'], {
    ...COMMON,
    signalInstrument: { symbol: 'MID' },
    benchmark: { symbol: 'ZIP' },
  }),
  'a list of one': taskOf(CROSSING as BacktestTask['strategyAst'], { ...COMMON, instruments: listOf(['ADD']) }),
  'a rotation': taskOf(ROTATION, PORTFOLIO_CONFIG),
  'a rotation of one': taskOf(ROTATION, { ...PORTFOLIO_CONFIG, instruments: listOf(['MID']) }),
  'an account with slots': taskOf(SLOTTED, { ...PORTFOLIO_CONFIG, portfolio: { slots: 2 } }),
  'a portfolio with a benchmark': taskOf(CROSSING as BacktestTask['strategyAst'], {
    ...PORTFOLIO_CONFIG,
    benchmark: { symbol: 'ADD' },
  }),
};

function marketsOf({ config }: BacktestTask): Market | Universe {
  const markets = openedMarkets(config, openMarket);
  if ('code' in markets) throw new Error(markets.message);
  return markets;
}
function prepared(task: BacktestTask): ComparedRun {
  const run = prepareComparedRun(task, marketsOf(task), new ColumnStore(1 << 24), null);
  if ('code' in run) throw new Error(run.message);
  return run;
}
const ALL: ReadonlySet<FlatKey> = new Set(FLAT_KEYS);

/** Every number of the compared run, as a backtest stores it. */
function numbersOf(run: ComparedRun, wanted = ALL, memory?: LentMemory): Partial<Record<FlatKey, number | null>> {
  const reported = memory === undefined ? run.simulate() : run.simulate({ wanted, memory });
  const summary = chosenSummary(reported, null, wanted);
  return Object.fromEntries([...wanted].map((key) => [key, stored(summary[key])]));
}
const stored = (value: number | null | undefined): number | null =>
  value !== undefined && value !== null && Number.isFinite(value) ? value + 0 : null;

function backtestOf(task: BacktestTask): Partial<Record<FlatKey, number | null>> {
  const outcome = runBacktest(task, marketsOf(task), null);
  if (!outcome.ok) throw new Error(JSON.stringify(outcome.error));
  const { summary } = outcome;
  return Object.fromEntries(FLAT_KEYS.map((key) => [key, summary[key]]));
}
const day = (from: number): string => new Date(Date.UTC(2024, 0, 1 + from)).toISOString().slice(0, 10);

describe.each(Object.entries(CASES))('a compared run of %s', (_, task) => {
  it('has every number of the backtest', () => {
    const expected = backtestOf(task);
    expect(expected.totalPositions).toBeGreaterThan(0);
    expect(expected.totalNotional).toBeGreaterThan(10_000);
    expect(numbersOf(prepared(task))).toEqual(expected);
    expect(numbersOf(prepared(task), ALL, new LentMemory(Infinity))).toEqual(expected);
  });

  it('has each number when nothing else is read', () => {
    const run = prepared(task);
    const memory = new LentMemory(Infinity);
    const expected = backtestOf(task);
    for (const key of FLAT_KEYS) expect(numbersOf(run, new Set([key]), memory)).toEqual({ [key]: expected[key] });
  });

  it('narrowed has every number of the backtest over that range, with that balance', () => {
    const run = prepared(task);
    for (const [start, end] of [
      [day(200), day(380)],
      [null, day(300)],
      [day(420), null],
    ]) {
      const config = { ...task.config, range: { start, end }, initialBalance: 4_321 };
      const narrowed = run.narrow({ ...task, config });
      expect(numbersOf(narrowed)).toEqual(backtestOf({ ...task, config }));
      expect(narrowed.rows.end - narrowed.rows.start).toBeGreaterThan(100);
      // The run itself is as it was, and narrowing again begins at it.
      expect(narrowed.narrow(task).rows.end).toBe(run.rows.end);
    }
    expect(numbersOf(run)).toEqual(backtestOf(task));
  });

  it('narrowed to a range without bars has no rows', () => {
    const { rows } = prepared(task).narrow({ ...task, config: { ...task.config, range: { start: '2030-01-01' } } });
    expect(rows.end).toBe(rows.start);
  });

  it('stops when its control says so', () => {
    const control = { isCancelled: () => true };
    expect(() => prepareComparedRun(task, marketsOf(task), new ColumnStore(0), control)).toThrow(RunStopped);
  });

  it('lists its instruments in the order of the config', () => {
    const { config } = task;
    const symbols = config.instruments?.map(({ symbol }) => symbol) ?? [config.signalInstrument!.symbol];
    expect(prepared(task).instruments.map(({ symbol }) => symbol)).toEqual(symbols);
  });
});

describe('the markets of a config', () => {
  it('are refused at the instrument without bars', () => {
    const config = { ...COMMON, instruments: listOf([...SYMBOLS, 'NONE']) };
    expect(openedMarkets(config, openMarket)).toEqual({
      code: 'SYMBOL_NOT_AVAILABLE',
      path: `/config/instruments/${SYMBOLS.length}/symbol`,
      message: 'There are no 1d bars of NONE.',
    });
    expect(openedMarkets({ ...COMMON, signalInstrument: { symbol: 'NONE' } }, openMarket)).toMatchObject({
      path: '/config/signalInstrument/symbol',
    });
  });
});
