// EMA pullback: buying the end of a dip inside a rise.
import { compare, cross, indicator, strategy } from './nodes.ts';
import { suggestedConfig, type Template } from './template.ts';

const rsi = indicator('rsi', { length: 14 });
const ema = (length: number) => indicator('ema', { length });

const emaPullbackRsi: Template = {
  key: 'ema_pullback_rsi',
  name: 'EMA pullback with RSI',
  description:
    'Inside a rise (50-bar EMA above the 200-bar one), buys when RSI climbs back above 40. Sells when RSI is above ' +
    '65, or at a stop three ATRs below the fill.',
  category: 'trend',
  tags: ['ema', 'rsi', 'pullback', 'atr-stop', 'long-only', 'daily'],
  settings: { maxConcurrentPositions: 1, warmupPeriod: 250 },
  strategyAst: strategy({
    symbol: 'NASDAQ',
    timeframe: '1d',
    setup: compare('rising', ema(50), 'gt', ema(200)),
    trigger: cross('dip_ends', rsi, 'cross_up', 40),
    exits: [compare('strong_again', rsi, 'gt', 65)],
    risk: { stopLoss: { mode: 'atr', period: 14, multiplier: 3 } },
  }),
  suggestedConfig: suggestedConfig('NASDAQ', '1d'),
};
export default emaPullbackRsi;
