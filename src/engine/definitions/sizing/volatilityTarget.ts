// `volatility_target`: the position moves by this much of the equity per year, as far as funds allow (semantics §4.3).
import { bars1 } from '../expressionMembers.ts';
import { LOWER_RISK, quantityWithin, sizePercent, sizingMode } from './sizingMode.ts';

export const volatilityTarget = sizingMode({
  mode: 'volatility_target',
  members: { value: sizePercent(10_000), atrPeriod: bars1.default(14) },
  texts: {
    value: 'Volatility of the position per year, in percent: 20 is 20 %.',
    atrPeriod: 'Bars of the ATR it measures with.',
  },
  unit: 'percentPoints',
  leastPercent: 1,
  readsStop: false,
  quantity: (value, fill) => {
    const { price, feeRate, orderFees, equity, freeCash, leverage, atrFraction, barsPerYear } = fill;
    const wanted = (equity * (value / 100)) / (atrFraction * Math.sqrt(barsPerYear));
    if (orderFees !== null) return Math.min(wanted / price, quantityWithin(freeCash, 1 / leverage, fill));
    const affordable = freeCash / (1 / leverage + Math.max(0, feeRate));
    return Math.min(wanted, affordable) / price;
  },
  unaffordable: LOWER_RISK,
  otherNames: '',
  otherValueNames: 'percent pct',
});
