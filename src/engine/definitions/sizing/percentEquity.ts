// `percent_equity`: a share of the equity; 100 % pays its own fee and slippage (semantics §4.2).
import {
  LOWER_SHARE,
  MAX_SIZING_PERCENT,
  quantityWithin,
  sizePercent,
  sizingMode,
  type SizedFill,
} from './sizingMode.ts';

export const percentEquity = sizingMode({
  mode: 'percent_equity',
  members: { value: sizePercent(MAX_SIZING_PERCENT) },
  texts: { value: 'Percent of equity: 95 is 95 %, 0.95 is 0.95 %.' },
  unit: 'percentPoints',
  leastPercent: 1,
  readsStop: false,
  quantity: (value, fill) => percentQuantity(fill.equity, value, fill),
  unaffordable: LOWER_SHARE,
  otherNames:
    'percent percents pct equity_percent pct_equity percent_of_equity percent_of_portfolio portfolio_percent all_in',
  otherValueNames: 'percent pct',
});

/** What a percentage of `funds` buys after its fee; above 100 %, the margin and the fee are all of the funds. */
export function percentQuantity(funds: number, percent: number, fill: SizedFill): number {
  const { price, feeRate, orderFees } = fill;
  const fraction = percent / 100;
  if (orderFees !== null) return quantityWithin(funds * Math.min(1, fraction), 1 / Math.max(1, fraction), fill);
  return (funds * fraction) / (price * (1 + Math.max(0, feeRate) * Math.max(1, fraction)));
}
