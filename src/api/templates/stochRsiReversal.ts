// Stochastic RSI reversal: the oscillator of an oscillator, turning at its floor.
import { compare, cross, indicator, strategy } from './nodes.ts';
import { suggestedConfig, type Template } from './template.ts';

const stochRsi = (output: 'k' | 'd') =>
  indicator('stoch_rsi', { length: 14, k_length: 14, k_smooth: 3, d_length: 3 }, { output });

const stochRsiReversal: Template = {
  key: 'stoch_rsi_reversal',
  name: 'Stochastic RSI reversal',
  description:
    'Buys when the stochastic RSI turns up from below 20 and sells above 80, with a stop four percent below the fill.',
  category: 'mean_reversion',
  tags: ['stoch-rsi', 'oscillator', 'stop-loss', 'long-only', 'daily'],
  settings: { maxConcurrentPositions: 1, warmupPeriod: 60 },
  strategyAst: strategy({
    symbol: 'IBM',
    timeframe: '1d',
    setup: compare('at_the_floor', stochRsi('d'), 'lt', 20),
    trigger: cross('turns_up', stochRsi('k'), 'cross_up', stochRsi('d')),
    exits: [compare('at_the_ceiling', stochRsi('k'), 'gt', 80)],
    risk: { stopLoss: { mode: 'percent', value: 4 } },
  }),
  suggestedConfig: suggestedConfig('IBM', '1d'),
};
export default stochRsiReversal;
