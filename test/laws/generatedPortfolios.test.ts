// Whole portfolio runs of generated strategies, from the payload to the trades: of one instrument they are the single
// run by the path of several, and nothing looks ahead across instruments.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Snapshot } from '../../src/engine/bars/arrow.ts';
import { DAY_MS } from '../../src/engine/bars/bars.ts';
import { ColumnStore } from '../../src/engine/evaluate/columnStore.ts';
import {
  createMarket,
  createUniverse,
  resolveConfig,
  runBacktest,
  type BacktestConfig,
  type StrategyAst,
} from '../../src/engine/index.ts';
import { SharedSpan } from '../../src/engine/kernels/sharedBuffer.ts';
import { preparePortfolio, simulatePrepared } from '../../src/engine/portfolioBacktest.ts';
import { completedPortfolio } from '../../src/engine/report/portfolio/completedPortfolio.ts';
import { makeInstrument } from '../../src/market/instrument.ts';
import { makeSnapshot } from '../../src/market/snapshotFiles.ts';
import { randomColumns, randomSnapshot, START } from '../support/bars.ts';
import { object } from '../support/expressions.ts';
import { scaled } from '../support/scale.ts';
import { ALL_CONDITION_KINDS, ALL_VALUE_KINDS, strategyArbitrary, type AnyKind } from '../support/strategies.ts';

const SEED = 20_261_207;
const DAYS = 160;
/** These are true often, and trade. */
const BUSY: readonly AnyKind[] = ['const', 'market', 'compare', 'cross_section', 'schedule', 'any', 'not'];
const STATELESS = [...ALL_VALUE_KINDS, ...ALL_CONDITION_KINDS].filter((kind) => kind !== 'state');
const PRICES = { price: { min: 70, max: 130 } };

const days = (from: number, to: number, isOpen: (day: number) => boolean = () => true): number[] =>
  Array.from({ length: to - from }, (_, at) => START + (from + at) * DAY_MS).filter((_, at) => isOpen(from + at));
/** All days; five days a week with holes; one that begins late; one that ends early. */
const TIMES: Readonly<Record<string, readonly number[]>> = {
  DELTA: days(0, DAYS),
  ALPHA: days(0, DAYS, (day) => day % 7 < 5 && day % 23 !== 4),
  FOX: days(60, DAYS),
  BRAVO: days(0, 100),
};
const SYMBOLS = Object.keys(TIMES);
const model = Array.from({ length: DAYS }, (_, row) => (row % 17 === 0 ? NaN : 90 + (row % 23)));
const about = (symbol: string) => ({ symbol, timeframe: '1d' as const, seed: symbol.charCodeAt(0) });
const optionsOf = (symbol: string) => ({
  ...about(symbol),
  times: TIMES[symbol],
  series: { model: model.slice(0, TIMES[symbol].length) },
  instrument: { qtyStep: 0.001, tradesAllDay: symbol !== 'ALPHA' },
});
const SNAPSHOTS = new Map(SYMBOLS.map((symbol) => [symbol, randomSnapshot(optionsOf(symbol))]));

type Shared = Omit<BacktestConfig, 'timeframe' | 'signalInstrument' | 'instruments' | 'initialBalance'>;
const configs: fc.Arbitrary<Shared> = fc.record({
  execution: fc.record({
    orderTiming: fc.constantFrom('next_open' as const, 'bar_close' as const),
    slippage: fc.constantFrom(
      { kind: 'none' } as const,
      { kind: 'fixed', unit: 'bps', value: 5 } as const,
      { kind: 'volatility_scaled', reference: 'atr_pct', multiplier: 0.1 } as const,
    ),
    feeModel: fc.constant({
      kind: 'tiered_maker_taker' as const,
      tiers: [
        { minCumulativeNotional: 0, makerRate: 0.0002, takerRate: 0.001 },
        { minCumulativeNotional: 30_000, makerRate: -0.0001, takerRate: 0.0005 },
      ],
    }),
  }),
  ambiguityResolution: fc.constantFrom('multi_resolution', 'pessimistic', 'optimistic', 'bar_direction', 'distance'),
  ambiguityFallback: fc.constantFrom('pessimistic', 'optimistic'),
  leverage: fc.constantFrom(1, 1, 3, 20),
  fundingRate: fc.constantFrom(0, 0.0001),
}) as fc.Arbitrary<Shared>;

const taskOf = (strategyAst: StrategyAst, config: object) => ({
  id: 'law',
  strategyAst,
  settings: {},
  config: { timeframe: '1d', initialBalance: 10_000, ...config } as BacktestConfig,
  strategyHash: 'hash',
});

/** A run on the path of several instruments, whatever their number. */
function simulated(ast: StrategyAst, config: object, snapshots: readonly Snapshot[], symbols: readonly string[]) {
  const task = taskOf(ast, config);
  const universe = createUniverse([...snapshots], [...symbols], '1d');
  const resolved = resolveConfig(task.config, ast.strategy.allocation !== undefined);
  const keeps = { orders: true, weights: true, conditions: true };
  const prepared = preparePortfolio(task, resolved, universe, new ColumnStore(0), null, keeps);
  if (!prepared.ok) throw new Error(`${prepared.error.message} ${JSON.stringify(prepared.error)}`);
  return { task, universe, prepared, ...simulatePrepared(prepared)! };
}

describe('a portfolio of one instrument on the path of several', { timeout: 600_000 }, () => {
  const kinds = fc.constantFrom<readonly AnyKind[] | undefined>(undefined, BUSY);
  const strategies = kinds.chain((some) =>
    strategyArbitrary({ ...PRICES, timeframes: ['1d'], symbols: ['DELTA'], ...(some && { kinds: some, depth: 2 }) }),
  );
  const conditions = { orders: false, weights: false, conditions: true };

  it('has the trades, the summary and the result hash of the single run', () => {
    const own = [SNAPSHOTS.get('DELTA')!];
    let traded = 0;
    fc.assert(
      fc.property(strategies, configs, (ast, config) => {
        const task = taskOf(ast, { ...config, signalInstrument: { symbol: 'DELTA' } });
        const single = runBacktest(task, createMarket(own, 'DELTA', '1d'), null);
        if (!single.ok) throw new Error(single.error.message);
        const universe = createUniverse(own, ['DELTA'], '1d');
        const prepared = preparePortfolio(
          task,
          resolveConfig(task.config),
          universe,
          new ColumnStore(0),
          null,
          conditions,
        );
        if (!prepared.ok) throw new Error(prepared.error.message);
        const { axis, start, end } = prepared.input;
        const run = { ...prepared, axis, start, end, ...simulatePrepared(prepared)! };
        const general = completedPortfolio(task, universe, run, new SharedSpan());
        expect(general.report.portfolio).toBeDefined();
        expect(general.trades).toEqual(single.trades);
        expect(general.summary).toEqual(single.summary);
        expect(general.resultHash).toBe(single.resultHash);
        if (single.trades.length > 0) traded++;
      }),
      { numRuns: scaled(5_000), seed: SEED },
    );
    expect(traded).toBeGreaterThan(scaled(5_000) / 5);
  });
});

describe('prices of one instrument after an instant', { timeout: 600_000 }, () => {
  /** Other prices from a time on, at the same instants. */
  function changed(symbol: string, from: number): Snapshot {
    const options = optionsOf(symbol);
    const columns = randomColumns(options);
    const moved = (column: Float64Array, factor: number): Float64Array =>
      column.map((value, row) => (columns.time[row] < from ? value : value * factor));
    const { open, high, low, close, volume } = columns;
    const later = {
      ...columns,
      open: moved(open, 1.5),
      high: moved(high, 1.75),
      low: moved(low, 0.75),
      close: moved(close, 1.25),
      volume: moved(volume, 3),
    };
    const instrument = { ...makeInstrument(symbol), ...options.instrument };
    return makeSnapshot(later, { symbol, timeframe: '1d', instrument });
  }

  const portfolios = fc.constantFrom({}, { portfolio: { slots: 2 } }, { portfolio: { linked: [['DELTA', 'ALPHA']] } });
  const cuts = fc.record({ symbol: fc.constantFrom(...SYMBOLS), day: fc.integer({ min: 30, max: DAYS - 1 }) });

  /** Counts what happened before the change. */
  function expectSameBefore(ast: StrategyAst, config: object, symbol: string, day: number): number {
    const from = START + day * DAY_MS;
    const common = { ...config, instruments: SYMBOLS.map((each) => ({ symbol: each })) };
    const later = new Map(SNAPSHOTS).set(symbol, changed(symbol, from));
    const [one, other] = [SNAPSHOTS, later].map((snapshots) => {
      const { prepared, simulation } = simulated(ast, common, [...snapshots.values()], SYMBOLS);
      const { axis, start } = prepared.input;
      const isBefore = (instrument: number, row: number): boolean => axis.time[axis.instants[instrument][row]] < from;
      const { trades, tradeInstruments, orders, equity } = simulation;
      const marks = axis.time.findLastIndex((time) => time < from) + 1 - start;
      return {
        // The close at the end of the data is known beforehand.
        trades: trades
          .map((trade, at) => ({ ...trade, instrument: tradeInstruments[at] }))
          .filter(
            ({ exitReason, instrument, exitRow }) => exitReason !== 'end_of_data' && isBefore(instrument, exitRow),
          ),
        orders: orders!.filter(
          ({ instrument, filledRow, reason }) =>
            reason !== 'end_of_data' && filledRow !== null && isBefore(instrument, filledRow),
        ),
        equity: [...equity.subarray(0, Math.max(0, marks))],
      };
    });
    expect(other).toEqual(one);
    return one.orders.length;
  }

  it('change nothing before it, on any instrument, with rules', () => {
    const kinds = fc.constantFrom<readonly AnyKind[] | undefined>(undefined, BUSY);
    const strategies = kinds.chain((some) =>
      strategyArbitrary({ ...PRICES, timeframes: ['1d'], symbols: SYMBOLS, ...(some && { kinds: some, depth: 2 }) }),
    );
    let compared = 0;
    fc.assert(
      fc.property(strategies, configs, portfolios, cuts, (ast, config, portfolio, { symbol, day }) => {
        compared += expectSameBefore(ast, { ...config, ...portfolio }, symbol, day);
      }),
      { numRuns: scaled(1_000), seed: SEED + 1 },
    );
    expect(compared).toBeGreaterThan(scaled(1_000) * 5);
  });

  it('change nothing before it, on any instrument, with an allocation', () => {
    // The parts of a generated strategy are the expressions of an allocation.
    const parts = strategyArbitrary({ ...PRICES, symbols: SYMBOLS, kinds: STATELESS, depth: 2, named: false });
    const legs = fc.record({
      long: fc.constantFrom('long', 'short', 'both'),
      places: fc.integer({ min: 1, max: 4 }),
      keep: fc.integer({ min: 0, max: 2 }),
      mode: fc.constantFrom('equal', 'inverse', 'proportional', 'fixed'),
      fallback: fc.constantFrom(undefined, ...SYMBOLS),
      bandPercent: fc.constantFrom(0, 2, 10),
      maxPercent: fc.constantFrom(undefined, 40),
      isScheduled: fc.boolean(),
    });
    const by = object<object>({
      kind: fc.constant('percent_change'),
      source: fc.constant({ kind: 'market', field: 'close' }),
      bars: fc.integer({ min: 1, max: 20 }),
    });
    let compared = 0;
    fc.assert(
      fc.property(parts, legs, by, configs, cuts, (ast, shape, ranked, config, { symbol, day }) => {
        const allocation = allocationOf(ast, shape, ranked);
        compared += expectSameBefore(allocation, config, symbol, day);
      }),
      { numRuns: scaled(1_000), seed: SEED + 2 },
    );
    expect(compared).toBeGreaterThan(scaled(1_000) * 5);
  });
});

interface Shape {
  readonly long: string;
  readonly places: number;
  readonly keep: number;
  readonly mode: string;
  readonly fallback: string | undefined;
  readonly bandPercent: number;
  readonly maxPercent: number | undefined;
  readonly isScheduled: boolean;
}

/** An allocation whose `where` is the trigger of a generated entry, and whose `require` is its setup. */
function allocationOf(ast: StrategyAst, shape: Shape, by: object): StrategyAst {
  const { params, entry } = ast.strategy as { params?: object; entry: object };
  const [{ trigger, setup }] = [entry].flat() as { trigger: object; setup?: object }[];
  const { long, places, keep, mode, fallback, bandPercent, maxPercent, isScheduled } = shape;
  const leg = (count: 'top' | 'bottom') => ({
    by,
    [count]: places,
    ...(keep > 0 && { keepWithin: places + keep }),
    where: { kind: 'any', items: [trigger, { kind: 'schedule', everyBars: 3 }] },
    ...(setup && { require: setup }),
  });
  return {
    ...ast,
    strategy: {
      kind: 'strategy',
      ...(params && { params }),
      allocation: {
        kind: 'allocation',
        when: isScheduled ? { kind: 'schedule', every: 'week', on: 'last' } : { kind: 'any', items: [trigger] },
        ...(long !== 'short' && { long: leg('top') }),
        ...(long !== 'long' && { short: leg('bottom') }),
        weights: {
          mode,
          ...(['inverse', 'proportional'].includes(mode) && { by: { kind: 'market', field: 'close' } }),
          ...(mode === 'fixed' && { values: Object.fromEntries(SYMBOLS.map((symbol) => [symbol, 20])) }),
          ...(maxPercent && { maxPercent }),
        },
        ...(fallback && { fallback }),
        bandPercent,
      },
    },
  } as unknown as StrategyAst;
}
