// Example bodies of the sweep routes, shown in the OpenAPI document and sent to the routes by a test.

/** Stands for the id of a ready version, which finalize answers. */
const strategyVersionId = '019f4a52-7c1e-7d3a-9b60-5e2f8a1c4d07';

/** Both markets, without a param: the space of a strategy that declares none. */
export const SWEEP_EXAMPLES = [
  {
    strategyVersionId,
    config: {
      timeframe: '1d',
      signalInstrument: { symbol: 'SPX' },
      initialBalance: 10_000,
      execution: {
        feeModel: {
          kind: 'tiered_maker_taker',
          tiers: [{ minCumulativeNotional: 0, makerRate: 0.0001, takerRate: 0.0001 }],
        },
        slippage: { kind: 'fixed', unit: 'bps', value: 1 },
      },
    },
    space: { symbol: { values: ['SPX', 'NASDAQ'] } },
    method: 'grid',
    objective: 'sharpeRatio',
  },
];
