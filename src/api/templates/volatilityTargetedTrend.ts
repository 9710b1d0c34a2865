// Volatility-targeted trend: the same risk in wild and in calm markets.
import { close, cross, sma, strategy } from './nodes.ts';
import { suggestedConfig, type Template } from './template.ts';

const volatilityTargetedTrend: Template = {
  key: 'volatility_targeted_trend',
  name: 'Volatility-targeted trend',
  description:
    'Buys when the close crosses above its 150-bar average and sells on the cross back, with a size that aims at 12 ' +
    '% volatility a year: small in wild markets, large in calm ones.',
  category: 'trend',
  tags: ['volatility-target', 'position-sizing', 'moving-average', 'long-only', 'daily'],
  settings: { maxConcurrentPositions: 1, warmupPeriod: 150 },
  strategyAst: strategy({
    symbol: 'SPX',
    timeframe: '1d',
    trigger: cross('above_average', close, 'cross_up', sma(150)),
    sizing: { mode: 'volatility_target', value: 12, atrPeriod: 20 },
    exits: [cross('below_average', close, 'cross_down', sma(150))],
  }),
  suggestedConfig: suggestedConfig('SPX', '1d'),
};
export default volatilityTargetedTrend;
