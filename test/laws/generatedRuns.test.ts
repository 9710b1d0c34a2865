// Whole backtests of generated strategies on the shipped series: none throws, every number in a result is a number,
// nothing looks ahead.
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  createMarket,
  runBacktest,
  type BacktestConfig,
  type Slippage,
  type Market,
  type StrategyAst,
} from '../../src/engine/index.ts';
import { shippedData } from '../support/shippedData.ts';
import { randomColumns } from '../support/bars.ts';
import { INSTRUMENT } from '../support/runs.ts';
import { makeSnapshot } from '../../src/market/snapshotFiles.ts';
import { scaled } from '../support/scale.ts';
import { strategyArbitrary, type AnyKind } from '../support/strategies.ts';

const SEED = 20_261_129;
type Series = 'SPX' | 'EURUSD' | 'GOOG';
const markets = {} as Record<Series, Market>;

beforeAll(async () => {
  const data = await shippedData();
  const daily = async (symbol: string) => data.snapshots(symbol, '1d');
  markets.SPX = createMarket([...(await daily('SPX')), ...(await daily('NASDAQ'))], 'SPX', '1d');
  markets.GOOG = createMarket([...(await daily('GOOG')), ...(await daily('MSFT'))], 'GOOG', '1d');
  markets.EURUSD = createMarket(await data.snapshots('EURUSD', '1h'), 'EURUSD', '1h');
});

/** Of few kinds, that are true often: these trade. */
const BUSY: readonly AnyKind[] = ['const', 'market', 'compare', 'any', 'not'];
const STATEFUL: readonly AnyKind[] = [
  'const',
  'market',
  'state',
  'compare',
  'cross',
  'rising',
  'falling',
  'any',
  'not',
  'math',
  'rolling',
  'if',
  'bars_since',
  'capture',
  'sequence',
  'rolling_window',
  'state_machine',
];
const strategies: fc.Arbitrary<{ series: Series; ast: StrategyAst }> = fc.oneof(
  ofSeries('SPX', { timeframes: ['1d'], symbols: ['NASDAQ'], price: { min: 700, max: 2900 } }),
  ofSeries('EURUSD', { timeframes: ['1h', '4h', '1d'], price: { min: 1, max: 1.3 } }),
  ofSeries('GOOG', { symbols: ['MSFT'], price: { min: 100, max: 800 } }),
  ofSeries('EURUSD', { kinds: BUSY, price: { min: 1, max: 1.3 }, depth: 2 }),
  ofSeries('GOOG', { kinds: BUSY, price: { min: 100, max: 800 }, depth: 2 }),
  ofSeries('GOOG', { kinds: STATEFUL, price: { min: 100, max: 800 } }),
);
function ofSeries(series: Series, options: Parameters<typeof strategyArbitrary>[0]) {
  return strategyArbitrary(options).map((ast) => ({ series, ast }));
}

const tiers = [{ minCumulativeNotional: 0, makerRate: 0.0002, takerRate: 0.0005 }];
const day = (year: number, month: number, date: number): number => Date.UTC(year, month - 1, date);
const executions = fc.record({
  slippage: fc.constantFrom<Slippage>(
    { kind: 'none' },
    { kind: 'fixed', unit: 'bps', value: 5 },
    { kind: 'volatility_scaled', reference: 'atr_pct', multiplier: 0.1 },
    { kind: 'volatility_scaled', reference: 'bar_range_pct', multiplier: 0.1 },
  ),
  orderTiming: fc.constantFrom('next_open' as const, 'bar_close' as const),
});
const configs = fc.record({
  execution: executions.map((execution) => ({
    ...execution,
    feeModel: { kind: 'tiered_maker_taker' as const, tiers },
  })),
  ambiguityResolution: fc.constantFrom('multi_resolution', 'pessimistic', 'optimistic', 'bar_direction', 'distance'),
  ambiguityFallback: fc.constantFrom('pessimistic', 'optimistic'),
  leverage: fc.constantFrom(1, 1, 3, 20),
  fundingRate: fc.constantFrom(0, 0, 0.0001),
  range: fc.constantFrom(
    ...Array.from({ length: 8 }, () => ({})),
    { start: day(2017, 6, 1) },
    { start: day(2010, 1, 1), end: day(2010, 1, 6) },
    { end: day(1990, 1, 1) },
    { start: day(2030, 1, 1) },
  ),
}) as fc.Arbitrary<Omit<BacktestConfig, 'timeframe' | 'signalInstrument' | 'initialBalance'>>;

function outcomeOf(ast: StrategyAst, config: object, market: Market, settings: object = {}) {
  const { timeframe, symbol } = market.base;
  const whole = { timeframe, signalInstrument: { symbol }, initialBalance: 10_000, ...config } as BacktestConfig;
  return runBacktest({ id: 'run', strategyAst: ast, settings, config: whole, strategyHash: 'hash' }, market, null);
}

function run(ast: StrategyAst, config: object, market: Market, settings: object = {}) {
  const outcome = outcomeOf(ast, config, market, settings);
  if (!outcome.ok) throw new Error(`${outcome.error.code}: ${outcome.error.message}`);
  return outcome;
}

/** Paths of numbers that JSON cannot carry, and of members without a value. */
function unspeakable(value: unknown, path = ''): string[] {
  if (typeof value === 'number') return Number.isFinite(value) ? [] : [`${path} is ${value}`];
  if (value === undefined) return [`${path} is undefined`];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => unspeakable(member, `${path}/${name}`));
}
const faultsOf = ({ summary, trades, warnings }: ReturnType<typeof run>): string[] =>
  unspeakable({ summary, trades, warnings });

describe('a backtest of any valid strategy', () => {
  it('ends with a result in which every number is finite, or in an error when its range holds no bars', () => {
    let traded = 0;
    let runs = 0;
    let empty = 0;
    fc.assert(
      fc.property(strategies, configs, ({ series, ast }, config) => {
        const outcome = outcomeOf(ast, config, markets[series]);
        if (!outcome.ok) {
          expect(outcome.error.code).toBe('RANGE_NO_DATA');
          expect(config.range).not.toEqual({});
          empty++;
          return;
        }
        runs++;
        if (outcome.trades.length > 0) traded++;
        expect(faultsOf(outcome)).toEqual([]);
      }),
      { numRuns: scaled(3_000), seed: SEED },
    );
    expect(traded / runs).toBeGreaterThan(0.1);
    expect(empty).toBeGreaterThan(0);
  });

  it('ends with one on one bar, on two bars, and with a warm-up longer than the data', () => {
    const few = [1, 2, 30].map((count) => {
      const about = { symbol: 'FEW', timeframe: '1h' as const, instrument: { ...INSTRUMENT, symbol: 'FEW' } };
      return createMarket([makeSnapshot(randomColumns({ count }), about)], 'FEW', '1h');
    });
    const settings = fc.constantFrom({}, {}, { warmupPeriod: 0 }, { warmupPeriod: 5_000 });
    fc.assert(
      fc.property(
        strategyArbitrary({ maxBars: 4 }),
        configs,
        fc.constantFrom(0, 1, 2),
        settings,
        (ast, config, at, given) => {
          const outcome = run(ast, { ...config, range: {} }, few[at], given);
          expect(faultsOf(outcome)).toEqual([]);
          if ('warmupPeriod' in given && given.warmupPeriod === 5_000) expect(outcome.trades).toEqual([]);
        },
      ),
      { numRuns: scaled(2_000), seed: SEED + 1 },
    );
  });

  it('trades the same on the first bars alone as on all of them', () => {
    const columns = randomColumns({ count: 300, seed: 5 });
    const marketOf = (rows: number): Market => {
      const cut = Object.fromEntries(
        Object.entries(columns).map(([name, column]) => [
          name,
          name === 'series' ? column : (column as Float64Array).slice(0, rows),
        ]),
      ) as unknown as typeof columns;
      const about = { symbol: 'CUT', timeframe: '1h' as const, instrument: { ...INSTRUMENT, symbol: 'CUT' } };
      return createMarket([makeSnapshot(cut, about)], 'CUT', '1h');
    };
    const whole = marketOf(300);
    const parts = new Map([120, 211, 299].map((rows) => [rows, marketOf(rows)]));
    const kinds = fc.constantFrom<readonly AnyKind[] | undefined>(undefined, BUSY, STATEFUL);
    const cases = kinds.chain((some) =>
      strategyArbitrary({ timeframes: ['1h', '4h', '1d'], price: { min: 60, max: 140 }, ...(some && { kinds: some }) }),
    );
    let compared = 0;
    fc.assert(
      fc.property(cases, configs, fc.constantFrom(...parts.keys()), (ast, config, rows) => {
        const without = { ...config, range: {} };
        const closed = (market: Market) =>
          run(ast, without, market).trades.filter(
            ({ exitTime, exitReason }) => exitReason !== 'end_of_data' && exitTime < columns.time[rows - 1],
          );
        const [all, first] = [closed(whole), closed(parts.get(rows)!)];
        compared += first.length;
        expect(first).toEqual(all);
      }),
      { numRuns: scaled(2_000), seed: SEED + 2 },
    );
    expect(compared).toBeGreaterThan(scaled(500));
  });
});
