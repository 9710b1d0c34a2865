// Example bodies of the backtest routes, shown in the OpenAPI document and sent to the routes by a test.

/** A placeholder for the id of a ready version, which finalize returns. */
const strategyVersionId = '019f4a52-7c1e-7d3a-9b60-5e2f8a1c4d07';

const execution = {
  feeModel: {
    kind: 'tiered_maker_taker',
    tiers: [{ minCumulativeNotional: 0, makerRate: 0.0001, takerRate: 0.0001 }],
  },
  slippage: { kind: 'fixed', unit: 'bps', value: 1 },
} as const;

/** Ten years of the S&P 500, with 1 basis point of fees and 1 basis point of slippage per fill. */
const config = {
  timeframe: '1d',
  signalInstrument: { symbol: 'SPX' },
  range: { start: '2009-01-01', end: '2019-01-01' },
  initialBalance: 10_000,
  execution,
} as const;

export const BACKTEST_EXAMPLES = [{ strategyVersionId, config }];
export const BATCH_EXAMPLES = [
  {
    items: ['SPX', 'NASDAQ'].map((symbol) => ({
      strategyVersionId,
      config: { ...config, signalInstrument: { symbol } },
    })),
  },
];
export const MATRIX_EXAMPLES = [
  {
    versions: [strategyVersionId],
    symbols: ['SPX', 'NASDAQ'],
    periods: [config.range, { start: '2019-01-01', end: null }],
    config,
  },
];
