// Supertrend following: the ATR band that changes sides.
import { cross, indicator, strategy } from './nodes.ts';
import { suggestedConfig, type Template } from './template.ts';

/** 1 up, -1 down. */
const direction = indicator('supertrend', { length: 10, multiplier: 3 }, { output: 'trend' });

const supertrendFollow: Template = {
  key: 'supertrend_follow',
  name: 'Supertrend following',
  description: 'Long while the supertrend points up: buys when its direction turns, sells when it turns back.',
  category: 'trend',
  tags: ['supertrend', 'atr', 'always-in', 'long-only', 'daily'],
  settings: { maxConcurrentPositions: 1, warmupPeriod: 60 },
  strategyAst: strategy({
    symbol: 'AAPL',
    timeframe: '1d',
    trigger: cross('turns_up', direction, 'cross_up', 0),
    exits: [cross('turns_down', direction, 'cross_down', 0)],
  }),
  suggestedConfig: suggestedConfig('AAPL', '1d'),
};
export default supertrendFollow;
