// `fixed`: percents by symbol, as in a portfolio of 60 % stocks and 40 % bonds.
import { weightMode } from './weightMode.ts';

export const fixedWeights = weightMode({
  mode: 'fixed',
  reads: 'values',
  text: 'Percent of the gross by symbol: {"SPY": 60, "BND": 40}.',
  part: (percent) => percent,
});
