// VWAP reversion: buying below the day's volume-weighted average price, selling when it is reached again.
import { close, compare, cross, indicator, math, strategy } from './nodes.ts';
import { suggestedConfig, type Template } from './template.ts';

/**
 * Starts over at midnight UTC: TA-Lib's VWAP accumulates from the first bar of the data, and after weeks hardly moves.
 */
const vwap = indicator('vwap_session', {});
const oneRangeBelow = math('sub', vwap, indicator('atr', { length: 14 }));

const vwapReversion: Template = {
  key: 'vwap_reversion',
  name: 'VWAP reversion',
  description:
    'Buys when the close falls one ATR below the volume-weighted average price of the day (UTC). Sells when it is ' +
    'back, at a stop three ATRs below the fill, or after 12 bars.',
  category: 'mean_reversion',
  tags: ['vwap', 'volume', 'intraday', 'long-only'],
  settings: { maxConcurrentPositions: 1, warmupPeriod: 40 },
  strategyAst: strategy({
    symbol: 'EURUSD',
    timeframe: '1h',
    trigger: cross('stretched', close, 'cross_down', oneRangeBelow),
    exits: [compare('back_at_vwap', close, 'gte', vwap)],
    risk: { stopLoss: { mode: 'atr', period: 14, multiplier: 3 }, timeStop: { maxBars: 12 } },
  }),
  suggestedConfig: suggestedConfig('EURUSD', '1h'),
};
export default vwapReversion;
