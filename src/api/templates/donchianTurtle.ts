// Donchian turtle: system one of the turtles, 20-bar breakouts with an ATR stop, left on a 10-bar breakdown.
import { suggestedConfig, type Template } from './template.ts';

const close = { kind: 'market', field: 'close' };
/** The channel of the bars before this one: this bar's own high could never be broken. */
const channel = (length: number, output: 'upper' | 'lower') => ({
  kind: 'indicator',
  indicator: 'donchian',
  args: { length },
  output,
  offset: 1,
});

const donchianTurtle: Template = {
  key: 'donchian_turtle',
  name: 'Donchian turtle',
  description:
    'Buys a close above the highest high of 20 bars, risks 1 % of equity to a stop two ATRs away, leaves below the lowest low of 10 bars.',
  category: 'breakout',
  tags: ['donchian', 'atr-stop', 'risk-sizing', 'long-only', 'daily'],
  settings: { maxConcurrentPositions: 1, warmupPeriod: 25 },
  strategyAst: {
    protocol: 'svc.strategy',
    version: 1,
    strategy: {
      kind: 'strategy',
      defaults: { instrument: { symbol: 'AAPL' }, timeframe: '1d' },
      entry: {
        kind: 'entry',
        trigger: { id: 'breakout', kind: 'compare', op: 'gt', left: close, right: channel(20, 'upper') },
        action: { side: 'long', sizing: { mode: 'risk_percent', value: 1 } },
      },
      exits: [
        {
          kind: 'exit',
          id: 'breakdown',
          when: { id: 'below_channel', kind: 'compare', op: 'lt', left: close, right: channel(10, 'lower') },
        },
      ],
      risk: { stopLoss: { mode: 'atr', period: 20, multiplier: 2 } },
    },
  },
  suggestedConfig: suggestedConfig('AAPL', '1d'),
};
export default donchianTurtle;
