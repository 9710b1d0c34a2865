// `proportional`: in proportion to by.
import { weightMode } from './weightMode.ts';

export const proportionalWeights = weightMode({
  mode: 'proportional',
  reads: 'by',
  text: 'In proportion to `by`.',
  part: (by) => by,
});
