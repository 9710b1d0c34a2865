// RSI-2 mean reversion: Larry Connors' rule, buying short weakness inside a long rise.
import { suggestedConfig, type Template } from './template.ts';

const rsi2 = { kind: 'indicator', indicator: 'rsi', args: { length: 2 } };
const close = { kind: 'market', field: 'close' };
const sma = (length: number) => ({ kind: 'indicator', indicator: 'sma', args: { length } });

const rsi2MeanReversion: Template = {
  key: 'rsi2_mean_reversion',
  name: 'RSI-2 mean reversion',
  description:
    'Buys when the two-bar RSI falls below 10 while the close is above its 200-bar average; sells above the 5-bar average.',
  category: 'mean_reversion',
  tags: ['rsi', 'pullback', 'long-only', 'daily'],
  settings: { maxConcurrentPositions: 1, warmupPeriod: 200 },
  strategyAst: {
    protocol: 'svc.strategy',
    version: 1,
    strategy: {
      kind: 'strategy',
      defaults: { instrument: { symbol: 'SPX' }, timeframe: '1d' },
      entry: {
        kind: 'entry',
        setup: { id: 'long_rise', kind: 'compare', op: 'gt', left: close, right: sma(200) },
        trigger: { id: 'oversold', kind: 'compare', op: 'lt', left: rsi2, right: { kind: 'const', value: 10 } },
        action: { side: 'long', sizing: { mode: 'percent_equity', value: 95 } },
      },
      exits: [
        {
          kind: 'exit',
          id: 'recovered',
          when: { id: 'above_average', kind: 'compare', op: 'gt', left: close, right: sma(5) },
        },
      ],
      risk: { timeStop: { maxBars: 15 } },
    },
  },
  suggestedConfig: suggestedConfig('SPX', '1d'),
};
export default rsi2MeanReversion;
