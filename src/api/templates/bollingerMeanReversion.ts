// Bollinger mean reversion: buying the return into the bands, aiming at their middle.
import { suggestedConfig, type Template } from './template.ts';

const bollingerMeanReversion: Template = {
  key: 'bollinger_mean_reversion',
  name: 'Bollinger mean reversion',
  description:
    'Buys when the close comes back above the lower band and sells at the middle band or three percent below the fill.',
  category: 'mean_reversion',
  tags: ['bollinger', 'stop-loss', 'long-only', 'daily'],
  settings: { maxConcurrentPositions: 1, warmupPeriod: 30 },
  signalGraph: {
    protocol: 'svc.signal-graph',
    version: 2,
    nodes: [
      { id: 'close', kind: 'market', field: 'close' },
      { id: 'lower', kind: 'indicator', indicator: 'bbands', args: { length: 20, multiplier: 2 }, output: 'lower' },
      { id: 'middle', kind: 'indicator', indicator: 'bbands', args: { length: 20, multiplier: 2 }, output: 'middle' },
      { id: 'back_inside', kind: 'cross', op: 'cross_up', left: { ref: 'close' }, right: { ref: 'lower' } },
      { id: 'at_middle', kind: 'compare', op: 'gte', left: { ref: 'close' }, right: { ref: 'middle' } },
    ],
    strategy: {
      kind: 'strategy',
      defaults: { instrument: { symbol: 'MSFT' }, timeframe: '1d' },
      entry: {
        kind: 'entry',
        trigger: { ref: 'back_inside' },
        action: { side: 'long', sizing: { mode: 'percent_equity', value: 95 } },
      },
      exits: [{ kind: 'exit', id: 'target', when: { ref: 'at_middle' } }],
      risk: { stopLoss: { mode: 'percent', value: 3 } },
    },
  },
  suggestedConfig: suggestedConfig('MSFT', '1d'),
};
export default bollingerMeanReversion;
