// `equal`: every selected instrument has the same weight.
import { weightMode } from './weightMode.ts';

export const equalWeights = weightMode({
  mode: 'equal',
  reads: null,
  text: 'The same weight for each.',
  part: () => 1,
});
