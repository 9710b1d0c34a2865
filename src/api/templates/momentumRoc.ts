// Rate-of-change momentum: holds what has risen over half a year, until the change turns negative.
import { close, compare, cross, indicator, sma, strategy } from './nodes.ts';
import { suggestedConfig, type Template } from './template.ts';

const change = indicator('roc', { length: 126 });

const momentumRoc: Template = {
  key: 'momentum_roc',
  name: 'Rate-of-change momentum',
  description:
    'Buys when the change over 126 bars turns positive while the close is above its 200-bar average; sells when it ' +
    'turns negative.',
  category: 'momentum',
  tags: ['rate-of-change', 'time-series-momentum', 'long-only', 'daily'],
  settings: { maxConcurrentPositions: 1, warmupPeriod: 200 },
  strategyAst: strategy({
    symbol: 'GOOG',
    timeframe: '1d',
    trigger: cross('turns_positive', change, 'cross_up', 0),
    filters: [compare('above_average', close, 'gt', sma(200))],
    exits: [cross('turns_negative', change, 'cross_down', 0)],
  }),
  suggestedConfig: suggestedConfig('GOOG', '1d'),
};
export default momentumRoc;
