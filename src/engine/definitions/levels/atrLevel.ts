// `atr`: a multiple of the ATR at the signal away from the entry (semantics §2.4).
import { levelMode } from './levelMode.ts';

export const atrLevel = levelMode({
  mode: 'atr',
  form: 'atrs',
  unit: 'atrs',
  needsStop: false,
  stop: { texts: { period: 'Bars of the ATR, read at the signal.', multiplier: 'ATRs from the entry.' } },
  trigger: {
    member: 'triggerAtr',
    texts: {
      period: 'Bars of the ATR, read at the signal.',
      multiplier: 'ATRs from the entry.',
    },
  },
  distance: {
    member: 'distanceAtr',
    max: null,
    texts: {
      period: 'Bars of the ATR, read at the signal.',
      multiplier: 'ATRs from the best price.',
    },
    factor: () => 1,
    offset: (distance) => distance,
  },
  price: (entryPrice, direction, distance) => entryPrice + direction * distance,
  noise: { unit: 'ATR', meaning: 'a multiple of the ATR', least: () => 0.5 },
  otherNames: '',
  otherValueNames: '',
});
