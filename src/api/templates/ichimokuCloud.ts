// Ichimoku cloud: three of its five lines; the lagging one would look ahead and is not offered.
import { close, compare, cross, indicator, math, strategy } from './nodes.ts';
import { suggestedConfig, type Template } from './template.ts';

const line = (output: 'conversion' | 'base' | 'span_a' | 'span_b') =>
  indicator('ichimoku', { conversion_length: 9, base_length: 26, span_b_length: 52, displacement: 26 }, { output });
const cloudTop = math('max', line('span_a'), line('span_b'));
const cloudBottom = math('min', line('span_a'), line('span_b'));

const ichimokuCloud: Template = {
  key: 'ichimoku_cloud',
  name: 'Ichimoku cloud',
  description:
    'Above the cloud buys when the conversion line crosses above the base line; sells on the cross back or below ' +
    'the cloud.',
  category: 'trend',
  tags: ['ichimoku', 'cloud', 'long-only', 'daily'],
  settings: { maxConcurrentPositions: 1, warmupPeriod: 120 },
  strategyAst: strategy({
    symbol: 'SPX',
    timeframe: '1d',
    setup: compare('above_cloud', close, 'gt', cloudTop),
    trigger: cross('lines_cross', line('conversion'), 'cross_up', line('base')),
    exits: [
      cross('lines_cross_back', line('conversion'), 'cross_down', line('base')),
      compare('below_cloud', close, 'lt', cloudBottom),
    ],
  }),
  suggestedConfig: suggestedConfig('SPX', '1d'),
};
export default ichimokuCloud;
