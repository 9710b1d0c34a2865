// The diagnosis: for each code a strategy in which exactly that is wrong, and a first entry that says what to change.
import { beforeAll, describe, expect, it } from 'vitest';
import { createMarket, runBacktest, type BacktestTask, type Market, type Summary } from '../../../src/engine/index.ts';
import { DIAGNOSIS_CODES } from '../../../src/engine/report/diagnosisFindings.ts';
import { shippedData } from '../../support/shippedData.ts';
import { incompleteMarkets } from '../../support/incompleteMarkets.ts';
import * as write from '../../support/builders.ts';

type Json = Record<string, unknown>;
const markets = new Map<string, Market>();
beforeAll(async () => {
  const catalog = await shippedData();
  for (const [symbol, timeframe] of [
    ['EURUSD', '1h'],
    ['SPX', '1d'],
    ['AAPL', '1d'],
  ] as const) {
    markets.set(symbol, createMarket(await catalog.snapshots(symbol, timeframe), symbol, timeframe));
  }
  for (const [name, market] of await incompleteMarkets(catalog)) markets.set(name, market);
});

const close = write.market();
const { constant, sma } = write;
const rsi = (length: number): Json => write.indicator('rsi', { length });
const compare = (left: Json, op: string, right: Json, id?: string): Json =>
  write.compare(left, op, right, id === undefined ? {} : { id });
const cross = (op: string, fast: number, slow: number): Json => write.cross(sma(fast), op, sma(slow));
const hundredfold = { kind: 'math', op: 'mul', args: [close, constant(100)] };
const hour = { kind: 'time', field: 'hour' };
const priceOf = (symbol: string): Json => write.market('close', { instrument: { symbol } });

interface Case {
  readonly symbol?: 'EURUSD' | 'SPX' | 'AAPL';
  /** A market of the symbol that has more than its own bars. */
  readonly market?: string;
  readonly entry: Json;
  readonly exits?: readonly Json[];
  readonly risk?: Json;
  readonly sizing?: Json;
  readonly order?: Json;
  readonly settings?: Json;
  readonly range?: Json;
  readonly fee?: number;
  readonly slippageBps?: number;
  readonly fundingRate?: number;
  readonly side?: 'long' | 'short';
  readonly fallback?: string;
  readonly resolution?: string;
  readonly balance?: number;
  readonly leverage?: number;
}

function summaryOf({
  symbol = 'EURUSD',
  market = symbol,
  entry,
  exits = [],
  risk,
  sizing,
  order,
  settings = {},
  range,
  fee = 0,
  slippageBps = 0,
  fundingRate = 0,
  side = 'long',
  fallback,
  resolution,
  balance = 10_000,
  leverage,
}: Case): Summary {
  const action = { side, sizing: sizing ?? { mode: 'percent_equity', value: 95 }, ...(order && { order }) };
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
      initialBalance: balance,
      ...(fallback && { ambiguityFallback: fallback }),
      ...(resolution && { ambiguityResolution: resolution }),
      ...(range && { range }),
      ...(leverage && { leverage }),
      execution: {
        feeModel: { kind: 'tiered_maker_taker', tiers: [{ minCumulativeNotional: 0, makerRate: 0, takerRate: fee }] },
        slippage: slippageBps === 0 ? { kind: 'none' } : { kind: 'fixed', unit: 'bps', value: slippageBps },
      },
      ...(fundingRate && { fundingRate }),
    },
  } as unknown as BacktestTask;
  const outcome = runBacktest(task, markets.get(market)!, null);
  if (!outcome.ok) throw new Error(outcome.error.message);
  return outcome.summary;
}

const crossExit = (fast: number, slow: number): Json => ({ kind: 'exit', when: cross('cross_down', fast, slow) });
const dip: Json = { trigger: compare(rsi(2), 'lt', constant(10)) };
const dipExit: Json = { kind: 'exit', when: compare(rsi(2), 'gt', constant(60)) };
const CASES: Readonly<Record<(typeof DIAGNOSIS_CODES)[number], Case & { readonly nodeId: string | null }>> = {
  ALL_WARMUP: {
    entry: { trigger: compare(close, 'gt', sma(20)) },
    settings: { warmupPeriod: 100_000 },
    nodeId: null,
  },
  SERIES_INCOMPLETE: {
    symbol: 'SPX',
    market: 'with other times',
    entry: { trigger: compare(priceOf('OTHER'), 'gt', constant(1), 'other') },
    nodeId: 'other',
  },
  WARMUP_TOO_SHORT: {
    symbol: 'SPX',
    entry: { trigger: compare(rsi(2), 'lt', constant(10)), filters: [compare(close, 'gt', sma(1_000), 'long')] },
    exits: [{ kind: 'exit', when: compare(rsi(2), 'gt', constant(60)) }],
    settings: { warmupPeriod: 20 },
    nodeId: 'long',
  },
  FINER_BARS_CONTRADICT: {
    symbol: 'SPX',
    market: 'with wrong hours',
    entry: { trigger: compare(rsi(2), 'lt', constant(10)) },
    exits: [{ kind: 'exit', when: compare(rsi(2), 'gt', constant(60)) }],
    nodeId: null,
  },
  RULE_ALWAYS_FALSE: {
    entry: {
      trigger: compare(close, 'gt', sma(20)),
      filters: [compare(close, 'gt', constant(5), 'too-high')],
    },
    nodeId: 'too-high',
  },
  NEVER_TOGETHER: {
    entry: {
      trigger: compare(rsi(14), 'lt', constant(22), 'dip'),
      filters: [compare(close, 'gt', sma(20), 'trend')],
    },
    nodeId: 'dip',
  },
  // Any two of these hours meet, all three never do.
  FILTER_BLOCKS_ALL: {
    entry: {
      setup: compare(hour, 'lte', constant(1)),
      trigger: { kind: 'between', value: hour, lower: constant(1), upper: constant(2) },
      filters: [
        { id: 'blocker', kind: 'any', items: [compare(hour, 'eq', constant(0)), compare(hour, 'eq', constant(2))] },
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
    entry: { trigger: compare(close, 'gt', sma(20)) },
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
  // A risk of 1 % behind a stop 15 points away costs more than the balance once the index is above 1,500.
  ORDERS_REJECTED: {
    symbol: 'SPX',
    entry: dip,
    sizing: { mode: 'risk_percent', value: 1 },
    risk: { stopLoss: { mode: 'fixed', value: 15 } },
    exits: [dipExit],
    nodeId: null,
  },
  LOST_MONEY: { symbol: 'SPX', entry: dip, exits: [dipExit], side: 'short', nodeId: null },
  TRAILS_BUY_HOLD: { symbol: 'SPX', entry: dip, exits: [dipExit], range: { start: '2012-01-01' }, nodeId: null },
  OK: {
    symbol: 'SPX',
    entry: dip,
    exits: [dipExit],
    range: { start: '2000-01-01', end: '2010-01-01' },
    nodeId: null,
  },
};

describe('the first diagnosis entry', () => {
  it.each(Object.entries(CASES))('is %s in its case', (code, { nodeId, ...given }) => {
    const { strategyTrace, totalPositions } = summaryOf(given);
    const [first, ...others] = strategyTrace!.diagnosis;
    expect(first.code).toBe(code);
    // Behind a reason there is only whether the run lost or trailed the market.
    expect(others.filter((entry) => entry.severity !== 'info')).toEqual([]);
    expect(first.nodeId).toBe(nodeId);
    expect(first.message.length).toBeGreaterThan(10);
    expect(first.suggestion.length).toBeGreaterThan(10);
    expect(totalPositions === 0).toBe(first.severity === 'error');
  });

  it('has a case for every code', () => {
    expect(Object.keys(CASES).toSorted()).toEqual([...DIAGNOSIS_CODES].toSorted());
  });
});

describe('the suggestion for a comparison that is never true', () => {
  const toldOf = (left: Json, right: Json): string => {
    const [first] = summaryOf({ entry: { trigger: compare(left, 'gt', right) } }).strategyTrace!.diagnosis;
    expect(first.code).toBe('RULE_ALWAYS_FALSE');
    return `${first.message} ${first.suggestion}`;
  };

  it('names the range of what moves, and says which side to move into it', () => {
    const toHigh = toldOf(close, constant(5));
    expect(toHigh).toMatch(/never true on \d+ bars: the left side moved between \S+ and \S+, and the right side/);
    expect(toHigh).toMatch(/ was always 5\. Move the right side into the range of the left\.$/);
    expect(toldOf(constant(0.5), close)).toMatch(/: the left side was always 0\.5, .* into the range of the right\.$/);
  });

  it('says that neither side changes, or that values of different scale never meet', () => {
    expect(toldOf(constant(20), constant(30))).toMatch(
      /: the left side was always 20, and the right side was always 30\. Compare a value that changes\.$/,
    );
    expect(toldOf(close, hundredfold)).toMatch(/These ranges do not meet\. Compare values of the same scale\.$/);
  });
});

describe('a diagnosis without trades', () => {
  const firstOf = (given: Case) => summaryOf(given).strategyTrace!.diagnosis[0];

  it('says that the range ends before the market order of its last close fills', () => {
    const { time, close: prices } = markets.get('SPX')!.base;
    const isLast = compare(close, 'eq', constant(prices[199]));
    const range = { start: time[0], end: time[200] };
    const { code, message, suggestion } = firstOf({ symbol: 'SPX', entry: { trigger: isLast }, range });
    expect([code, message, suggestion]).toEqual([
      'ORDERS_NEVER_FILLED',
      '1 entry signal, but no order was filled: a market order fills at the next open, and the range ends before it.',
      'Use a range that ends later.',
    ]);
  });

  it('names the condition that was unknown on every bar, which is no warm-up', () => {
    const profit = compare({ kind: 'state', field: 'position_unrealized_pnl' }, 'gt', constant(0), 'profit');
    const quotient = { kind: 'math', op: 'div', args: [close, constant(0)] };
    for (const trigger of [profit, compare(quotient, 'gt', constant(1), 'profit')]) {
      const { code, nodeId, message } = firstOf({ entry: { trigger } });
      expect([code, nodeId]).toEqual(['RULE_ALWAYS_FALSE', 'profit']);
      expect(message).toMatch(/ was unknown on all \d+ bars: a value in it was missing\.$/);
    }
  });

  it('moves the level of a cross into the range of what should cross it', () => {
    const { suggestion } = firstOf({ entry: { trigger: write.cross(rsi(14), 'cross_up', constant(100)) } });
    expect(suggestion).toBe('Move the right side into the range of the left.');
  });

  it('says when bars open, for hours in which none does', () => {
    const { suggestion } = firstOf({
      symbol: 'SPX',
      entry: { trigger: compare(close, 'gt', sma(20)), filters: [{ kind: 'session', name: 'us_equities' }] },
    });
    expect(suggestion).toContain('daily bars open at midnight UTC');
  });

  it('names a way to look back that the condition has', () => {
    expect(firstOf(CASES.NEVER_TOGETHER).suggestion).toContain('rolling_window with mode "any"');
  });
});

describe('the suggestion for rejected orders', () => {
  const rejectedBy = (more: Partial<Case>): string => {
    const { strategyTrace } = summaryOf({ ...CASES.ORDERS_REJECTED, ...more });
    const found = strategyTrace!.diagnosis.find((entry) => entry.code === 'ORDERS_REJECTED')!;
    return `${found.message} ${found.suggestion}`;
  };

  it('names leverage and a smaller risk when the size follows the balance, because more money changes nothing', () => {
    const told = rejectedBy({});
    expect(told).toMatch(/^\d+ of \d+ entry orders were rejected with INSUFFICIENT_BALANCE/);
    expect(told).toContain('Raise config.leverage or lower sizing.value');
    expect(rejectedBy({ balance: 1_000_000 })).toBe(told);
  });

  it('names remedies after which no order is rejected', () => {
    const codesOf = (more: Partial<Case>) =>
      summaryOf({ ...CASES.ORDERS_REJECTED, ...more }).strategyTrace!.diagnosis.map(({ code }) => code);
    expect(codesOf({})).toContain('ORDERS_REJECTED');
    for (const more of [{ leverage: 10 }, { sizing: { mode: 'risk_percent', value: 0.1 } }])
      expect(codesOf(more)).not.toContain('ORDERS_REJECTED');
  });

  it('is given from a tenth of the entry orders on', () => {
    const shares = [0.6, 0.7, 0.72, 0.9].map((value) => {
      const { strategyTrace } = summaryOf({ ...CASES.ORDERS_REJECTED, sizing: { mode: 'risk_percent', value } });
      const { entriesFilled, ordersRejected } = strategyTrace!.funnel;
      const rejected = Object.values(ordersRejected).reduce((sum, count) => sum + count, 0);
      const share = rejected / (rejected + entriesFilled);
      expect([value, strategyTrace!.diagnosis.some(({ code }) => code === 'ORDERS_REJECTED')]).toEqual([
        value,
        share >= 0.1,
      ]);
      return share;
    });
    expect(Math.max(...shares.filter((share) => share < 0.1))).toBeGreaterThan(0.05);
    expect(Math.min(...shares.filter((share) => share >= 0.1))).toBeLessThan(0.15);
  });

  it('names a larger balance when the size is fixed', () => {
    const told = rejectedBy({ sizing: { mode: 'fixed', value: 9 } });
    expect(told).toContain('a larger config.initialBalance');
  });
});

describe('FEES_EXCEED_EDGE', () => {
  const crossing: Case = { symbol: 'AAPL', entry: { trigger: cross('cross_up', 5, 20) }, exits: [crossExit(5, 20)] };
  /** The net profit that each kind of cost leaves, measured on its own. */
  const costsOf = ({ netProfit, totalFees, slippageCost, fundingPaid }: Summary) => {
    const costs = totalFees + slippageCost + fundingPaid;
    return { netProfit, costs, gross: netProfit + costs };
  };
  const found = ({ strategyTrace }: Summary) => strategyTrace!.diagnosis[0];

  it.each<[string, Partial<Case>]>([
    ['fees alone', { fee: 0.03 }],
    ['slippage alone', { slippageBps: 300 }],
    ['funding alone', { fundingRate: 0.01 }],
    ['fees that alone would leave a gain, and slippage', { fee: 0.012, slippageBps: 120 }],
    ['all three', { fee: 0.01, slippageBps: 100, fundingRate: 0.001 }],
  ])('is the first finding where %s turn a gain into a loss, with every number', (_, costs) => {
    const summary = summaryOf({ ...crossing, ...costs });
    const { netProfit, costs: total, gross } = costsOf(summary);
    expect([gross > 0, netProfit < 0]).toEqual([true, true]);
    expect(found(summary).code).toBe('FEES_EXCEED_EDGE');
    const shown = (value: number) => String(Number(value.toPrecision(6)));
    const { totalFees, slippageCost, fundingPaid } = summary;
    expect(found(summary).message).toBe(
      `Before costs the strategy made ${shown(gross)}. Costs took ${shown(total)} (fees ${shown(totalFees)}, ` +
        `slippage ${shown(slippageCost)}, funding ${shown(fundingPaid)}), which leaves ${shown(netProfit)}.`,
    );
  });

  it('is not given where the strategy loses before costs', () => {
    const summary = summaryOf({ ...CASES.LOST_MONEY, fee: 0.001, slippageBps: 5 });
    expect(costsOf(summary).gross).toBeLessThan(0);
    expect(summary.strategyTrace!.diagnosis.map(({ code }) => code)).not.toContain('FEES_EXCEED_EDGE');
  });
});

describe('AMBIGUITY_SENSITIVE', () => {
  const told = ({ strategyTrace }: Summary) =>
    strategyTrace!.diagnosis.find((entry) => entry.code === 'AMBIGUITY_SENSITIVE');
  const bandOf = (summary: Summary) =>
    (summary.ambiguity as { band: { pessimistic: number; optimistic: number } }).band;
  const percent = (value: number) => `${(100 * value).toFixed(2)} %`;
  /** Half at a near target, then break-even: the optimistic path takes the target and is stopped at the entry. */
  const breakEven: Case = {
    entry: { trigger: compare(close, 'gt', sma(20)) },
    risk: {
      stopLoss: { mode: 'percent', value: 2 },
      takeProfits: [
        { triggerPercent: 0.02, closePercent: 50, moveStopToBreakeven: true },
        { triggerPercent: 0.4, closePercent: 50 },
      ],
    },
  };

  it('gives each policy its own return', () => {
    const summary = summaryOf(CASES.AMBIGUITY_SENSITIVE);
    const band = bandOf(summary);
    expect(told(summary)!.message).toContain(`${percent(band.pessimistic)} under the pessimistic policy`);
    expect(told(summary)!.message).toContain(`${percent(band.optimistic)} under the optimistic one`);
    expect(told(summary)!.message).not.toContain('conservative');
  });

  it('says when the pessimistic policy earns more, and that "worst" takes the lower of the two', () => {
    const summary = summaryOf(breakEven);
    const band = bandOf(summary);
    expect(band.pessimistic).toBeGreaterThan(band.optimistic);
    expect(told(summary)!.message).toContain(`${percent(band.pessimistic)} under the pessimistic policy`);
    expect(told(summary)!.message).toContain(`${percent(band.optimistic)} under the optimistic one`);
    expect(told(summary)!.message).toContain('the pessimistic policy is not the conservative one');
    expect(told(summary)!.suggestion).toContain('"worst"');
    const worst = summaryOf({ ...breakEven, fallback: 'worst' });
    expect(worst.returnPct).toBe(band.optimistic);
    expect(summaryOf({ ...CASES.AMBIGUITY_SENSITIVE, fallback: 'worst' }).returnPct).toBe(
      bandOf(summaryOf(CASES.AMBIGUITY_SENSITIVE)).pessimistic,
    );
  });

  it('names the resolution too when that is what keeps "worst" from being read', () => {
    const { suggestion } = told(summaryOf({ ...breakEven, resolution: 'pessimistic', fallback: 'worst' }))!;
    expect(suggestion).toContain(
      'Set config.ambiguityResolution to "multi_resolution" and config.ambiguityFallback to "worst"',
    );
    expect(told(summaryOf(breakEven))!.suggestion).toMatch(/^Set config.ambiguityFallback to "worst"/);
  });
});
