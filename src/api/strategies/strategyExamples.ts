// Example bodies of the strategy routes, shown in the OpenAPI document and sent to the routes by a test.
import { GOLDEN_CROSS } from '../templates/catalog.ts';

/** Two averages that cross, with a stop loss and a take-profit: the strategy of the README. */
export const EXAMPLE_STRATEGY_AST = {
  protocol: 'svc.strategy',
  version: 1,
  strategy: {
    kind: 'strategy',
    entry: {
      kind: 'entry',
      trigger: {
        kind: 'cross',
        op: 'cross_up',
        left: { kind: 'indicator', indicator: 'sma', args: { length: 50 } },
        right: { kind: 'indicator', indicator: 'sma', args: { length: 200 } },
      },
      action: { side: 'long', sizing: { mode: 'percent_equity', value: 100 } },
    },
    risk: {
      stopLoss: { mode: 'percent', value: 10 },
      takeProfits: [{ triggerPercent: 20, closePercent: 100 }],
    },
  },
};
const rsi = { kind: 'indicator', indicator: 'rsi', args: { length: 2 } };
/** A dip in a trend of a second timeframe, with two reasons to exit and all kinds of levels. */
export const EXAMPLE_MANAGED_AST = {
  protocol: 'svc.strategy',
  version: 1,
  strategy: {
    kind: 'strategy',
    entry: {
      kind: 'entry',
      trigger: { kind: 'compare', op: 'lt', left: rsi, right: { kind: 'const', value: 10 } },
      filters: [
        {
          kind: 'compare',
          op: 'gt',
          left: { kind: 'indicator', indicator: 'macd', output: 'histogram', timeframe: '1d' },
          right: { kind: 'const', value: 0 },
        },
      ],
      action: { side: 'long', sizing: { mode: 'risk_percent', value: 1 } },
    },
    exits: [
      {
        kind: 'exit',
        when: {
          kind: 'any',
          items: [
            { kind: 'compare', op: 'gt', left: rsi, right: { kind: 'const', value: 70 } },
            {
              kind: 'compare',
              op: 'gte',
              left: { kind: 'state', field: 'position_bars_since_entry' },
              right: { kind: 'const', value: 24 },
            },
          ],
        },
      },
    ],
    risk: {
      stopLoss: { mode: 'atr', period: 14, multiplier: 3 },
      takeProfits: [{ triggerR: 2, closePercent: 50, moveStopToBreakeven: true }],
      trailingStop: { distanceAtr: { period: 14, multiplier: 4 } },
    },
  },
};
/** The three strongest of a year, chosen at each end of a month. */
export const EXAMPLE_ROTATION_AST = {
  protocol: 'svc.strategy',
  version: 1,
  strategy: {
    kind: 'strategy',
    allocation: {
      kind: 'allocation',
      when: { kind: 'schedule', every: 'month', on: 'last' },
      long: { by: { kind: 'indicator', indicator: 'roc', args: { length: 252 } }, top: 3 },
    },
  },
};
const settings = { maxConcurrentPositions: 1, warmupPeriod: 200 };

export const VALIDATE_EXAMPLES = [
  { settings, strategyAst: EXAMPLE_STRATEGY_AST },
  { settings, signalGraph: GOLDEN_CROSS.signalGraph },
];
export const CREATE_EXAMPLES = [
  {
    name: 'Golden cross',
    description: 'Buys when the 50-day average crosses above the 200-day average.',
    settings,
    strategyAst: EXAMPLE_STRATEGY_AST,
  },
];
/** Promote the stored draft; make a new ready version from a payload. */
export const FINALIZE_EXAMPLES = [
  { version: 1 },
  { settings, strategyAst: EXAMPLE_STRATEGY_AST, ignoreWarnings: false },
];
export const COPY_EXAMPLES = [{ name: 'My golden cross', description: 'Copied to try other lengths.' }];

/** Close above its 50-bar average opens a position; below it closes it. */
export const TOKENS_EXAMPLES = [
  {
    entryTokens: [
      { id: 't1', type: 'market', value: 'close' },
      { id: 't2', type: 'operator', value: 'cross_up' },
      { id: 't3', type: 'indicator', name: 'sma', args: { length: 50 } },
    ],
    exitTokens: [
      { id: 't4', type: 'market', value: 'close' },
      { id: 't5', type: 'operator', value: 'cross_down' },
      { id: 't6', type: 'indicator', name: 'sma', args: { length: 50 } },
    ],
    settings: { maxConcurrentPositions: 1, warmupPeriod: 50 },
  },
];
