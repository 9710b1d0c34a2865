// `price`: the value of an expression, whatever the entry price (semantics §2.4).
import { levelMode } from './levelMode.ts';

export const priceLevel = levelMode({
  mode: 'price',
  form: 'expression',
  unit: 'prices',
  needsStop: false,
  stop: {
    texts: {
      value: 'A value expression: the stop price.',
      update: '`entry`: read once, at the signal. `bar`: read at every close, moves only in favor of the position.',
    },
  },
  trigger: { member: 'triggerPrice', texts: 'A value expression, read at the signal.' },
  distance: null,
  price: (_entryPrice, _direction, price) => price,
  noise: null,
  otherNames: '',
  otherValueNames: '',
});
