// Rotations through the whole pipeline: the strategies of an allocation as an author sends them, and what they hold.
import { describe, expect, it } from 'vitest';
import { runBacktest } from '../../src/engine/backtest.ts';
import { createMarket, createUniverse, type BacktestConfig, type StrategyAst } from '../../src/engine/index.ts';
import { DAY_MS, type Bars } from '../../src/engine/bars/bars.ts';
import type { Snapshot } from '../../src/engine/bars/arrow.ts';
import type { CompletedRun } from '../../src/engine/report/simulatedRun.ts';
import { randomSnapshot, START } from '../support/bars.ts';
import { astOf, compare, constant, indicator, market, type Json } from '../support/builders.ts';

const DAYS = 400;
const daily = (symbol: string, seed: number): Snapshot =>
  randomSnapshot({
    symbol,
    times: Array.from({ length: DAYS }, (_, at) => START + at * DAY_MS),
    timeframe: '1d',
    seed,
  });
const SYMBOLS = ['SPY', 'EFA', 'BND'];
const UNIVERSE = SYMBOLS.map((symbol, at) => daily(symbol, at + 3));
const bars = (symbol: string): Bars => createMarket(UNIVERSE, symbol, '1d').base;

/** The first bar of a month. */
const month: Json = { kind: 'time', field: 'month' };
const monthFirst = compare(month, 'neq', { kind: 'shift', source: month, offset: 1 });
const roc = indicator('roc', { length: 60 });
const strategyOf = (allocation: object): Json =>
  astOf({ allocation: { kind: 'allocation', when: monthFirst, ...allocation } });

const DUAL_MOMENTUM = strategyOf({
  long: { by: roc, top: 1, require: compare(roc, 'gt', constant(0)) },
  fallback: 'BND',
});
const INVERSE_VOLATILITY = strategyOf({
  long: {},
  weights: {
    mode: 'inverse',
    by: { kind: 'rolling', op: 'std', period: 20, source: { kind: 'percent_change', bars: 1, source: market() } },
    maxPercent: 40,
  },
});
const SIXTY_FORTY = strategyOf({
  long: {},
  weights: { mode: 'fixed', values: { SPY: 60, BND: 40 } },
  bandPercent: 5,
});

function run(strategyAst: Json, config: Partial<BacktestConfig> = {}, symbols = SYMBOLS): CompletedRun {
  const task = {
    id: 'rotation',
    strategyAst: strategyAst as StrategyAst,
    settings: {},
    config: {
      timeframe: '1d' as const,
      initialBalance: 10_000,
      instruments: symbols.map((symbol) => ({ symbol })),
      ...config,
    },
    strategyHash: 'hash',
  };
  const outcome = runBacktest(task, createUniverse(UNIVERSE, symbols, '1d'), null);
  if (!outcome.ok) throw new Error(JSON.stringify(outcome.error));
  return outcome;
}

/** Rows at whose close a month has begun, from the end of the warm-up to the bar before the last. */
function rebalanceRows(warmup: number): number[] {
  const monthOf = (row: number): number => new Date(START + row * DAY_MS).getUTCMonth();
  return Array.from({ length: DAYS - 1 }, (_, row) => row).filter(
    (row) => row >= Math.max(1, warmup) && monthOf(row) !== monthOf(row - 1),
  );
}

type Amounts = Record<string, number>;
const CLOSES = new Map(SYMBOLS.map((symbol) => [symbol, bars(symbol).close]));
const OPENS = new Map(SYMBOLS.map((symbol) => [symbol, bars(symbol).open]));
const rise = (symbol: string, row: number): number => CLOSES.get(symbol)![row] / CLOSES.get(symbol)![row - 60] - 1;

/** The equity at every close of an account without costs that is rebalanced at those rows. @param band a fraction */
function played(rows: readonly number[], weightsAt: (row: number) => Amounts, band = 0): number[] {
  let cash = 10_000;
  const held: Amounts = Object.fromEntries(SYMBOLS.map((symbol) => [symbol, 0]));
  const equity: number[] = [];
  const worth = (row: number): number =>
    SYMBOLS.reduce((sum, symbol) => sum + held[symbol] * CLOSES.get(symbol)![row], cash);
  let wanted: Amounts | null = null;
  for (let row = 0; row < DAYS; row++) {
    if (wanted !== null) {
      const missing = SYMBOLS.map((symbol) => (wanted![symbol] ?? 0) / OPENS.get(symbol)![row] - held[symbol]);
      const trade = (at: number, units: number): void => {
        held[SYMBOLS[at]] += units;
        cash -= units * OPENS.get(SYMBOLS[at])![row];
      };
      missing.forEach((units, at) => units < 0 && trade(at, units));
      const cost = missing.reduce((sum, units, at) => sum + Math.max(0, units) * OPENS.get(SYMBOLS[at])![row], 0);
      const factor = Math.min(1, cash / cost);
      missing.forEach((units, at) => units > 0 && trade(at, units * factor));
      wanted = null;
    }
    equity.push(worth(row));
    if (!rows.includes(row)) continue;
    const weights = weightsAt(row);
    const isOff = SYMBOLS.some((symbol) => {
      const weight = (held[symbol] * CLOSES.get(symbol)![row]) / worth(row);
      const target = weights[symbol] ?? 0;
      return (weight === 0) !== (target === 0) || Math.abs(target - weight) > band;
    });
    if (isOff)
      wanted = Object.fromEntries(Object.entries(weights).map(([symbol, part]) => [symbol, part * worth(row)]));
  }
  return equity;
}

/** The same at the last bar of a month, which the calendar knows. */
const lastRows = (): number[] =>
  Array.from({ length: DAYS - 1 }, (_, row) => row).filter(
    (row) => new Date(START + row * DAY_MS).getUTCMonth() !== new Date(START + (row + 1) * DAY_MS).getUTCMonth(),
  );

/** Equity from the end of the warm-up on, to compare. */
function expectEquity({ report }: CompletedRun, expected: readonly number[]): void {
  const { equity } = report.portfolio!.simulation;
  const skipped = expected.length - equity.length;
  const off = [...equity].findIndex((value, at) => Math.abs(value - expected[at + skipped]) > 1e-6);
  expect(off).toBe(-1);
  expect(Math.abs(equity.at(-1)! - 10_000)).toBeGreaterThan(1);
}

describe('dual momentum', () => {
  const rows = rebalanceRows(60);
  const wantedAt = (row: number): string => {
    const strongest = rise('SPY', row) >= rise('EFA', row) ? 'SPY' : 'EFA';
    return rise(strongest, row) > 0 ? strongest : 'BND';
  };

  it('holds the strongest, or the fallback while the strongest falls', () => {
    expect(new Set(rows.map(wantedAt)).size).toBeGreaterThan(1);
    const outcome = run(DUAL_MOMENTUM);
    expectEquity(
      outcome,
      played(rows, (row) => ({ [wantedAt(row)]: 1 })),
    );
    const reasons = outcome.trades.map(({ exitReason }) => exitReason);
    expect(reasons).toContain('dropped');
    expect(new Set(outcome.trades.map(({ entryRule }) => entryRule))).toEqual(
      new Set(['/strategyAst/strategy/allocation']),
    );
  });

  it('is in cash instead where there is no fallback', () => {
    const { fallback: _, ...allocation } = DUAL_MOMENTUM.strategy.allocation;
    const inCash = astOf({ allocation });
    expectEquity(
      run(inCash),
      played(
        // BND is ranked as well then.
        rows,
        (row) => {
          const [strongest] = SYMBOLS.toSorted((a, b) => rise(b, row) - rise(a, row));
          return rise(strongest, row) > 0 ? { [strongest]: 1 } : {};
        },
      ),
    );
  });
});

describe('inverse volatility', () => {
  it('weighs by 1 / deviation, none above its cap', () => {
    const deviation = (symbol: string, row: number): number => {
      const close = CLOSES.get(symbol)!;
      const changes = Array.from({ length: 20 }, (_, at) => (close[row - at] / close[row - at - 1] - 1) * 100);
      const mean = changes.reduce((a, b) => a + b) / 20;
      return Math.sqrt(changes.reduce((sum, each) => sum + (each - mean) ** 2, 0) / 19);
    };
    const weightsAt = (row: number): Amounts => {
      const parts = SYMBOLS.map((symbol) => 1 / deviation(symbol, row));
      const total = parts.reduce((a, b) => a + b);
      let weights = parts.map((part) => part / total);
      // Three instruments and a cap of 40 %: at most two can be above, one after the other.
      for (let pass = 0; pass < 3; pass++) {
        const free = weights.map((weight, at) => (weight < 0.4 ? parts[at] : 0));
        const left = 1 - 0.4 * free.filter((part) => part === 0).length;
        const sum = free.reduce((a, b) => a + b, 0);
        weights = weights.map((weight, at) => (weight >= 0.4 ? 0.4 : (left * free[at]) / sum));
      }
      return Object.fromEntries(SYMBOLS.map((symbol, at) => [symbol, weights[at]]));
    };
    const rows = rebalanceRows(20);
    expect(rows.some((row) => Object.values(weightsAt(row)).includes(0.4))).toBe(true);
    expectEquity(run(INVERSE_VOLATILITY), played(rows, weightsAt));
  });
});

describe('60/40 with a band', () => {
  it('trades only in months in which a weight is off by more than the band', () => {
    const outcome = run(SIXTY_FORTY);
    expectEquity(
      outcome,
      played(rebalanceRows(0), () => ({ SPY: 0.6, BND: 0.4 }), 0.05),
    );
    const months = new Set(
      outcome.trades.filter(({ exitReason }) => exitReason === 'rebalance').map(({ exitTime }) => exitTime),
    );
    expect(months.size).toBeGreaterThan(0);
    expect(months.size).toBeLessThan(rebalanceRows(0).length - 1);
  });

  it('rebalances at the last bar of every month by a schedule', () => {
    const { allocation } = SIXTY_FORTY.strategy;
    const scheduled = astOf({ allocation: { ...allocation, when: { kind: 'schedule', every: 'month', on: 'last' } } });
    expectEquity(
      run(scheduled),
      played(lastRows(), () => ({ SPY: 0.6, BND: 0.4 }), 0.05),
    );
  });

  it('is refused with a symbol that is not in the list', () => {
    const refused = (config: object): Json => {
      const task = { id: 'x', strategyAst: SIXTY_FORTY as StrategyAst, settings: {}, strategyHash: '' };
      const full = { timeframe: '1d' as const, initialBalance: 1, ...config };
      const outcome = runBacktest({ ...task, config: full }, createUniverse(UNIVERSE, ['SPY', 'EFA'], '1d'), null);
      return outcome.ok ? null : outcome.error;
    };
    expect(refused({ instruments: [{ symbol: 'SPY' }, { symbol: 'EFA' }] })).toMatchObject({
      path: '/strategyAst/strategy/allocation/weights/values/BND',
    });
  });
});
