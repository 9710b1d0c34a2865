// Volume: on-balance volume and its kin.
import type { IndicatorDefinition } from './definition.ts';

export const obv: IndicatorDefinition = {
  id: 'obv',
  aliases: ['on_balance_volume'],
  name: 'On Balance Volume',
  category: 'volume',
  talib: { name: 'OBV', args: {}, outputs: ['real'] },
  inputs: ['source', 'volume'],
  args: [],
  outputs: [{ name: 'value', kind: 'volume' }],
  formula: 'volume of the first bar, then plus volume when x rose, minus when it fell (TA-Lib OBV; Granville 1963)',
  lookback: () => 0,
  compute([source, volume], _args, [out]) {
    let total = volume[0];
    let before = source[0];
    for (let row = 0; row < out.length; row++) {
      const value = source[row];
      if (value > before) total += volume[row];
      else if (value < before) total -= volume[row];
      before = value;
      out[row] = total;
    }
  },
};
