// Golden cross: the 50-day average crossing the 200-day one.
import { suggestedConfig, type Template } from './template.ts';

const goldenCross: Template = {
  key: 'golden_cross',
  name: 'Golden cross',
  description: 'Buys when the 50-bar average crosses above the 200-bar average and sells on the cross back.',
  category: 'trend',
  tags: ['moving-average', 'crossover', 'long-only', 'daily'],
  settings: { maxConcurrentPositions: 1, warmupPeriod: 200 },
  signalGraph: {
    protocol: 'svc.signal-graph',
    version: 2,
    nodes: [
      { id: 'fast', kind: 'indicator', indicator: 'sma', args: { length: 50 } },
      { id: 'slow', kind: 'indicator', indicator: 'sma', args: { length: 200 } },
      { id: 'golden', kind: 'cross', op: 'cross_up', left: { ref: 'fast' }, right: { ref: 'slow' } },
      { id: 'death', kind: 'cross', op: 'cross_down', left: { ref: 'fast' }, right: { ref: 'slow' } },
    ],
    strategy: {
      kind: 'strategy',
      defaults: { instrument: { symbol: 'SPX' }, timeframe: '1d' },
      entry: {
        kind: 'entry',
        trigger: { ref: 'golden' },
        action: { side: 'long', sizing: { mode: 'percent_equity', value: 100 } },
      },
      exits: [{ kind: 'exit', id: 'death_cross', when: { ref: 'death' } }],
    },
  },
  suggestedConfig: suggestedConfig('SPX', '1d'),
};
export default goldenCross;
