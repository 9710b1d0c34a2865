// The engine against a slow reference written from the rules alone: the same signals, trades and equity on generated strategies.
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { simulateTask } from '../../src/engine/backtest.ts';
import { hasBit } from '../../src/engine/columns/column.ts';
import type { Bars, Market } from '../../src/engine/columns/bars.ts';
import { createMarket } from '../../src/engine/columns/market.ts';
import type { StrategyAst } from '../../src/engine/language/ast.ts';
import type { BacktestConfig } from '../../src/engine/simulate/config.ts';
import type { ConditionSource } from '../../src/engine/simulate/program.ts';
import { makeSnapshot } from '../../src/market/snapshotFiles.ts';
import { openShippedData } from '../../src/market/shipped.ts';
import { randomSnapshot } from '../support/bars.ts';
import { ALL_CONDITION_KINDS, ALL_VALUE_KINDS, type AnyKind } from '../support/expressions.ts';
import type { Truth } from '../support/reference/conditions.ts';
import { referenceRun } from '../support/reference/reference.ts';
import type { ReferenceTrade } from '../support/reference/simulate.ts';
import { scaled } from '../support/scale.ts';
import { strategyArbitrary, type StrategyOptions } from '../support/strategies.ts';

const SEED = 20_261_121;
const ROWS = 300;
const RELATIVE = 1e-9;
/** Reading state is left to the tests of the loop: the reference evaluates whole columns. */
const KINDS: AnyKind[] = [...ALL_VALUE_KINDS, ...ALL_CONDITION_KINDS].filter((kind) => kind !== 'state');
const EXACT = ['side', 'entryRow', 'exitRow', 'exitReason', 'exitMethod', 'entryRule', 'exitRule'] as const;
const NUMBERS = ['entryPrice', 'exitPrice', 'quantity', 'entryFee', 'exitFee', 'pnl', 'maePct', 'mfePct'] as const;

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
  const catalogue = await openShippedData();
  const { base, instrument } = createMarket(await catalogue.snapshots(symbol, timeframe), symbol, timeframe);
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

/** Only market orders: how limit and stop entries fill is proved by the tests of the loop. */
function withMarketOrders(ast: StrategyAst): StrategyAst {
  return JSON.parse(JSON.stringify(ast), (name, value: unknown) =>
    name === 'order' ? undefined : value,
  ) as StrategyAst;
}

interface Sample {
  readonly symbol: string;
  readonly timeframe: BacktestConfig['timeframe'];
  readonly leverage?: number;
  readonly maxConcurrentPositions?: number;
}

/** Runs both and says where they differ first; null: nowhere. */
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
  const run = simulateTask({ id: 'law', strategyAst: ast, settings, config, strategyHash: '' }, market, null, false);
  if (!run.ok) return run.error.message;
  const { strategy, input, simulation, config: resolved } = run.report;
  const reference = referenceRun({ strategy, market, config: resolved, start: input.start, end: input.end });
  return (
    signalsDiffer(
      'entry',
      input.entries.map(({ signal }) => signal),
      reference.entries,
    ) ??
    signalsDiffer(
      'exit',
      input.exits.map(({ when }) => when),
      reference.exits,
    ) ??
    tradesDiffer(simulation.trades, reference.trades) ??
    reference.equity
      .map((equity, i) =>
        isClose(simulation.equity[i], equity) ? null : `equity at ${i}: ${simulation.equity[i]}, reference ${equity}`,
      )
      .find((text) => text !== null) ??
    null
  );
}

function signalsDiffer(
  kind: string,
  engine: readonly ConditionSource[],
  reference: readonly (readonly Truth[])[],
): string | null {
  for (const [rule, truths] of reference.entries()) {
    const source = engine[rule];
    if (source.kind !== 'bits') return `${kind} ${rule} reads state`;
    for (const [row, truth] of truths.entries())
      if (hasBit(source.isTrue, row) !== (truth === true))
        return `${kind} ${rule} row ${row}: ${hasBit(source.isTrue, row)}, reference ${truth}`;
  }
  return null;
}

function tradesDiffer(
  engine: readonly Omit<ReferenceTrade, never>[],
  reference: readonly ReferenceTrade[],
): string | null {
  for (const [at, expected] of reference.entries()) {
    const trade = engine[at];
    if (trade === undefined) break;
    const wrong =
      EXACT.find((key) => trade[key] !== expected[key]) ?? NUMBERS.find((key) => !isClose(trade[key], expected[key]));
    if (wrong !== undefined) return `trade ${at} ${wrong}: ${trade[wrong]}, reference ${expected[wrong]}`;
  }
  return engine.length === reference.length ? null : `${engine.length} trades, reference ${reference.length}`;
}

const isClose = (a: number, b: number): boolean => Math.abs(a - b) <= RELATIVE * Math.max(1, Math.abs(a), Math.abs(b));

function law(market: () => Market, sample: Sample, runs: number, options: StrategyOptions = {}): void {
  const strategies = strategyArbitrary({ kinds: KINDS, named: false, depth: 2, ...options }).map(withMarketOrders);
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
