// `r`: a multiple of the distance from the entry to the initial stop (semantics §2.4).
import { levelMode } from './levelMode.ts';

export const riskLevel = levelMode({
  mode: 'r',
  form: 'number',
  unit: 'risks',
  needsStop: true,
  stop: null,
  trigger: { member: 'triggerR', texts: 'Multiples of the distance to the initial stop. Needs a stop loss.' },
  distance: null,
  price: (entryPrice, direction, risks, initialRisk) => entryPrice + direction * risks * initialRisk,
  noise: null,
  otherNames: '',
  otherValueNames: '',
});
