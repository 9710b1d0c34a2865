// Statistics of a moving window that TA-Lib does not have: the z-score and the Hurst exponent.
import { length, number } from './arguments.ts';
import type { IndicatorDefinition } from './definition.ts';
import { rollingMean } from '../kernels/rollingSums.ts';
import { rollingVariance } from '../kernels/rollingVariance.ts';

export const zscore: IndicatorDefinition = {
  id: 'zscore',
  aliases: ['z_score'],
  name: 'Z-Score',
  category: 'statistic',
  inputs: ['source'],
  args: [
    length(30, 2),
    { name: 'ddof', type: 'int', default: 1, min: 0, max: 1, description: '1: sample deviation, 0: population.' },
  ],
  outputs: [{ name: 'value', kind: 'free' }],
  formula: '(x - sma(x, length))/sd(x, length), 0 on a flat window (pandas-ta zscore)',
  lookback: (args) => number(args) - 1,
  compute([source], args, [out]) {
    const size = number(args);
    const variance = new Float64Array(source.length);
    rollingMean(source, 0, size, out);
    rollingVariance(source, 0, size, variance, number(args, 'ddof'));
    for (let row = size - 1; row < source.length; row++) {
      out[row] = variance[row] > 0 ? (source[row] - out[row]) / Math.sqrt(variance[row]) : 0;
    }
  },
};

export const hurst: IndicatorDefinition = {
  id: 'hurst',
  aliases: ['hurst_exponent'],
  name: 'Hurst Exponent',
  category: 'statistic',
  inputs: ['source'],
  args: [
    length(100, 10),
    { name: 'max_lag', type: 'int', default: 20, min: 3, max: 100, description: 'At most length - 2 are used.' },
  ],
  outputs: [{ name: 'value', kind: 'free' }],
  formula:
    'slope of ln sd(x - x[lag]) on ln lag, lag 2 … max_lag, differences within the last length values; 0.5 is a ' +
    'random walk; missing where some sd is 0 (generalized Hurst exponent of order 2; Di Matteo 2007)',
  lookback: (args) => number(args) - 1,
  compute([source], args, [out], poll) {
    const n = source.length;
    const size = number(args);
    if (size > n) return;
    const lastLag = Math.min(number(args, 'max_lag'), size - 2);
    const lags = Array.from({ length: lastLag - 1 }, (_, i) => i + 2);
    const mean = lags.reduce((sum, lag) => sum + Math.log(lag), 0) / lags.length;
    const spread = lags.reduce((sum, lag) => sum + (Math.log(lag) - mean) ** 2, 0);
    const difference = new Float64Array(n);
    const variance = new Float64Array(n);
    out.fill(0, size - 1);
    for (const lag of lags) {
      poll?.();
      for (let row = lag; row < n; row++) difference[row] = source[row] - source[row - lag];
      rollingVariance(difference, lag, size - lag, variance);
      // ln sd = ln(variance)/2; ln 0 is -Infinity, and so is whatever uses it: made missing below.
      const weight = (Math.log(lag) - mean) / spread / 2;
      for (let row = size - 1; row < n; row++) out[row] += weight * Math.log(variance[row]);
    }
    for (let row = size - 1; row < n; row++) if (!Number.isFinite(out[row])) out[row] = NaN;
  },
};
