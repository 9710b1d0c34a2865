// Opening range breakout: the first hour of London sets the range of the day.
import { close, cross, market, strategy } from './nodes.ts';
import { suggestedConfig, type Template } from './template.ts';

const between = (from: string, to: string) => ({
  kind: 'time_window',
  timezone: 'Europe/London',
  between: { from, to },
});
/** The latest bar that opened in the first hour. */
const ofFirstHour = (field: 'high' | 'low') => ({
  kind: 'value_when',
  value: market(field),
  when: between('08:00', '09:00'),
});

const openingRangeBreakout: Template = {
  key: 'opening_range_breakout',
  name: 'Opening range breakout',
  description:
    'Buys when the close breaks above the high of the first London hour, stops at its low, aims at twice the risk ' +
    'and is flat by the evening.',
  category: 'breakout',
  tags: ['opening-range', 'session', 'london', 'intraday', 'long-only'],
  settings: { maxConcurrentPositions: 1, warmupPeriod: 30 },
  strategyAst: strategy({
    symbol: 'EURUSD',
    timeframe: '1h',
    setup: { id: 'trading_hours', ...between('09:00', '16:00') },
    trigger: cross('breaks_range', close, 'cross_up', ofFirstHour('high')),
    exits: [{ id: 'evening', ...between('17:00', '24:00') }],
    risk: {
      stopLoss: { mode: 'price', value: ofFirstHour('low') },
      takeProfits: [{ triggerR: 2, closePercent: 100 }],
    },
  }),
  suggestedConfig: suggestedConfig('EURUSD', '1h'),
};
export default openingRangeBreakout;
