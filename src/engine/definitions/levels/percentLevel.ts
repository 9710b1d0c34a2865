// `percent`: a percentage of the entry price away from it (semantics §2.4).
import type { Timeframe } from '../../bars/bars.ts';
import { levelMode } from './levelMode.ts';

/** About a fifth of the median range of a bar of liquid markets. */
const NOISE: Readonly<Record<Timeframe, number>> = {
  '1m': 0.01,
  '3m': 0.02,
  '5m': 0.03,
  '15m': 0.05,
  '30m': 0.07,
  '1h': 0.1,
  '2h': 0.15,
  '4h': 0.2,
  '6h': 0.25,
  '8h': 0.3,
  '12h': 0.3,
  '1d': 0.4,
  '1w': 1,
  '1M': 2,
};

export const percentLevel = levelMode({
  mode: 'percent',
  form: 'number',
  unit: 'percentPoints',
  needsStop: false,
  stop: { texts: { value: 'Percent from the entry: 5 is 5 %.' } },
  trigger: { member: 'triggerPercent', texts: 'Percent from the entry: 4 is 4 %.' },
  distance: {
    member: 'distancePercent',
    texts: 'Percent below the best price (above it for a short).',
    max: 100,
    factor: (side, percent) => 1 - (side * percent) / 100,
    offset: () => 0,
  },
  price: (entryPrice, direction, percent) => entryPrice * (1 + (direction * percent) / 100),
  noise: { unit: '%', meaning: 'in percent points', least: (timeframe) => NOISE[timeframe] },
  otherNames: 'pct percentage',
  otherValueNames: 'percent pct',
});
