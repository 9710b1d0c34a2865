// `risk_percent`: the share of equity that is lost at the initial stop (semantics §4.3).
import { feeLines, largestQuantity } from '../fees/affordable.ts';
import { LOWER_RISK, sizePercent, sizingMode } from './sizingMode.ts';

export const riskPercent = sizingMode({
  mode: 'risk_percent',
  members: { value: sizePercent(100) },
  texts: { value: 'Percent of equity lost at the stop: 1 is 1 %. Needs a stop loss.' },
  unit: 'percentPoints',
  leastPercent: 0.1,
  readsStop: true,
  quantity: (value, { price, stopPrice, feeRate, stopFeeRate, orderFees, equity }) => {
    if (orderFees !== null) {
      const fees = [feeLines(orderFees, feeRate, price), feeLines(orderFees, stopFeeRate, stopPrice)];
      return Number.isNaN(stopPrice) ? NaN : largestQuantity(equity * (value / 100), Math.abs(price - stopPrice), fees);
    }
    const fee = Math.max(0, feeRate);
    const lossPerUnit = Math.abs(price - stopPrice) + fee * price + Math.max(0, stopFeeRate) * stopPrice;
    return (equity * (value / 100)) / lossPerUnit;
  },
  unaffordable: LOWER_RISK,
  otherNames: 'percent_risk risk_pct fixed_fractional',
  otherValueNames: 'riskPct risk_pct',
});
