// Pullback in a daily trend: direction from the days, timing from the hours.
import { compare, cross, indicator, market, strategy } from './nodes.ts';
import { suggestedConfig, type Template } from './template.ts';

const rsi = indicator('rsi', { length: 14 });
const daily = { timeframe: '1d' };

const mtfTrendPullback: Template = {
  key: 'mtf_trend_pullback',
  name: 'Pullback in a daily trend',
  description:
    'While the last day closed above its 20-day EMA, buys when the hourly RSI climbs back above 35. Sells when RSI ' +
    'is above 65, or at a stop two and a half ATRs below the fill.',
  category: 'trend',
  tags: ['multi-timeframe', 'rsi', 'ema', 'pullback', 'intraday', 'long-only'],
  settings: { maxConcurrentPositions: 1, warmupPeriod: 550 },
  strategyAst: strategy({
    symbol: 'EURUSD',
    timeframe: '1h',
    setup: compare('daily_rise', market('close', daily), 'gt', indicator('ema', { length: 20 }, daily)),
    trigger: cross('dip_ends', rsi, 'cross_up', 35),
    exits: [compare('strong_again', rsi, 'gt', 65)],
    risk: { stopLoss: { mode: 'atr', period: 14, multiplier: 2.5 } },
  }),
  suggestedConfig: suggestedConfig('EURUSD', '1h'),
};
export default mtfTrendPullback;
