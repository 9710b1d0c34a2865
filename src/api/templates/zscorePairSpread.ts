// Z-score of a pair: one share against another, the long leg only.
import { close, compare, cross, market, math, strategy } from './nodes.ts';
import { suggestedConfig, type Template } from './template.ts';

const other = market('close', { instrument: { symbol: 'MSFT' } });
const spread = math('sub', math('log', close), math('log', other));
const zscore = { kind: 'rolling', op: 'zscore', period: 60, source: spread };

const zscorePairSpread: Template = {
  key: 'zscore_pair_spread',
  name: 'Z-score of a pair',
  description:
    'Buys IBM when its log price ratio to MSFT falls two deviations below its 60-bar mean: the long leg of a pair. ' +
    'Sells at the mean, at a stop ten percent below the fill, or after 60 bars.',
  category: 'pairs',
  tags: ['zscore', 'spread', 'pair', 'other-instrument', 'long-only', 'daily'],
  settings: { maxConcurrentPositions: 1, warmupPeriod: 70 },
  strategyAst: strategy({
    symbol: 'IBM',
    timeframe: '1d',
    trigger: cross('cheap', zscore, 'cross_down', -2),
    exits: [compare('at_its_mean', zscore, 'gte', 0)],
    risk: { stopLoss: { mode: 'percent', value: 10 }, timeStop: { maxBars: 60 } },
  }),
  suggestedConfig: suggestedConfig('IBM', '1d'),
};
export default zscorePairSpread;
