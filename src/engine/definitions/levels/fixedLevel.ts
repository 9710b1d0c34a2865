// `fixed`: the same distance in quote units from every entry (semantics §2.4).
import { levelMode } from './levelMode.ts';

export const fixedLevel = levelMode({
  mode: 'fixed',
  form: 'number',
  unit: 'money',
  needsStop: false,
  stop: { texts: { value: 'Distance in quote currency.' } },
  trigger: null,
  distance: null,
  price: (entryPrice, direction, distance) => entryPrice + direction * distance,
  noise: null,
  otherNames: '',
  otherValueNames: '',
});
