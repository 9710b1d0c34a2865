// `inverse`: in proportion to 1 / by, so that the calmest instrument has the largest weight where `by` is a volatility.
import { weightMode } from './weightMode.ts';

export const inverseWeights = weightMode({
  mode: 'inverse',
  reads: 'by',
  text: 'In proportion to 1 / `by`, for instance a volatility.',
  part: (by) => 1 / by,
});
