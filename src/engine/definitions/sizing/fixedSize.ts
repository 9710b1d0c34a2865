// `fixed`: the same quantity for every entry (semantics §4.2).
import { LOWER_OR_PAY, positiveSize, sizingMode } from './sizingMode.ts';

export const fixedSize = sizingMode({
  mode: 'fixed',
  members: { value: positiveSize() },
  texts: { value: 'Units of the instrument.' },
  unit: 'units',
  leastPercent: null,
  readsStop: false,
  quantity: (value) => value,
  unaffordable: LOWER_OR_PAY,
  otherNames: 'units quantity shares contracts',
  otherValueNames: 'quantity units amount',
});
