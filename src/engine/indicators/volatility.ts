// Volatility: Chaikin's volatility, the mass index, and Dorsey's relative volatility index.
import { length, number } from './arguments.ts';
import type { IndicatorDefinition, OutputDefinition } from './definition.ts';
import { exponential, wilder } from './exponential.ts';
import { emaStable, wilderStable } from './stability.ts';
import { rollingSum } from '../kernels/rollingSums.ts';
import { rollingVariance } from '../kernels/rollingVariance.ts';

const FREE: readonly OutputDefinition[] = [{ name: 'value', kind: 'free' }];

export const chaikinVolatility: IndicatorDefinition = {
  id: 'cvi',
  aliases: ['chaikin_volatility'],
  name: "Chaikin's Volatility",
  category: 'volatility',
  talib: { name: 'CVI', args: { timeperiod: 'length', rocperiod: 'roc_length' }, outputs: ['real'] },
  inputs: ['high', 'low'],
  args: [length(10), length(10, 1, 'roc_length')],
  outputs: FREE,
  formula: '100·(e - e[roc_length])/e[roc_length], e = ema(high - low); 0 where that is 0 (TA-Lib CVI; Chaikin)',
  lookback: (args) => number(args) - 1 + number(args, 'roc_length'),
  stableLookback: (args) => emaStable(number(args)) + number(args, 'roc_length'),
  compute([high, low], args, [out]) {
    const line = new Float64Array(out.length);
    const lag = number(args, 'roc_length');
    spreadAverage(high, low, number(args), line);
    for (let row = number(args) - 1 + lag; row < out.length; row++) {
      const before = line[row - lag];
      out[row] = before === 0 ? 0 : 100 * ((line[row] - before) / before);
    }
  },
};

export const massIndex: IndicatorDefinition = {
  id: 'mass',
  aliases: ['massi', 'mass_index'],
  name: 'Mass Index',
  category: 'volatility',
  talib: { name: 'MASSI', args: { fastperiod: 'fast_length', slowperiod: 'slow_length' }, outputs: ['real'] },
  inputs: ['high', 'low'],
  args: [length(9, 2, 'fast_length'), length(25, 2, 'slow_length')],
  outputs: FREE,
  formula:
    'Σ e/ema(e) over slow_length bars, e = ema(high - low, fast_length); a ratio of zeros is 1 (TA-Lib MASSI; ' +
    'Dorsey 1992)',
  lookback: (args) => 2 * (number(args, 'fast_length') - 1) + number(args, 'slow_length') - 1,
  stableLookback: (args) => 2 * emaStable(number(args, 'fast_length')) + number(args, 'slow_length') - 1,
  compute([high, low], args, [out]) {
    const n = out.length;
    const fast = number(args, 'fast_length');
    const once = new Float64Array(n);
    const twice = new Float64Array(n);
    spreadAverage(high, low, fast, once);
    exponential(once, fast - 1, fast, twice);
    const first = 2 * (fast - 1);
    for (let row = first; row < n; row++) twice[row] = twice[row] === 0 ? 1 : once[row] / twice[row];
    rollingSum(twice, first, number(args, 'slow_length'), out);
  },
};

export const relativeVolatility: IndicatorDefinition = {
  id: 'rvi',
  aliases: ['relative_volatility_index'],
  name: 'Relative Volatility Index',
  category: 'volatility',
  talib: { name: 'RVI', args: { timeperiod: 'length', stddevperiod: 'stddev_length' }, outputs: ['real'] },
  inputs: ['source'],
  args: [length(14, 1), length(10, 2, 'stddev_length')],
  outputs: [{ name: 'value', kind: 'bounded', min: 0, max: 100 }],
  formula:
    '100·u/(u + d), u and d = rma of stddev(x) on rises and on falls; 50 when both are 0 (TA-Lib RVI; Dorsey 1993)',
  lookback: (args) => number(args) + number(args, 'stddev_length') - 2,
  stableLookback: (args) => wilderStable(number(args)) + number(args, 'stddev_length') - 1,
  compute([source], args, [out]) {
    const n = out.length;
    const first = number(args, 'stddev_length') - 1;
    const rises = new Float64Array(n);
    const falls = new Float64Array(n);
    const down = new Float64Array(n);
    rollingVariance(source, 0, first + 1, out);
    for (let row = first; row < n; row++) {
      const change = source[row] - source[row - 1];
      const deviation = Math.sqrt(out[row]);
      rises[row] = change > 0 ? deviation : 0;
      falls[row] = change < 0 ? deviation : 0;
    }
    wilder(rises, first, number(args), out);
    wilder(falls, first, number(args), down);
    out.fill(NaN, 0, first + number(args) - 1);
    for (let row = first + number(args) - 1; row < n; row++) {
      const total = out[row] + down[row];
      out[row] = total === 0 ? 50 : 100 * (out[row] / total);
    }
  },
};

/** ema(high - low). */
function spreadAverage(high: Float64Array, low: Float64Array, length: number, out: Float64Array): void {
  const spread = new Float64Array(out.length);
  for (let row = 0; row < out.length; row++) spread[row] = high[row] - low[row];
  exponential(spread, 0, length, out);
}
