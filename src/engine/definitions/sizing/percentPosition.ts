// `percent_position`: an exit of a share of what is left of the position.
import { exitSize } from './exitSize.ts';
import { sizePercent } from './sizingMode.ts';

export const percentPosition = exitSize({
  mode: 'percent_position',
  members: { value: sizePercent(100) },
  texts: { value: 'Percent of what is left: 100 is all. A partial exit fires once per position.' },
  unit: 'percentPoints',
  leastPercent: 1,
  quantity: (value, left) => (left * value) / 100,
  closesAll: (value) => value >= 100,
  otherNames: 'percent pct percentage',
  otherValueNames: 'percent pct',
});
