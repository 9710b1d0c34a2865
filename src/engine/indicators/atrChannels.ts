// Channels by other conventions than TA-Lib's, and the chandelier exit, which follows one side of a channel.
import { length, number, real } from './arguments.ts';
import { chosen, maType } from './averages.ts';
import type { Args, IndicatorDefinition } from './definition.ts';
import { rollingMax, rollingMin } from '../kernels/rollingExtremes.ts';
import { averageTrueRange, trueRange } from './range.ts';
import { wilderStable } from './stability.ts';
import { rollingMean } from '../kernels/rollingSums.ts';

const BANDS = [
  { name: 'upper', kind: 'price' },
  { name: 'middle', kind: 'price' },
  { name: 'lower', kind: 'price' },
] as const;
const multiplier = (value: number) => real('multiplier', value, 0, 1000);

const firstRange = (args: Args): number => (args.use_true_range === true ? 1 : 0);
const rangeLookback = (args: Args): number => firstRange(args) + chosen(args, number(args)).lookback(number(args));

export const keltnerRange: IndicatorDefinition = {
  id: 'keltner_range',
  aliases: ['keltner_ma'],
  name: 'Keltner Channel of one moving average',
  category: 'volatility',
  inputs: ['high', 'low', 'close'],
  args: [
    length(20, 1),
    multiplier(2),
    maType('ema'),
    { name: 'use_true_range', type: 'bool', default: true, description: 'false: high - low.' },
  ],
  outputs: BANDS,
  formula:
    'ma(close) ± multiplier·ma(true range), the same average and length for both (pandas-ta kc; keltner is TA-Lib ' +
    'KC, which uses ATR)',
  lookback: rangeLookback,
  compute([high, low, close], args, [upper, middle, lower]) {
    const n = close.length;
    const size = number(args);
    const average = chosen(args, size);
    const start = firstRange(args);
    const first = rangeLookback(args);
    const width = multiplierOf(args);
    const range = new Float64Array(n);
    if (start === 1) trueRange(high, low, close, range);
    else for (let row = 0; row < n; row++) range[row] = high[row] - low[row];
    average.compute(range, start, size, upper);
    average.compute(close, 0, size, middle);
    middle.fill(NaN, 0, Math.min(first, n));
    spread(middle, upper, width, first, upper, lower);
  },
};

const multiplierOf = (args: Args): number => number(args, 'multiplier');

/** upper and lower = middle ± width·half; `half` may be the same column as `upper`. */
function spread(
  middle: Float64Array,
  half: Float64Array,
  width: number,
  first: number,
  upper: Float64Array,
  lower: Float64Array,
): void {
  for (let row = first; row < middle.length; row++) {
    const distance = width * half[row];
    upper[row] = middle[row] + distance;
    lower[row] = middle[row] - distance;
  }
}

export const keltnerOriginal: IndicatorDefinition = {
  id: 'keltner_original',
  aliases: [],
  name: 'Keltner Channel, the original of 1960',
  category: 'volatility',
  inputs: ['high', 'low', 'close'],
  args: [length(10, 1), multiplier(1)],
  outputs: BANDS,
  formula: 'sma((high+low+close)/3) ± multiplier·sma(high - low) (Keltner 1960; ta KeltnerChannel original_version)',
  lookback: (args) => number(args) - 1,
  compute([high, low, close], args, [upper, middle, lower]) {
    const n = close.length;
    const size = number(args);
    const scratch = new Float64Array(n);
    for (let row = 0; row < n; row++) scratch[row] = (high[row] + low[row] + close[row]) / 3;
    rollingMean(scratch, 0, size, middle);
    for (let row = 0; row < n; row++) scratch[row] = high[row] - low[row];
    rollingMean(scratch, 0, size, upper);
    spread(middle, upper, multiplierOf(args), size - 1, upper, lower);
  },
};

const splitLookback = (args: Args): number => Math.max(number(args, 'upper_length'), number(args, 'lower_length')) - 1;

export const donchianSplit: IndicatorDefinition = {
  id: 'donchian_split',
  aliases: ['turtle_channel'],
  name: 'Donchian Channel of two lengths',
  category: 'volatility',
  inputs: ['high', 'low'],
  args: [length(20, 1, 'upper_length'), length(10, 1, 'lower_length')],
  outputs: BANDS,
  formula:
    'highest high of upper_length, lowest low of lower_length, and their middle (pandas-ta donchian; the Turtles ' +
    'entered on 20 and left on 10)',
  lookback: splitLookback,
  compute([high, low], args, [upper, middle, lower]) {
    const first = splitLookback(args);
    rollingMax(high, 0, number(args, 'upper_length'), upper);
    rollingMin(low, 0, number(args, 'lower_length'), lower);
    for (let row = first; row < high.length; row++) middle[row] = 0.5 * (upper[row] + lower[row]);
    upper.fill(NaN, 0, Math.min(first, high.length));
    lower.fill(NaN, 0, Math.min(first, high.length));
  },
};

export const chandelierExit: IndicatorDefinition = {
  id: 'chandelier_exit',
  aliases: ['chandelier', 'ce'],
  name: 'Chandelier Exit',
  category: 'volatility',
  inputs: ['high', 'low', 'close'],
  args: [length(22, 1), multiplier(3)],
  outputs: [
    { name: 'long', kind: 'price' },
    { name: 'short', kind: 'price' },
  ],
  formula:
    'long = highest high - multiplier·atr, short = lowest low + multiplier·atr, all of one length (Le Beau; ' +
    'pandas-ta ce)',
  lookback: (args) => number(args),
  stableLookback: (args) => wilderStable(number(args)) + 1,
  compute([high, low, close], args, [long, short]) {
    const n = close.length;
    const size = number(args);
    if (size >= n) return;
    const width = multiplierOf(args);
    const atr = new Float64Array(n);
    averageTrueRange(high, low, close, size, atr);
    rollingMax(high, 0, size, long);
    rollingMin(low, 0, size, short);
    for (let row = size; row < n; row++) {
      long[row] -= width * atr[row];
      short[row] += width * atr[row];
    }
    long[size - 1] = NaN;
    short[size - 1] = NaN;
  },
};
