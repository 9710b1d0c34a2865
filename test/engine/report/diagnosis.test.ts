// The diagnosis: for each code a strategy in which exactly that is wrong, and a first entry that says what to change.
import { beforeAll, describe, expect, it } from 'vitest';
import {
  createMarket,
  DIAGNOSIS_CODES,
  runBacktest,
  type BacktestTask,
  type Market,
  type Summary,
} from '../../../src/engine/index.ts';
import { openShippedData } from '../../../src/market/shipped.ts';

type Json = Record<string, unknown>;
const markets = new Map<string, Market>();
beforeAll(async () => {
  const catalogue = await openShippedData();
  for (const [symbol, timeframe] of [['EURUSD', '1h'], ['SPX', '1d'], ['AAPL', '1d']] as const) {
    markets.set(symbol, createMarket(await catalogue.snapshots(symbol, timeframe), symbol, timeframe));
  }
}); // prettier-ignore

const constant = (value: number): Json => ({ kind: 'const', value });
const close = { kind: 'market', field: 'close' };
const indicator = (name: string, length: number): Json => ({ kind: 'indicator', indicator: name, args: { length } });
const compare = (op: string, left: Json, right: Json, id?: string): Json => ({
  ...(id && { id }),
  kind: 'compare',
  op,
  left,
  right,
});
const cross = (op: string, fast: number, slow: number): Json => ({
  kind: 'cross',
  op,
  left: indicator('sma', fast),
  right: indicator('sma', slow),
});
const hour = { kind: 'time', field: 'hour' };

interface Case {
  readonly symbol?: 'EURUSD' | 'SPX' | 'AAPL';
  readonly entry: Json;
  readonly exits?: readonly Json[];
  readonly risk?: Json;
  readonly sizing?: Json;
  readonly order?: Json;
  readonly settings?: Json;
  readonly range?: Json;
  readonly fee?: number;
}

function summaryOf({
  symbol = 'EURUSD',
  entry,
  exits = [],
  risk,
  sizing,
  order,
  settings = {},
  range,
  fee = 0,
}: Case): Summary {
  const action = { side: 'long', sizing: sizing ?? { mode: 'percent_equity', value: 95 }, ...(order && { order }) };
  const task = {
    id: 'diagnosis',
    settings,
    strategyHash: '',
    strategyAst: {
      protocol: 'svc.strategy',
      version: 1,
      strategy: { kind: 'strategy', entry: { kind: 'entry', ...entry, action }, exits, ...(risk && { risk }) },
    },
    config: {
      timeframe: symbol === 'EURUSD' ? '1h' : '1d',
      signalInstrument: { symbol },
      initialBalance: 10_000,
      ...(range && { range }),
      execution: {
        feeModel: { kind: 'tiered_maker_taker', tiers: [{ minCumulativeNotional: 0, makerRate: 0, takerRate: fee }] },
        slippage: { kind: 'none' },
      },
    },
  } as unknown as BacktestTask;
  const outcome = runBacktest(task, markets.get(symbol)!, null);
  if (!outcome.ok) throw new Error(outcome.error.message);
  return outcome.summaryJson as Summary;
}

const crossExit = (fast: number, slow: number): Json => ({ kind: 'exit', when: cross('cross_down', fast, slow) });
const CASES: Readonly<Record<(typeof DIAGNOSIS_CODES)[number], Case & { readonly nodeId: string | null }>> = {
  NO_DATA: { entry: { trigger: compare('gt', close, constant(0)) }, range: { start: 1e11, end: 2e11 }, nodeId: null },
  ALL_WARMUP: {
    entry: { trigger: compare('gt', close, indicator('sma', 20)) },
    settings: { warmupPeriod: 100_000 },
    nodeId: null,
  },
  RULE_ALWAYS_FALSE: {
    entry: {
      trigger: compare('gt', close, indicator('sma', 20)),
      filters: [compare('gt', close, constant(5), 'too-high')],
    },
    nodeId: 'too-high',
  },
  NEVER_TOGETHER: {
    entry: {
      trigger: compare('lt', indicator('rsi', 14), constant(22), 'dip'),
      filters: [compare('gt', close, indicator('sma', 20), 'trend')],
    },
    nodeId: 'dip',
  },
  // Any two of these hours meet, all three never do.
  FILTER_BLOCKS_ALL: {
    entry: {
      setup: compare('lte', hour, constant(1)),
      trigger: { kind: 'between', value: hour, lower: constant(1), upper: constant(2) },
      filters: [
        { id: 'blocker', kind: 'any', items: [compare('eq', hour, constant(0)), compare('eq', hour, constant(2))] },
      ],
    },
    nodeId: 'blocker',
  },
  REJECTED_BALANCE: {
    entry: { trigger: cross('cross_up', 10, 30) },
    sizing: { mode: 'fixed', value: 1e9 },
    nodeId: null,
  },
  ORDERS_NEVER_FILLED: {
    entry: { trigger: cross('cross_up', 10, 30) },
    order: { type: 'limit', price: constant(0.5), expireBars: 3 },
    nodeId: null,
  },
  NEVER_EXITS: { entry: { trigger: cross('cross_up', 10, 30) }, nodeId: null },
  FEES_EXCEED_EDGE: {
    symbol: 'AAPL',
    entry: { trigger: cross('cross_up', 5, 20) },
    exits: [crossExit(5, 20)],
    fee: 0.03,
    nodeId: null,
  },
  AMBIGUITY_SENSITIVE: {
    entry: { trigger: compare('gt', close, indicator('sma', 20)) },
    risk: { stopLoss: { mode: 'percent', value: 0.06 }, takeProfits: [{ triggerPercent: 0.06, closePercent: 100 }] },
    nodeId: null,
  },
  SINGLE_TRADE_DOMINATES: {
    symbol: 'SPX',
    entry: { trigger: cross('cross_up', 5, 50) },
    exits: [crossExit(5, 50)],
    fee: 0.001,
    nodeId: null,
  },
  TOO_FEW_TRADES: {
    symbol: 'SPX',
    entry: { trigger: cross('cross_up', 50, 200) },
    exits: [crossExit(50, 200)],
    nodeId: null,
  },
  OK: {
    symbol: 'SPX',
    entry: { trigger: compare('lt', indicator('rsi', 2), constant(10)) },
    exits: [{ kind: 'exit', when: compare('gt', indicator('rsi', 2), constant(60)) }],
    nodeId: null,
  },
};

describe('the first diagnosis entry', () => {
  it.each(Object.entries(CASES))('%s', (code, { nodeId, ...given }) => {
    const { strategyTrace, totalPositions } = summaryOf(given);
    const [first, ...others] = strategyTrace!.diagnosis;
    expect([first, ...others].map((entry) => entry.code)).toEqual([code]);
    expect(first.nodeId).toBe(nodeId);
    expect(first.message.length).toBeGreaterThan(10);
    expect(first.suggestion.length).toBeGreaterThan(10);
    expect(totalPositions === 0).toBe(first.severity === 'error');
  });

  it('has a case for every code', () => {
    expect(Object.keys(CASES).toSorted()).toEqual([...DIAGNOSIS_CODES].toSorted());
  });
});
