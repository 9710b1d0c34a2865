// `fixed_cash`: the same amount of money for every entry (semantics §4.2).
import { LOWER_OR_PAY, positiveSize, sizingMode } from './sizingMode.ts';

export const fixedCash = sizingMode({
  mode: 'fixed_cash',
  members: { value: positiveSize() },
  texts: { value: 'Quote currency per position.' },
  unit: 'money',
  leastPercent: null,
  readsStop: false,
  quantity: (value, { price }) => value / price,
  unaffordable: LOWER_OR_PAY,
  otherNames: 'cash notional',
  otherValueNames: 'amount',
});
