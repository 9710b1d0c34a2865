// Donchian turtle: system one of the turtles, 20-bar breakouts with an ATR stop, left on a 10-bar breakdown.
import { close, compare, indicator, strategy } from './nodes.ts';
import { suggestedConfig, type Template } from './template.ts';

/** The channel of the bars before this one: a close never breaks the high of its own bar. */
const channel = (length: number, output: 'upper' | 'lower') => indicator('donchian', { length }, { output, offset: 1 });

const donchianTurtle: Template = {
  key: 'donchian_turtle',
  name: 'Donchian turtle',
  description:
    'Buys a close above the highest high of 20 bars, risks 1 % of equity to a stop two ATRs away, leaves below the ' +
    'lowest low of 10 bars.',
  category: 'breakout',
  tags: ['donchian', 'atr-stop', 'risk-sizing', 'long-only', 'daily'],
  settings: { maxConcurrentPositions: 1, warmupPeriod: 25 },
  strategyAst: strategy({
    symbol: 'AAPL',
    timeframe: '1d',
    trigger: compare('breakout', close, 'gt', channel(20, 'upper')),
    sizing: { mode: 'risk_percent', value: 1 },
    exits: [compare('breakdown', close, 'lt', channel(10, 'lower'))],
    risk: { stopLoss: { mode: 'atr', period: 20, multiplier: 2 } },
  }),
  suggestedConfig: suggestedConfig('AAPL', '1d'),
};
export default donchianTurtle;
