// Hammer at support: a hammer candle near the low of the bars before.
import { close, compare, indicator, market, math, sma, strategy } from './nodes.ts';
import { suggestedConfig, type Template } from './template.ts';

const support = indicator('donchian', { length: 20 }, { output: 'lower', offset: 1 });

const hammerAtSupport: Template = {
  key: 'hammer_at_support',
  name: 'Hammer at support',
  description:
    'Buys a hammer whose low is within two percent of the lowest low of the 20 bars before. Sells above the 20-bar ' +
    'average, at a stop two ATRs below the fill, or after 30 bars.',
  category: 'pattern',
  tags: ['candlestick', 'hammer', 'support', 'long-only', 'daily'],
  settings: { maxConcurrentPositions: 1, warmupPeriod: 40 },
  strategyAst: strategy({
    symbol: 'MSFT',
    timeframe: '1d',
    setup: compare('at_support', market('low'), 'lte', math('mul', support, 1.02)),
    trigger: { id: 'hammer', kind: 'pattern', name: 'hammer', side: 'bullish' },
    exits: [compare('above_average', close, 'gt', sma(20))],
    risk: { stopLoss: { mode: 'atr', period: 14, multiplier: 2 }, timeStop: { maxBars: 30 } },
  }),
  suggestedConfig: suggestedConfig('MSFT', '1d'),
};
export default hammerAtSupport;
