// Bollinger squeeze breakout: quiet markets end in a move.
import { close, compare, cross, indicator, math, strategy } from './nodes.ts';
import { suggestedConfig, type Template } from './template.ts';

const band = (output: 'upper' | 'middle' | 'lower') => indicator('bbands', { length: 20, multiplier: 2 }, { output });
const width = math('div', math('sub', band('upper'), band('lower')), band('middle'));
/** Read a bar before the breakout, which itself widens the bands. */
const widthRank = { kind: 'rolling', op: 'percentile_rank', period: 120, source: width, offset: 1 };

const bollingerSqueezeBreakout: Template = {
  key: 'bollinger_squeeze_breakout',
  name: 'Bollinger squeeze breakout',
  description:
    'After a quiet time (band width among the lowest fifth of 120 bars), buys when the close crosses above the ' +
    'upper band. Sells when it crosses below the middle band, or at a stop six percent below the fill.',
  category: 'breakout',
  tags: ['bollinger', 'squeeze', 'volatility', 'long-only', 'daily'],
  settings: { maxConcurrentPositions: 1, warmupPeriod: 140 },
  strategyAst: strategy({
    symbol: 'GOOG',
    timeframe: '1d',
    setup: compare('quiet', widthRank, 'lt', 20),
    trigger: cross('breaks_out', close, 'cross_up', band('upper')),
    exits: [cross('falls_back', close, 'cross_down', band('middle'))],
    risk: { stopLoss: { mode: 'percent', value: 6 } },
  }),
  suggestedConfig: suggestedConfig('GOOG', '1d'),
};
export default bollingerSqueezeBreakout;
