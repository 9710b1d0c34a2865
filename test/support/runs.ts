// Inputs of runs for tests: a small snapshot, configs, a strategy, and the bytes a database needs to know them.
import { makeSnapshot } from '../../src/market/snapshotFiles.ts';
import type { Snapshot } from '../../src/engine/bars/arrow.ts';
import { DAY_MS } from '../../src/engine/bars/bars.ts';
import type { StrategyAst } from '../../src/engine/language/grammar/ast.ts';
import type { PoolRun } from '../../src/engine/pool/messages.ts';
import type { BacktestConfig } from '../../src/engine/config.ts';
import { astOf, compare, entry, market } from './builders.ts';

export const STAND_IN_RUNNER = new URL('./standInRunner.ts', import.meta.url).href;
export const SYMBOL = 'SYN-TEST';

/** Daily bars from 2020-01-01, the close rising by one per day from 100. */
export function dailyColumns(bars: number) {
  const make = (value: (row: number) => number) => Float64Array.from({ length: bars }, (_, row) => value(row));
  const close = make((row) => 100 + row);
  return {
    time: make((row) => Date.UTC(2020, 0, 1) + row * DAY_MS),
    open: close,
    high: make((row) => 101 + row),
    low: make((row) => 99 + row),
    close,
    volume: make(() => 1),
    series: new Map<string, Float64Array>(),
  };
}

export const INSTRUMENT = {
  symbol: SYMBOL,
  base: 'SYN',
  quote: 'USD',
  tickSize: null,
  qtyStep: 1e-8,
  minNotional: 0,
  tradesAllDay: true,
  synthetic: true,
};

export const dailySnapshot = (bars: number): Snapshot =>
  makeSnapshot(dailyColumns(bars), { symbol: SYMBOL, timeframe: '1d', instrument: INSTRUMENT });

export const STRATEGY: StrategyAst = astOf({
  entry: entry(compare(market(), 'gt', 1), { action: { side: 'long', sizing: { mode: 'fixed', value: 1 } } }),
});

export function configOf(
  params: BacktestConfig['params'] = {},
): BacktestConfig & Pick<Required<BacktestConfig>, 'execution'> {
  return {
    timeframe: '1d',
    signalInstrument: { symbol: SYMBOL },
    initialBalance: 10_000,
    execution: {
      feeModel: {
        kind: 'tiered_maker_taker',
        tiers: [{ minCumulativeNotional: 0, makerRate: 0, takerRate: 0.001 }],
      },
      slippage: { kind: 'none' },
    },
    ...(Object.keys(params).length > 0 && { params }),
  };
}

export function poolRun(params: BacktestConfig['params'] = {}, snapshots: readonly number[] = [0]): PoolRun {
  const task = { id: 'run', strategyAst: STRATEGY, settings: {}, config: configOf(params), strategyHash: 'strategy' };
  return { task, snapshots };
}
