// Portfolio runs through the whole pipeline: what each instrument is given, when the run starts, and what ends it.
import { describe, expect, it } from 'vitest';
import { runBacktest, simulateTask } from '../../src/engine/backtest.ts';
import {
  createMarket,
  createUniverse,
  resolveConfig,
  type BacktestConfig,
  type StrategyAst,
} from '../../src/engine/index.ts';
import { ColumnStore } from '../../src/engine/evaluate/columnStore.ts';
import { SharedSpan } from '../../src/engine/kernels/sharedBuffer.ts';
import { preparePortfolio, simulatePrepared } from '../../src/engine/portfolioBacktest.ts';
import { completedPortfolio } from '../../src/engine/report/portfolio/completedPortfolio.ts';
import type { Snapshot } from '../../src/engine/bars/arrow.ts';
import { DAY_MS } from '../../src/engine/bars/bars.ts';
import type { CompletedRun } from '../../src/engine/report/simulatedRun.ts';
import { randomSnapshot, START, type BarsOptions } from '../support/bars.ts';
import { compare, cross, entry, exit, market, sma, strategy } from '../support/builders.ts';

const days = (from: number, count: number): number[] =>
  Array.from({ length: count }, (_, at) => START + (from + at) * DAY_MS);
const daily = (symbol: string, times: readonly number[], more: BarsOptions = {}): Snapshot =>
  randomSnapshot({ symbol, times, timeframe: '1d', seed: symbol.charCodeAt(0), ...more });

const CROSSING = strategy(undefined, {
  entry: entry(cross(sma(3), 'cross_up', sma(8)), {
    action: { side: 'long', sizing: { mode: 'percent_equity', value: 20 } },
  }),
  exits: [exit(cross(sma(3), 'cross_down', sma(8)))],
});
const COMMON = { timeframe: '1d', initialBalance: 10_000 } as const;
type Config = Partial<BacktestConfig>;
const taskOf = (config: Config, strategyAst: object = CROSSING) => ({
  id: 'portfolio',
  strategyAst: strategyAst as StrategyAst,
  settings: {},
  config: { ...COMMON, ...config },
  strategyHash: 'hash',
});
const listed = (symbols: readonly string[]) => symbols.map((symbol) => ({ symbol }));

function outcomeOf(snapshots: readonly Snapshot[], symbols: readonly string[], config: Config = {}, ast?: object) {
  const universe = createUniverse(snapshots, symbols, '1d');
  return runBacktest(taskOf({ instruments: listed(symbols), ...config }, ast), universe, null);
}
function completed(...given: Parameters<typeof outcomeOf>): CompletedRun {
  const outcome = outcomeOf(...given);
  if (!outcome.ok) throw new Error(JSON.stringify(outcome.error));
  return outcome;
}

const A = daily('A', days(0, 200));
const B = daily('B', days(60, 140));
const C = daily('C', days(0, 90));

describe('a portfolio run', () => {
  it('of one instrument on the general path is the single run', () => {
    const single = runBacktest(taskOf({ signalInstrument: { symbol: 'A' } }), createMarket([A], 'A', '1d'), null);
    if (!single.ok) throw new Error(single.error.message);
    // The config of the single run, on the path of several.
    const task = taskOf({ signalInstrument: { symbol: 'A' } });
    const universe = createUniverse([A], ['A'], '1d');
    const keeps = { orders: false, weights: false, conditions: true };
    const prepared = preparePortfolio(task, resolveConfig(task.config), universe, new ColumnStore(0), null, keeps);
    if (!prepared.ok) throw new Error(prepared.error.message);
    const { axis, start, end } = prepared.input;
    const simulated = { ...prepared, axis, start, end, ...simulatePrepared(prepared)! };
    const general = completedPortfolio(task, universe, simulated, new SharedSpan());
    expect(single.trades.length).toBeGreaterThan(5);
    expect(general.report.portfolio).toBeDefined();
    expect(general.trades).toEqual(single.trades);
    expect(general.summary).toEqual(single.summary);
    expect(general.resultHash).toBe(single.resultHash);
  });

  it('of one instrument with slots has its trades', () => {
    const single = runBacktest(taskOf({ signalInstrument: { symbol: 'A' } }), createMarket([A], 'A', '1d'), null);
    const general = completed([A], ['A'], { portfolio: { slots: 100 } });
    if (!single.ok) throw new Error(single.error.message);
    expect(general.trades).toEqual(single.trades);
  });

  it('of a list of one without settings is the single run with its hashes', () => {
    const single = runBacktest(taskOf({ signalInstrument: { symbol: 'A' } }), createMarket([A], 'A', '1d'), null);
    const one = completed([A], ['A']);
    if (!single.ok) throw new Error(single.error.message);
    expect(one.reproducibility).toEqual(single.reproducibility);
  });

  it('gives each instrument the trades that it has alone, while the account is never short of anything', () => {
    const fixed = strategy(undefined, {
      entry: entry(cross(sma(3), 'cross_up', sma(8)), {
        action: { side: 'long', sizing: { mode: 'fixed', value: 1 } },
      }),
      exits: [exit(cross(sma(3), 'cross_down', sma(8)))],
    });
    const together = completed([A, B, C], ['A', 'B', 'C'], {}, fixed);
    for (const [symbol, snapshot] of Object.entries({ A, B, C })) {
      const alone = runBacktest(
        taskOf({ signalInstrument: { symbol } }, fixed),
        createMarket([snapshot], symbol, '1d'),
        null,
      );
      if (!alone.ok) throw new Error(alone.error.message);
      const own = together.trades.filter((trade) => (trade as { symbol?: string }).symbol === symbol);
      expect(alone.trades.length).toBeGreaterThan(2);
      expect(own.map(({ entryTime, exitTime, pnl }) => [entryTime, exitTime, pnl])).toEqual(
        alone.trades.map(({ entryTime, exitTime, pnl }) => [entryTime, exitTime, pnl]),
      );
    }
  });

  it('starts at the first instant at which any instrument may signal, each after its own warm-up', () => {
    const { report } = completed([A, B], ['B', 'A']);
    const { axis, instruments } = report.portfolio!;
    const [ofB, ofA] = instruments;
    // The average of 8 bars has its first value on the eighth; a cross needs the one before, too.
    expect(ofA.input.start).toBe(8);
    expect(ofB.input.start).toBe(8);
    expect(axis.time[report.input.start]).toBe(START + 8 * DAY_MS);
    expect(report.input.end).toBe(200);
  });

  it('warns of an instrument without bars in the range, and fails only if none has any', () => {
    const range = { start: START + 100 * DAY_MS, end: START + 150 * DAY_MS };
    const { warnings, report } = completed([A, C], ['C', 'A'], { range });
    expect(warnings.map(({ code }) => code)).toContain('INSTRUMENT_WITHOUT_BARS');
    const [ofC] = report.portfolio!.instruments;
    expect([ofC.firstRow === ofC.endRow, ofC.input.start === ofC.input.end]).toEqual([true, true]);
    const later = { start: START + 900 * DAY_MS };
    expect(outcomeOf([A, C], ['C', 'A'], { range: later })).toMatchObject({ error: { code: 'RANGE_NO_DATA' } });
  });

  it('is refused when the quote currencies that are known differ', () => {
    const inEuro = daily('B', days(60, 140), { instrument: { quote: 'EUR' } });
    const inDollar = daily('A', days(0, 200), { instrument: { quote: 'USD' } });
    expect(outcomeOf([inDollar, inEuro], ['A', 'B'])).toMatchObject({
      ok: false,
      error: { code: 'QUOTE_CURRENCY_MIXED', path: '/config/instruments/1/symbol' },
    });
  });

  it('reads one named instrument for all, also on its own bars', () => {
    const onA = { kind: 'market', field: 'close', instrument: { symbol: 'A' } };
    const ast = strategy(undefined, { entry: entry(compare(market(), 'gt', onA)), exits: [] });
    const { trades } = completed([A, B], ['A', 'B'], {}, ast);
    // A is never above itself.
    expect(new Set(trades.map((trade) => (trade as { symbol?: string }).symbol))).toEqual(new Set(['B']));
    const other = { ...onA, instrument: { symbol: 'X' } };
    const missing = strategy(undefined, { entry: entry(compare(market(), 'gt', other)) });
    expect(outcomeOf([A, B], ['A', 'B'], {}, missing)).toMatchObject({ error: { code: 'SYMBOL_NOT_AVAILABLE' } });
  });

  it('is compared with the benchmark that the config names, and needs its bars', () => {
    const named = completed([A, B], ['A', 'B'], { benchmark: { symbol: 'A' } });
    expect(named.report.benchmark?.source.symbol).toBe('A');
    expect(outcomeOf([A, B], ['A', 'B'], { benchmark: { symbol: 'X' } })).toMatchObject({
      error: { code: 'SYMBOL_NOT_AVAILABLE', path: '/config/benchmark/symbol' },
    });
  });

  it('keeps orders and weights only for the artifacts that have them', () => {
    const universe = createUniverse([A, B], ['A', 'B'], '1d');
    const task = taskOf({ instruments: listed(['A', 'B']) });
    const kept = simulateTask(task, universe, null, true, true);
    const plain = simulateTask(task, universe, null, false);
    if (!kept.ok || !plain.ok) throw new Error('A run failed.');
    expect(kept.report.portfolio!.simulation.weights).not.toBeNull();
    expect(kept.report.portfolio!.simulation.orders).not.toBeNull();
    expect(plain.report.portfolio!.simulation.weights).toBeNull();
    expect(kept.resultHash).toBe(plain.resultHash);
  });

  it('stops when it is told to', () => {
    const universe = createUniverse([A, B], ['A', 'B'], '1d');
    const control = { isCancelled: () => true, report: () => undefined };
    const outcome = runBacktest(taskOf({ instruments: listed(['A', 'B']) }), universe, control);
    expect(outcome).toMatchObject({ ok: false, error: { code: 'CANCELLED' } });
  });
});

describe('a single run', () => {
  it('is compared with the benchmark of its config', () => {
    const both = createMarket([A, B], 'B', '1d');
    const plain = runBacktest(taskOf({ signalInstrument: { symbol: 'B' } }), both, null);
    const onA = { signalInstrument: { symbol: 'B' }, benchmark: { symbol: 'A' } };
    const compared = runBacktest(taskOf(onA), both, null);
    if (!plain.ok || !compared.ok) throw new Error('A run failed.');
    const held = (from: number, to: number): number => {
      const { open, close } = both.bars('A', '1d')!;
      return close[to] / open[from] - 1;
    };
    // B begins 60 days after A, and its warm-up takes eight bars.
    expect(compared.summary.buyHoldReturnPct).toBeCloseTo(held(68, 199), 12);
    expect(compared.summary.buyHoldReturnPct).not.toBe(plain.summary.buyHoldReturnPct);
    expect(compared.trades).toEqual(plain.trades);
  });

  it('that only takes one instrument refuses a list', () => {
    const task = taskOf({ instruments: listed(['A', 'B']) });
    expect(runBacktest(task, createMarket([A], 'A', '1d'), null)).toMatchObject({
      error: { code: 'INSTRUMENTS_INVALID', path: '/config/instruments' },
    });
  });
});
