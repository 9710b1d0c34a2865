// Example bodies of the routes that compare and combine backtests, sent to them by a test.

/** Placeholders for the ids of completed backtests. */
const [first, second] = ['019f4a52-7c1e-7d3a-9b60-5e2f8a1c4d08', '019f4a52-7c1e-7d3a-9b60-5e2f8a1c4d09'];

export const COMPARE_EXAMPLES = [
  { backtestIds: [first, second] },
  { backtestIds: [first, second], metrics: ['returnPct' as const, 'maxDrawdown' as const], tradeRows: 3, wait: 60 },
];
export const COMBINE_EXAMPLES = [
  {
    backtests: [
      { backtestId: first, weight: 0.6 },
      { backtestId: second, weight: 0.4 },
    ],
    rebalance: 'monthly' as const,
  },
];
