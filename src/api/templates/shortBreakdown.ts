// Short breakdown: the Donchian turtle for short positions, taken only below the 100-bar average.
import { close, compare, indicator, sma, strategy } from './nodes.ts';
import { suggestedConfig, type Template } from './template.ts';

const channel = (length: number, output: 'upper' | 'lower') => indicator('donchian', { length }, { output, offset: 1 });

const shortBreakdown: Template = {
  key: 'short_breakdown',
  name: 'Short breakdown',
  description:
    'Below the 100-bar average, sells short with half of the equity on a close under the lowest low of the 20 bars ' +
    'before. Covers above the highest high of the 10 bars before, or at a stop two ATRs above the fill.',
  category: 'breakout',
  tags: ['short', 'donchian', 'atr-stop', 'daily'],
  settings: { maxConcurrentPositions: 1, warmupPeriod: 100 },
  strategyAst: strategy({
    symbol: 'SPX',
    timeframe: '1d',
    side: 'short',
    setup: compare('falling', close, 'lt', sma(100)),
    trigger: compare('breakdown', close, 'lt', channel(20, 'lower')),
    sizing: { mode: 'percent_equity', value: 50 },
    exits: [compare('recovered', close, 'gt', channel(10, 'upper'))],
    risk: { stopLoss: { mode: 'atr', period: 20, multiplier: 2 } },
  }),
  suggestedConfig: suggestedConfig('SPX', '1d'),
};
export default shortBreakdown;
