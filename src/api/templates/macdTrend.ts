// MACD trend: the line crossing its signal, taken only in the direction of the long average.
import { suggestedConfig, type Template } from './template.ts';

const macdTrend: Template = {
  key: 'macd_trend',
  name: 'MACD with the trend',
  description:
    'Buys when MACD crosses above its signal line while the close is above its 100-bar average. Sells on the cross ' +
    'back, or at an eight percent trailing stop.',
  category: 'momentum',
  tags: ['macd', 'trend-filter', 'trailing-stop', 'long-only', 'daily'],
  settings: { maxConcurrentPositions: 1, warmupPeriod: 120 },
  signalGraph: {
    protocol: 'svc.signal-graph',
    version: 2,
    nodes: [
      {
        id: 'macd',
        kind: 'indicator',
        indicator: 'macd',
        args: { fast_length: 12, slow_length: 26, signal_length: 9 },
        output: 'macd',
      },
      {
        id: 'signal',
        kind: 'indicator',
        indicator: 'macd',
        args: { fast_length: 12, slow_length: 26, signal_length: 9 },
        output: 'signal',
      },
      { id: 'close', kind: 'market', field: 'close' },
      { id: 'average', kind: 'indicator', indicator: 'sma', args: { length: 100 } },
      { id: 'turns_up', kind: 'cross', op: 'cross_up', left: { ref: 'macd' }, right: { ref: 'signal' } },
      { id: 'turns_down', kind: 'cross', op: 'cross_down', left: { ref: 'macd' }, right: { ref: 'signal' } },
      { id: 'rising_market', kind: 'compare', op: 'gt', left: { ref: 'close' }, right: { ref: 'average' } },
    ],
    strategy: {
      kind: 'strategy',
      defaults: { instrument: { symbol: 'NASDAQ' }, timeframe: '1d' },
      entry: {
        kind: 'entry',
        setup: { ref: 'rising_market' },
        trigger: { ref: 'turns_up' },
        action: { side: 'long', sizing: { mode: 'percent_equity', value: 95 } },
      },
      exits: [{ kind: 'exit', id: 'signal_lost', when: { ref: 'turns_down' } }],
      risk: { trailingStop: { distancePercent: 8 } },
    },
  },
  suggestedConfig: suggestedConfig('NASDAQ', '1d'),
};
export default macdTrend;
