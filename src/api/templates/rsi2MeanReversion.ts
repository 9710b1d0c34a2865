// RSI-2 mean reversion: Larry Connors' rule, buying short weakness inside a long rise.
import { close, compare, indicator, sma, strategy } from './nodes.ts';
import { suggestedConfig, type Template } from './template.ts';

const rsi2 = indicator('rsi', { length: 2 });

const rsi2MeanReversion: Template = {
  key: 'rsi2_mean_reversion',
  name: 'RSI-2 mean reversion',
  description:
    'Buys when the two-bar RSI is below 10 while the close is above its 200-bar average. Sells above the 5-bar ' +
    'average, or after 15 bars.',
  category: 'mean_reversion',
  tags: ['rsi', 'pullback', 'time-stop', 'long-only', 'daily'],
  settings: { maxConcurrentPositions: 1, warmupPeriod: 200 },
  strategyAst: strategy({
    symbol: 'SPX',
    timeframe: '1d',
    setup: compare('long_rise', close, 'gt', sma(200)),
    trigger: compare('oversold', rsi2, 'lt', 10),
    exits: [compare('recovered', close, 'gt', sma(5))],
    risk: { timeStop: { maxBars: 15 } },
  }),
  suggestedConfig: suggestedConfig('SPX', '1d'),
};
export default rsi2MeanReversion;
