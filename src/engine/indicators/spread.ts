// Spread of a window: variance, standard deviation, mean absolute deviation, and the bands and CCI that are drawn from
// them.
import { chosen, maNames, maType } from './averages.ts';
import { length, number, real, scannedLength, text } from './arguments.ts';
import type { Args, ArgDefinition, IndicatorDefinition } from './definition.ts';
import { SCANNED_ROWS } from '../kernels/rollingRanks.ts';
import { rollingMean } from '../kernels/rollingSums.ts';
import { rollingBands, rollingVariance } from '../kernels/rollingVariance.ts';
import { isZero } from './talibZero.ts';

/** 0: the population's, as TA-Lib; 1: the sample's. */
const ddof: ArgDefinition = { name: 'ddof', type: 'int', default: 0, min: 0, max: 1 };

export const stdDev: IndicatorDefinition = {
  id: 'stddev',
  aliases: ['standard_deviation', 'stdev', 'std'],
  name: 'Standard Deviation',
  category: 'statistic',
  talib: {
    name: 'STDDEV',
    args: { timeperiod: 'length', nbdev: 'multiplier' },
    outputs: ['real'],
    defaults: { length: 5 },
  },
  inputs: ['source'],
  args: [length(20), real('multiplier', 1), ddof],
  outputs: [{ name: 'value', kind: 'free' }],
  formula: 'multiplier·√variance, divisor length - ddof (TA-Lib STDDEV: ddof 0)',
  lookback: (args) => number(args) - 1,
  compute([source], args, [out]) {
    const multiplier = number(args, 'multiplier');
    rollingVariance(source, 0, number(args), out, number(args, 'ddof'));
    for (let row = number(args) - 1; row < out.length; row++) out[row] = Math.sqrt(out[row]) * multiplier;
  },
};

export const variance: IndicatorDefinition = {
  id: 'variance',
  aliases: ['var'],
  name: 'Variance',
  category: 'statistic',
  talib: {
    name: 'VAR',
    args: { timeperiod: 'length', nbdev: 'multiplier' },
    outputs: ['real'],
    defaults: { length: 5 },
  },
  inputs: ['source'],
  // TA-Lib accepts nbdev and ignores it; so do we.
  args: [length(20, 1), { ...real('multiplier', 1), description: 'taken for TA-Lib’s sake, without effect' }, ddof],
  outputs: [{ name: 'value', kind: 'free' }],
  formula: 'Σ(x - mean)²/(length - ddof) (TA-Lib VAR: ddof 0)',
  lookback: (args) => number(args) - 1,
  compute: ([source], args, [out]) =>
    rollingVariance(source, 0, number(args), out, number(args) === 1 ? 0 : number(args, 'ddof')),
};

export const bbands: IndicatorDefinition = {
  id: 'bbands',
  aliases: ['bollinger', 'bollinger_bands', 'bb'],
  name: 'Bollinger Bands',
  category: 'overlap',
  talib: {
    name: 'BBANDS',
    args: { timeperiod: 'length', nbdevup: 'multiplier', nbdevdn: 'multiplier_down', matype: 'ma_type' },
    outputs: ['upperband', 'middleband', 'lowerband'],
    choices: { matype: maNames('sma') },
  },
  inputs: ['source'],
  args: [
    length(20),
    real('multiplier', 2),
    { ...real('multiplier_down', 2), description: 'of the lower band' },
    maType('sma'),
    ddof,
  ],
  outputs: [
    { name: 'upper', kind: 'price' },
    { name: 'middle', kind: 'price' },
    { name: 'lower', kind: 'price' },
  ],
  formula:
    'ma ± multiplier·√variance, divisor length - ddof, deviations from the simple mean whatever the average (TA-Lib ' +
    'BBANDS; Bollinger 1992)',
  lookback: (args) => Math.max(chosen(args, number(args)).lookback(number(args)), number(args) - 1),
  compute: ([source], args, [upper, middle, lower]) => bands(source, args, upper, middle, lower),
};

function bands(source: Float64Array, args: Args, upper: Float64Array, middle: Float64Array, lower: Float64Array): void {
  const n = source.length;
  const span = number(args);
  const average = chosen(args, span);
  const first = Math.max(average.lookback(span), span - 1);
  const up = number(args, 'multiplier');
  const down = number(args, 'multiplier_down');
  const divisor = number(args, 'ddof');
  // An average of one row is that row, whatever its name.
  if (text(args, 'ma_type') === 'sma' && span > 1)
    return rollingBands(source, 0, span, divisor, up, down, upper, middle, lower);
  average.compute(source, 0, span, middle);
  rollingVariance(source, 0, span, upper, divisor);
  middle.fill(NaN, 0, first);
  upper.fill(NaN, 0, first);
  for (let row = first; row < n; row++) {
    const deviation = Math.sqrt(upper[row]);
    upper[row] = middle[row] + deviation * up;
    lower[row] = middle[row] - deviation * down;
  }
}

export const avgDev: IndicatorDefinition = {
  id: 'avgdev',
  aliases: ['mean_absolute_deviation', 'mad'],
  name: 'Average Deviation',
  category: 'price',
  talib: { name: 'AVGDEV', args: { timeperiod: 'length' }, outputs: ['real'] },
  inputs: ['source'],
  args: [scannedLength(14)],
  outputs: [{ name: 'value', kind: 'free' }],
  formula: 'Σ|x - mean|/length (TA-Lib AVGDEV)',
  lookback: (args) => number(args) - 1,
  compute([source], args, [out], poll) {
    const span = number(args);
    rollingMean(source, 0, span, out);
    for (let row = span - 1; row < out.length; row++) {
      if (row % SCANNED_ROWS === 0) poll?.();
      out[row] = absoluteDeviation(source, row, span, out[row]) / span;
    }
  },
};

export const cci: IndicatorDefinition = {
  id: 'cci',
  aliases: ['commodity_channel_index'],
  name: 'Commodity Channel Index',
  category: 'momentum',
  talib: { name: 'CCI', args: { timeperiod: 'length' }, outputs: ['real'], defaults: { length: 14 } },
  inputs: ['high', 'low', 'close'],
  args: [scannedLength(20)],
  outputs: [{ name: 'value', kind: 'free' }],
  formula:
    '(typical - mean)/(0.015·mean absolute deviation), typical = (high + low + close)/3; 0 without deviation ' +
    '(TA-Lib CCI; Lambert 1980)',
  lookback: (args) => number(args) - 1,
  compute([high, low, close], args, [out], poll) {
    const span = number(args);
    const typical = new Float64Array(out.length);
    for (let row = 0; row < out.length; row++) typical[row] = (high[row] + low[row] + close[row]) / 3;
    rollingMean(typical, 0, span, out);
    for (let row = span - 1; row < out.length; row++) {
      if (row % SCANNED_ROWS === 0) poll?.();
      const distance = typical[row] - out[row];
      const deviation = absoluteDeviation(typical, row, span, out[row]);
      out[row] = isZero(distance) || isZero(deviation) ? 0 : distance / (0.015 * (deviation / span));
    }
  },
};

function absoluteDeviation(source: Float64Array, row: number, length: number, mean: number): number {
  let sum = 0;
  for (let i = row - length + 1; i <= row; i++) sum += Math.abs(source[i] - mean);
  return sum;
}
