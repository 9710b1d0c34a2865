// Keltner breakout: leaving the channel of average range.
import { close, cross, indicator, strategy } from './nodes.ts';
import { suggestedConfig, type Template } from './template.ts';

const channel = (output: 'upper' | 'middle') =>
  indicator('keltner', { length: 20, atr_length: 10, multiplier: 2 }, { output });

const keltnerBreakout: Template = {
  key: 'keltner_breakout',
  name: 'Keltner breakout',
  description:
    'Buys a close crossing above the upper Keltner channel. Sells when the close crosses below its middle, or at a ' +
    'stop two and a half ATRs below the fill.',
  category: 'breakout',
  tags: ['keltner', 'atr', 'long-only', 'intraday'],
  settings: { maxConcurrentPositions: 1, warmupPeriod: 80 },
  strategyAst: strategy({
    symbol: 'EURUSD',
    timeframe: '1h',
    trigger: cross('leaves_channel', close, 'cross_up', channel('upper')),
    exits: [cross('back_to_middle', close, 'cross_down', channel('middle'))],
    risk: { stopLoss: { mode: 'atr', period: 14, multiplier: 2.5 } },
  }),
  suggestedConfig: suggestedConfig('EURUSD', '1h'),
};
export default keltnerBreakout;
