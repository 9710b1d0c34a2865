// Volatility estimates of log prices, and the choppiness of a range.
import { length, number, real } from './arguments.ts';
import type { ArgDefinition, IndicatorDefinition } from './definition.ts';
import { rollingMax, rollingMin } from '../kernels/rollingExtremes.ts';
import { trueRange } from './range.ts';
import { rollingMean, rollingSum } from '../kernels/rollingSums.ts';
import { rollingVariance } from '../kernels/rollingVariance.ts';

const annualization: ArgDefinition = {
  ...real('annualization', 252, 0, 1e9),
  description: 'Bars a year: 365 for daily crypto bars, 8760 for hourly ones; 1 leaves the number per bar.',
};

export const histVol: IndicatorDefinition = {
  id: 'hist_vol',
  aliases: ['historical_volatility', 'hvol', 'hv'],
  name: 'Historical Volatility',
  category: 'volatility',
  inputs: ['source'],
  args: [length(20, 2), annualization],
  outputs: [{ name: 'value', kind: 'free' }],
  formula:
    '100·sd(ln(x/x[1]), length)·√annualization, sd with ddof 1, in percent; missing where a value in the window is ' +
    'not positive (pandas-ta hvol)',
  lookback: (args) => number(args),
  compute([source], args, [out]) {
    const n = source.length;
    const size = number(args);
    const scale = 100 * Math.sqrt(number(args, 'annualization'));
    const returns = new Float64Array(n);
    for (let row = 1; row < n; row++) {
      const change = Math.log(source[row] / source[row - 1]);
      returns[row] = source[row] > 0 && source[row - 1] > 0 ? change : 0;
    }
    rollingVariance(returns, 1, size, out, 1);
    let lastBad = source[0] > 0 ? -1 : 0;
    for (let row = 1; row < n; row++) {
      if (!(source[row] > 0)) lastBad = row;
      if (row >= size) out[row] = lastBad >= row - size ? NaN : scale * Math.sqrt(out[row]);
    }
  },
};

export const parkinson: IndicatorDefinition = {
  id: 'parkinson',
  aliases: ['parkinson_volatility'],
  name: 'Parkinson Volatility',
  category: 'volatility',
  inputs: ['high', 'low'],
  args: [length(20, 1), annualization],
  outputs: [{ name: 'value', kind: 'free' }],
  formula:
    '100·√(mean(ln(high/low)², length)/(4·ln 2)·annualization), in percent; missing where a low in the window is ' +
    'not positive (Parkinson 1980)',
  lookback: (args) => number(args) - 1,
  compute([high, low], args, [out]) {
    const n = high.length;
    const size = number(args);
    const scale = number(args, 'annualization') / (4 * Math.LN2);
    const squares = new Float64Array(n);
    for (let row = 0; row < n; row++) squares[row] = low[row] > 0 ? Math.log(high[row] / low[row]) ** 2 : 0;
    rollingMean(squares, 0, size, out);
    let lastBad = -1;
    for (let row = 0; row < n; row++) {
      if (!(low[row] > 0)) lastBad = row;
      if (row >= size - 1) out[row] = lastBad > row - size ? NaN : 100 * Math.sqrt(Math.max(0, out[row]) * scale);
    }
  },
};

export const chop: IndicatorDefinition = {
  id: 'chop',
  aliases: ['choppiness', 'choppiness_index'],
  name: 'Choppiness Index',
  category: 'volatility',
  inputs: ['high', 'low', 'close'],
  args: [length(14, 2)],
  outputs: [{ name: 'value', kind: 'free' }],
  formula:
    '100·log10(Σ true range / (highest - lowest))/log10(length); missing on a flat window (Dreiss; pandas-ta chop)',
  lookback: (args) => number(args),
  compute([high, low, close], args, [out]) {
    const n = close.length;
    const size = number(args);
    if (size >= n) return;
    const range = new Float64Array(n);
    const highest = new Float64Array(n);
    const lowest = new Float64Array(n);
    const scale = 100 / Math.log10(size);
    trueRange(high, low, close, range);
    rollingSum(range, 1, size, out);
    rollingMax(high, 0, size, highest);
    rollingMin(low, 0, size, lowest);
    for (let row = size; row < n; row++) {
      const width = highest[row] - lowest[row];
      out[row] = width > 0 ? scale * Math.log10(out[row] / width) : NaN;
    }
  },
};
