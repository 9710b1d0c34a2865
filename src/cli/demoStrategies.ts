// The strategies of the demo's agent: one with mistakes to repair, one with parameters, one that never trades.

const market = (id: string, field: string) => ({ id, kind: 'market', field });
const indicator = (id: string, name: string, args: object) => ({ id, kind: 'indicator', indicator: name, args });
const compare = (id: string, op: string, left: string, right: object) => ({
  id,
  kind: 'compare',
  op,
  left: { ref: left },
  right,
});
const entry = (trigger: string, filters: readonly string[]) => ({
  kind: 'entry',
  trigger: { ref: trigger },
  filters: filters.map((ref) => ({ ref })),
  action: { side: 'long', sizing: { mode: 'percent_equity', value: 95 } },
});

/** Holds the five instruments with the largest change over half a year, chosen at the end of each month. */
export const ROTATION_GRAPH = {
  protocol: 'svc.signal-graph',
  version: 2,
  nodes: [
    { id: 'strength', kind: 'indicator', indicator: 'roc', args: { length: 126 } },
    { id: 'month', kind: 'schedule', every: 'month', on: 'last' },
  ],
  strategy: {
    kind: 'strategy',
    allocation: {
      kind: 'allocation',
      when: { ref: 'month' },
      long: { by: { ref: 'strength' }, top: 5, keepWithin: 8 },
    },
  },
} as const;

/** Buys dips of the RSI in an uptrend. It has four typing mistakes, each of which validation can repair. */
export const BROKEN_GRAPH = {
  protocol: 'svc.signal-graph',
  version: 2,
  meta: { name: 'Dips in an uptrend', source: { editor: 'ai' } },
  nodes: [
    market('price', 'close'),
    indicator('dip', 'rssi', { length: { param: 'length' } }),
    indicator('trend', 'sma', { lenght: 100 }),
    compare('oversold', 'lt', 'dip', { param: 'threshold' }),
    compare('uptrend', 'gt', 'prcie', { ref: 'trend' }),
    compare('recovered', 'gt', 'dip', { const: 55 }),
  ],
  strategy: {
    kind: 'strategy',
    params: [
      { name: 'length', type: 'int', default: 5, min: 2, max: 50 },
      { name: 'threshold', type: 'float', default: 30, min: 1, max: 60 },
    ],
    entry: entry('oversold', ['uptrend']),
    exits: [{ kind: 'exit', id: 'take-recovery', when: { ref: 'recovered' } }],
    risk: { stopLoss: { mode: 'percent', valeu: 3 } },
  },
} as const;

/** Buys when a fast mean crosses above a slow one and sells when it crosses back. */
export const CROSS_GRAPH = {
  protocol: 'svc.signal-graph',
  version: 2,
  meta: { name: 'Two means', source: { editor: 'ai' } },
  nodes: [
    indicator('fast', 'sma', { length: { param: 'fast' } }),
    indicator('slow', 'sma', { length: { param: 'slow' } }),
    { id: 'golden', kind: 'cross', op: 'cross_up', left: { ref: 'fast' }, right: { ref: 'slow' } },
    { id: 'death', kind: 'cross', op: 'cross_down', left: { ref: 'fast' }, right: { ref: 'slow' } },
  ],
  strategy: {
    kind: 'strategy',
    params: [
      { name: 'fast', type: 'int', default: 10, min: 2, max: 100 },
      { name: 'slow', type: 'int', default: 50, min: 3, max: 400 },
    ],
    entry: entry('golden', []),
    exits: [{ kind: 'exit', id: 'death-cross', when: { ref: 'death' } }],
  },
} as const;

/** Waits for a fall that its own filter rules out. */
export const SILENT_GRAPH = {
  protocol: 'svc.signal-graph',
  version: 2,
  meta: { name: 'Too careful', source: { editor: 'ai' } },
  nodes: [
    market('price', 'close'),
    indicator('dip', 'rsi', { length: 14 }),
    indicator('trend', 'sma', { length: 20 }),
    compare('deep-dip', 'lt', 'dip', { const: 22 }),
    compare('above-trend', 'gt', 'price', { ref: 'trend' }),
  ],
  strategy: {
    kind: 'strategy',
    entry: entry('deep-dip', ['above-trend']),
    risk: { stopLoss: { mode: 'percent', value: 2 }, takeProfits: [{ triggerPercent: 4, closePercent: 100 }] },
  },
} as const;

const SYMBOLS = ['SPX', 'NASDAQ', 'AAPL', 'IBM', 'MSFT'] as const;

export const configOf = (symbol: string, timeframe: string, params: Readonly<Record<string, number>> = {}) => ({
  timeframe,
  signalInstrument: { symbol },
  initialBalance: 10_000,
  execution: {
    feeModel: {
      kind: 'tiered_maker_taker',
      tiers: [{ minCumulativeNotional: 0, makerRate: 0.00002, takerRate: 0.00005 }],
    },
    slippage: { kind: 'fixed', unit: 'bps', value: 0.5 },
  },
  params,
});

/** 100 runs of the repaired strategy on hourly EURUSD, and 20 of the two means on each of five daily series. */
export function batchItems(dipsVersionId: string, crossVersionId: string) {
  const dips = Array.from({ length: 100 }, (_, index) => ({
    strategyVersionId: dipsVersionId,
    config: configOf('EURUSD', '1h', { length: 3 + (index % 10), threshold: 20 + 2 * Math.floor(index / 10) }),
  }));
  const crosses = SYMBOLS.flatMap((symbol) =>
    Array.from({ length: 20 }, (_, index) => ({
      strategyVersionId: crossVersionId,
      config: configOf(symbol, '1d', { fast: 5 + 5 * (index % 5), slow: 40 + 30 * Math.floor(index / 5) }),
    })),
  );
  return [...dips, ...crosses];
}
