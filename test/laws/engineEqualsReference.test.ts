// Generated expressions of every kind, through the engine and through the reference: the same signals, trades, orders
// and equity.
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Bars, Market } from '../../src/engine/bars/bars.ts';
import { createMarket } from '../../src/engine/bars/market.ts';
import type { BacktestConfig } from '../../src/engine/config.ts';
import type { StrategyAst } from '../../src/engine/language/grammar/ast.ts';
import { shippedData } from '../support/shippedData.ts';
import { makeSnapshot } from '../../src/market/snapshotFiles.ts';
import { randomSnapshot } from '../support/bars.ts';
import { ALL_CONDITION_KINDS, ALL_VALUE_KINDS, type AnyKind } from '../support/expressions.ts';
import { compareWithReference } from '../support/reference/difference.ts';
import { scaled } from '../support/scale.ts';
import { strategyArbitrary, type StrategyOptions } from '../support/strategies.ts';

const SEED = 20_261_121;
const ROWS = 300;
/** State is read by the scenarios of fillRules.test.ts; these strategies are about columns. */
const KINDS: AnyKind[] = [...ALL_VALUE_KINDS, ...ALL_CONDITION_KINDS].filter((kind) => kind !== 'state');
const costs: BacktestConfig['execution'] = {
  exitOrderRole: 'maker',
  feeModel: {
    kind: 'tiered_maker_taker',
    tiers: [
      { minCumulativeNotional: 0, makerRate: 0.0002, takerRate: 0.001 },
      { minCumulativeNotional: 50_000, makerRate: -0.0001, takerRate: 0.0005 },
    ],
  },
  slippage: { kind: 'fixed', unit: 'bps', value: 5 },
};
const model = Array.from({ length: ROWS }, (_, row) => (row % 17 === 0 ? NaN : 50 + (row % 23)));
const walk = createMarket(
  [randomSnapshot({ count: ROWS, seed: 3, series: { model }, instrument: { qtyStep: 0.01 } })],
  'TEST',
  '1h',
);

/** Some hundred bars of a shipped series. */
async function shipped(symbol: string, timeframe: '1h' | '1d', from: number): Promise<Market> {
  const catalog = await shippedData();
  const { base, instrument } = createMarket(await catalog.snapshots(symbol, timeframe), symbol, timeframe);
  const cut = (column: keyof Bars & ('time' | 'open' | 'high' | 'low' | 'close' | 'volume')): Float64Array =>
    base[column].slice(from, from + ROWS);
  const columns = {
    time: cut('time'),
    open: cut('open'),
    high: cut('high'),
    low: cut('low'),
    close: cut('close'),
    volume: cut('volume'),
    series: new Map([['model', Float64Array.from(model)]]),
  };
  return createMarket([makeSnapshot(columns, { symbol, timeframe, instrument })], symbol, timeframe);
}

interface Sample {
  readonly symbol: string;
  readonly timeframe: BacktestConfig['timeframe'];
  readonly leverage?: number;
  readonly maxConcurrentPositions?: number;
}

function difference(ast: StrategyAst, market: Market, sample: Sample): string | null {
  const { symbol, timeframe, leverage = 1, maxConcurrentPositions } = sample;
  const config: BacktestConfig = {
    timeframe,
    signalInstrument: { symbol },
    initialBalance: 10_000,
    leverage,
    maintenanceMarginRate: 0,
    fundingRate: 0.0001,
    ambiguityResolution: 'pessimistic',
    execution: costs,
  };
  const settings = maxConcurrentPositions === undefined ? {} : { maxConcurrentPositions };
  return compareWithReference(ast, market, config, settings).difference;
}

function law(market: () => Market, sample: Sample, runs: number, options: StrategyOptions = {}): void {
  const strategies = strategyArbitrary({ kinds: KINDS, named: false, depth: 2, ...options });
  fc.assert(
    fc.property(strategies, (ast) => {
      expect(difference(ast, market(), sample)).toBeNull();
    }),
    { numRuns: scaled(runs), seed: SEED },
  );
}

describe('the engine and the reference give the same signals, trades and equity', { timeout: 600_000 }, () => {
  let euro: Market;
  let index: Market;
  beforeAll(async () => {
    [euro, index] = await Promise.all([shipped('EURUSD', '1h', 2_000), shipped('SPX', '1d', 1_000)]);
  });

  it('on a random walk', () => law(() => walk, { symbol: 'TEST', timeframe: '1h' }, 500));
  it('with several positions at a time', () =>
    law(() => walk, { symbol: 'TEST', timeframe: '1h', maxConcurrentPositions: 3 }, 300));
  it('with deeper expressions', () => law(() => walk, { symbol: 'TEST', timeframe: '1h' }, 300, { depth: 3 }));
  it('with nodes on coarser timeframes', () =>
    law(() => walk, { symbol: 'TEST', timeframe: '1h' }, 400, { timeframes: ['4h', '1d'] }));
  it('on euros by the hour', () =>
    law(() => euro, { symbol: 'EURUSD', timeframe: '1h' }, 400, { price: { min: 0, max: 3 } }));
  it('on an index by the day', () =>
    law(() => index, { symbol: 'SPX', timeframe: '1d' }, 400, { price: { min: 500, max: 1_500 } }));
});
