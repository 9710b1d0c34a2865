// `fixed`: an exit of the same quantity for every position.
import { exitSize } from './exitSize.ts';
import { positiveSize } from './sizingMode.ts';

export const fixedExitSize = exitSize({
  mode: 'fixed',
  members: { value: positiveSize() },
  texts: { value: 'Units; at most what is left.' },
  unit: 'units',
  leastPercent: null,
  quantity: (value) => value,
  closesAll: () => false,
  otherNames: 'units quantity shares contracts',
  otherValueNames: 'quantity units amount',
});
