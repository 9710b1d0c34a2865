// `percent_balance`: a share of the free cash (semantics §4.2).
import { percentQuantity } from './percentEquity.ts';
import { LOWER_SHARE, MAX_SIZING_PERCENT, sizePercent, sizingMode } from './sizingMode.ts';

export const percentBalance = sizingMode({
  mode: 'percent_balance',
  members: { value: sizePercent(MAX_SIZING_PERCENT) },
  texts: { value: 'Percent of free cash, unrealized profit left out: 95 is 95 %.' },
  unit: 'percentPoints',
  leastPercent: 1,
  readsStop: false,
  quantity: (value, fill) => percentQuantity(fill.freeCash, value, fill),
  unaffordable: LOWER_SHARE,
  otherNames: '',
  otherValueNames: 'percent pct',
});
