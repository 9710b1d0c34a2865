// Portfolios for sweeps: a rotation and an account of slots with params, and markets that begin, pause and end apart.
import type { BacktestConfig } from '../../src/engine/config.ts';
import { DAY_MS, type Market } from '../../src/engine/bars/bars.ts';
import type { Snapshot } from '../../src/engine/bars/arrow.ts';
import { createMarket } from '../../src/engine/bars/market.ts';
import { ColumnStore } from '../../src/engine/evaluate/columnStore.ts';
import { sweepContext, type SweepContext } from '../../src/engine/sweep/shard.ts';
import { planSweep } from '../../src/engine/sweep/sweepJob.ts';
import { SweepSpec } from '../../src/engine/sweep/sweepRequest.ts';
import { randomSnapshot, START } from './bars.ts';
import { astOf, compare, constant, cross, entry, exit, indicator, type Json } from './builders.ts';
import { compiled } from './sweeps.ts';

const days = (from: number, count: number): number[] =>
  Array.from({ length: count }, (_, at) => START + (from + at) * DAY_MS);

const SNAPSHOTS: readonly Snapshot[] = Object.entries({
  MID: days(0, 700),
  ADD: days(150, 550),
  ZIP: days(0, 700).filter((_, day) => day % 5 !== 0),
  END: days(0, 400),
  YET: days(0, 700),
  WAX: days(40, 660),
}).map(([symbol, times], seed) => randomSnapshot({ symbol, times, timeframe: '1d', seed: seed + 3 }));

/** Six instruments: one begins later, one has gaps, one ends early. They are not in the order of their symbols. */
export const SYMBOLS = SNAPSHOTS.map(({ meta }) => meta.symbol);
const MARKETS = new Map(SYMBOLS.map((symbol) => [symbol, createMarket(SNAPSHOTS, symbol, '1d')]));
export const openMarket = (symbol: string): Market | undefined => MARKETS.get(symbol);
export const listOf = (symbols: readonly string[]) => symbols.map((symbol) => ({ symbol }));

const momentum = indicator('roc', { length: { param: 'lookback' } });

/** Holds the strongest by their return, and those that stay near the top. */
export const ROTATION: Json = astOf({
  params: [
    { name: 'top', type: 'int', default: 2, min: 1, max: 10 },
    { name: 'keep', type: 'int', default: 3, min: 1, max: 20 },
    { name: 'lookback', type: 'int', default: 40, min: 2, max: 300 },
    { name: 'band', type: 'float', default: 0, min: 0, max: 50 },
  ],
  allocation: {
    kind: 'allocation',
    when: { kind: 'schedule', every: 'week', on: 'last' },
    long: {
      by: momentum,
      top: { param: 'top' },
      keepWithin: { param: 'keep' },
      where: compare(momentum, 'gt', constant(-50)),
    },
    bandPercent: { param: 'band' },
  },
});

/** Rebalances every 20 bars between two legs, without a param. */
export const UNNAMED_ROTATION: Json = astOf({
  allocation: {
    kind: 'allocation',
    when: { kind: 'schedule', everyBars: 20 },
    long: { by: indicator('roc', { length: 60 }), top: 2, keepWithin: 3 },
    short: { by: indicator('roc', { length: 60 }), bottomPercent: 96 },
    weights: { mode: 'inverse', by: indicator('atr', { length: 20 }), maxPercent: 40, grossPercent: 90 },
    bandPercent: 5,
  },
});

const average = (param: string): Json => indicator('sma', { length: { param } });

/** Buys crossings with equal parts of the account, the steepest first. */
export const SLOTTED: Json = astOf({
  params: [
    { name: 'fast', type: 'int', default: 5, min: 1, max: 100 },
    { name: 'slow', type: 'int', default: 20, min: 1, max: 200 },
    { name: 'stop', type: 'float', default: 8, min: 0.1, max: 50 },
  ],
  entry: entry(cross(average('fast'), 'cross_up', average('slow')), {
    action: { side: 'long', sizing: { mode: 'equal_slots' } },
    rank: indicator('roc', { length: 10 }),
  }),
  exits: [exit(cross(average('fast'), 'cross_down', average('slow')))],
  risk: { stopLoss: { mode: 'percent', value: { param: 'stop' } } },
});

export const PORTFOLIO_CONFIG: BacktestConfig = {
  timeframe: '1d',
  instruments: listOf(SYMBOLS),
  initialBalance: 10_000,
  execution: {
    feeModel: {
      kind: 'tiered_maker_taker',
      tiers: [{ minCumulativeNotional: 0, makerRate: 0.0002, takerRate: 0.0005 }],
    },
    slippage: { kind: 'fixed', unit: 'bps', value: 2 },
  },
};

/** A sweep of portfolios in this thread; `given.config` replaces members of the common config, or all of it. */
export function portfolioContext(strategyAst: object, given: Json, common: object = PORTFOLIO_CONFIG): SweepContext {
  const spec = SweepSpec.parse({ ...given, config: { ...common, ...given.config } });
  const planned = planSweep(compiled(strategyAst), spec);
  if (!planned.ok) throw new Error(JSON.stringify(planned.faults));
  return sweepContext(planned.job, openMarket, new ColumnStore(64 << 20));
}
