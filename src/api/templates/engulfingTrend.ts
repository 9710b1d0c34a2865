// Engulfing with the trend: one candle swallowing another, on the side of the average.
import { close, compare, sma, strategy } from './nodes.ts';
import { suggestedConfig, type Template } from './template.ts';

const engulfing = (side: 'bullish' | 'bearish') => ({
  id: `${side}_engulfing`,
  kind: 'pattern',
  name: 'engulfing',
  side,
});

const engulfingTrend: Template = {
  key: 'engulfing_trend',
  name: 'Engulfing with the trend',
  description:
    'Above the 100-bar average buys a bullish engulfing candle and sells a bearish one, with a six percent trailing ' +
    'stop.',
  category: 'pattern',
  tags: ['candlestick', 'engulfing', 'trailing-stop', 'long-only', 'daily'],
  settings: { maxConcurrentPositions: 1, warmupPeriod: 100 },
  strategyAst: strategy({
    symbol: 'AAPL',
    timeframe: '1d',
    setup: compare('rising', close, 'gt', sma(100)),
    trigger: engulfing('bullish'),
    exits: [engulfing('bearish')],
    risk: { trailingStop: { distancePercent: 6 } },
  }),
  suggestedConfig: suggestedConfig('AAPL', '1d'),
};
export default engulfingTrend;
