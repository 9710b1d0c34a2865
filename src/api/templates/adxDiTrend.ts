// ADX and directional movement: a direction, and the strength to take it.
import { compare, cross, indicator, strategy } from './nodes.ts';
import { suggestedConfig, type Template } from './template.ts';

const of = (name: 'adx' | 'plus_di' | 'minus_di') => indicator(name, { length: 14 });

const adxDiTrend: Template = {
  key: 'adx_di_trend',
  name: 'ADX and directional movement',
  description:
    'Buys when +DI crosses above -DI while ADX is above 20 and sells on the cross back, with a trailing stop of ' +
    'three ATRs.',
  category: 'trend',
  tags: ['adx', 'directional-movement', 'trailing-stop', 'long-only', 'daily'],
  settings: { maxConcurrentPositions: 1, warmupPeriod: 60 },
  strategyAst: strategy({
    symbol: 'NASDAQ',
    timeframe: '1d',
    setup: compare('strong_trend', of('adx'), 'gt', 20),
    trigger: cross('buyers_lead', of('plus_di'), 'cross_up', of('minus_di')),
    exits: [cross('sellers_lead', of('minus_di'), 'cross_up', of('plus_di'))],
    risk: { trailingStop: { distanceAtr: { period: 14, multiplier: 3 } } },
  }),
  suggestedConfig: suggestedConfig('NASDAQ', '1d'),
};
export default adxDiTrend;
