// `equal_slots`: an equal part of the equity for every slot of the portfolio, as far as funds allow (semantics §4.2).
import { LOWER_OR_PAY, quantityWithin, sizingMode } from './sizingMode.ts';

export const equalSlots = sizingMode({
  mode: 'equal_slots',
  members: {},
  texts: {},
  unit: 'money',
  leastPercent: null,
  readsStop: false,
  needsSlots: true,
  quantity: (_value, fill) => {
    const { equity, freeCash, leverage, slots } = fill;
    if (slots === null) return NaN;
    return Math.min(quantityWithin(equity / slots, 1, fill), quantityWithin(freeCash, 1 / leverage, fill));
  },
  unaffordable: LOWER_OR_PAY,
  otherNames: 'equal_weight equal_weights equalWeight slot slots per_slot',
  otherValueNames: '',
});
