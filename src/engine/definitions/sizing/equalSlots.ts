// `equal_slots`: an equal part of the equity for every slot of the portfolio, as far as funds allow (semantics §4.2).
import { LOWER_OR_PAY, sizingMode } from './sizingMode.ts';

export const equalSlots = sizingMode({
  mode: 'equal_slots',
  members: {},
  texts: {},
  unit: 'money',
  leastPercent: null,
  readsStop: false,
  needsSlots: true,
  quantity: (_value, { price, feeRate, equity, freeCash, leverage, slots }) => {
    if (slots === null) return NaN;
    const fee = Math.max(0, feeRate);
    const wanted = equity / slots / (price * (1 + fee));
    const affordable = freeCash / (price * (1 / leverage + fee));
    return Math.min(wanted, affordable);
  },
  unaffordable: LOWER_OR_PAY,
  otherNames: 'equal_weight equal_weights equalWeight slot slots per_slot',
  otherValueNames: '',
});
