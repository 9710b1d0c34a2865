// Channels: bands around price by extremes (Donchian), by range (Keltner, acceleration bands), and by a ratchet
// (Supertrend).
import { length, number, real } from './arguments.ts';
import type { IndicatorDefinition, OutputDefinition } from './definition.ts';
import { exponential } from './exponential.ts';
import { rollingMax, rollingMin } from '../kernels/rollingExtremes.ts';
import { typicalPrice } from './prices.ts';
import { averageTrueRange } from './range.ts';
import { emaStable, wilderStable } from './stability.ts';
import { rollingMean } from '../kernels/rollingSums.ts';
import { isZero } from './talibZero.ts';

const BANDS: readonly OutputDefinition[] = [
  { name: 'upper', kind: 'price' },
  { name: 'middle', kind: 'price' },
  { name: 'lower', kind: 'price' },
];
const TALIB_BANDS = ['upperband', 'middleband', 'lowerband'];

export const donchian: IndicatorDefinition = {
  id: 'donchian',
  aliases: ['donchian_channel', 'dc'],
  name: 'Donchian Channel',
  category: 'overlap',
  talib: { name: 'DONCHIAN', args: { timeperiod: 'length' }, outputs: TALIB_BANDS },
  inputs: ['high', 'low'],
  args: [length(20)],
  outputs: BANDS,
  formula: 'highest high and lowest low of the last length bars, this one included, and their mean (TA-Lib DONCHIAN)',
  lookback: (args) => number(args) - 1,
  compute([high, low], args, [upper, middle, lower]) {
    rollingMax(high, 0, number(args), upper);
    rollingMin(low, 0, number(args), lower);
    for (let row = number(args) - 1; row < middle.length; row++) middle[row] = (upper[row] + lower[row]) / 2;
  },
};

export const keltner: IndicatorDefinition = {
  id: 'keltner',
  aliases: ['kc', 'keltner_channel'],
  name: 'Keltner Channel',
  category: 'overlap',
  talib: {
    name: 'KC',
    args: { timeperiod: 'length', atrperiod: 'atr_length', nbdev: 'multiplier' },
    outputs: TALIB_BANDS,
  },
  inputs: ['high', 'low', 'close'],
  args: [length(20), length(10, 1, 'atr_length'), real('multiplier', 2)],
  outputs: BANDS,
  formula: 'ema((high+low+close)/3) ± multiplier·atr(atr_length) (TA-Lib KC)',
  lookback: (args) => Math.max(number(args) - 1, number(args, 'atr_length')),
  stableLookback: (args) => Math.max(emaStable(number(args)), 1 + wilderStable(number(args, 'atr_length'))),
  compute([high, low, close], args, [upper, middle, lower]) {
    const n = upper.length;
    const span = number(args);
    const atrLength = number(args, 'atr_length');
    const multiplier = number(args, 'multiplier');
    const start = Math.max(span - 1, atrLength);
    const typical = new Float64Array(n);
    const range = new Float64Array(n);
    typicalPrice(high, low, close, typical);
    // Each line is seeded so that both begin on one row (TA-Lib).
    exponential(typical, start - span + 1, span, middle);
    const from = start - atrLength;
    averageTrueRange(high.subarray(from), low.subarray(from), close.subarray(from), atrLength, range.subarray(from));
    for (let row = start; row < n; row++) {
      const width = range[row] * multiplier;
      upper[row] = middle[row] + width;
      lower[row] = middle[row] - width;
    }
  },
};

export const accBands: IndicatorDefinition = {
  id: 'accbands',
  aliases: ['acceleration_bands'],
  name: 'Acceleration Bands',
  category: 'overlap',
  talib: { name: 'ACCBANDS', args: { timeperiod: 'length' }, outputs: TALIB_BANDS },
  inputs: ['high', 'low', 'close'],
  args: [length(20)],
  outputs: BANDS,
  formula: 'sma of high·(1 + 4r), close and low·(1 - 4r), r = (high - low)/(high + low) (TA-Lib ACCBANDS; Headley)',
  lookback: (args) => number(args) - 1,
  compute([high, low, close], args, [upper, middle, lower]) {
    const n = upper.length;
    const outer = new Float64Array(n);
    const inner = new Float64Array(n);
    for (let row = 0; row < n; row++) {
      const sum = high[row] + low[row];
      const share = isZero(sum) ? 0 : (4 * (high[row] - low[row])) / sum;
      outer[row] = high[row] * (1 + share);
      inner[row] = low[row] * (1 - share);
    }
    rollingMean(outer, 0, number(args), upper);
    rollingMean(close, 0, number(args), middle);
    rollingMean(inner, 0, number(args), lower);
  },
};

export const supertrend: IndicatorDefinition = {
  id: 'supertrend',
  aliases: ['super_trend'],
  name: 'Supertrend',
  category: 'trend',
  talib: {
    name: 'SUPERTREND',
    args: { timeperiod: 'length', multiplier: 'multiplier' },
    outputs: ['supertrend', 'trend'],
  },
  inputs: ['high', 'low', 'close'],
  args: [length(10), real('multiplier', 3, 0)],
  outputs: [
    { name: 'supertrend', kind: 'price' },
    { name: 'trend', kind: 'flag', min: -1, max: 1 },
  ],
  formula:
    '(high+low)/2 ∓ multiplier·atr, ratcheted toward price until a close beyond it; trend 1 or -1, long at first ' +
    '(TA-Lib SUPERTREND)',
  lookback: (args) => number(args),
  stableLookback: (args) => 1 + wilderStable(number(args)),
  compute([high, low, close], args, [line, trend]) {
    const start = number(args);
    const multiplier = number(args, 'multiplier');
    averageTrueRange(high, low, close, start, line);
    let upper = Infinity;
    let lower = -Infinity;
    let isUp = true;
    for (let row = start; row < line.length; row++) {
      const median = (high[row] + low[row]) / 2;
      const band = multiplier * line[row];
      const before = close[row - 1];
      if (row === start || median + band < upper || before > upper) upper = median + band;
      if (row === start || median - band > lower || before < lower) lower = median - band;
      if (row > start) isUp = isUp ? !(close[row] < lower) : close[row] > upper;
      line[row] = isUp ? lower : upper;
      trend[row] = isUp ? 1 : -1;
    }
  },
};
