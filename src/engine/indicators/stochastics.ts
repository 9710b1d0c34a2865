// Stochastics: where the close stands in the range of the last bars, raw, smoothed, of RSI, and as %R.
import { chosen, maNames, maType, type MovingAverage, movingAverage } from './averages.ts';
import { length, number } from './arguments.ts';
import type { Args, IndicatorDefinition } from './definition.ts';
import { rollingMax, rollingMin } from '../kernels/rollingExtremes.ts';
import { placeInRange } from '../kernels/placeInRange.ts';
import { wilderStable } from './stability.ts';
import { relativeStrength } from './strength.ts';
import { EPSILON } from './talibZero.ts';

const BOUNDED = { kind: 'bounded', min: 0, max: 100 } as const;
const K_AND_D = [
  { name: 'k', ...BOUNDED },
  { name: 'd', ...BOUNDED },
] as const;

const slowLookback = (args: Args): number =>
  number(args, 'k_length') -
  1 +
  chosen(args, number(args, 'k_smooth'), 'k_ma_type').lookback(number(args, 'k_smooth')) +
  chosen(args, number(args, 'd_length'), 'd_ma_type').lookback(number(args, 'd_length'));

export const stoch: IndicatorDefinition = {
  id: 'stoch',
  aliases: ['stochastic', 'slow_stochastic'],
  name: 'Stochastic Oscillator',
  category: 'momentum',
  talib: {
    name: 'STOCH',
    args: {
      fastk_period: 'k_length',
      slowk_period: 'k_smooth',
      slowk_matype: 'k_ma_type',
      slowd_period: 'd_length',
      slowd_matype: 'd_ma_type',
    },
    outputs: ['slowk', 'slowd'],
    defaults: { k_length: 5 },
    choices: { slowk_matype: maNames('sma'), slowd_matype: maNames('sma') },
  },
  inputs: ['high', 'low', 'close'],
  args: [
    length(14, 1, 'k_length'),
    length(3, 1, 'k_smooth'),
    length(3, 1, 'd_length'),
    maType('sma', 'k_ma_type'),
    maType('sma', 'd_ma_type'),
  ],
  outputs: K_AND_D,
  formula:
    'k = ma(100·(close - lowest)/(highest - lowest), k_smooth), d = ma(k, d_length); 0 on a flat window (TA-Lib ' +
    'STOCH, whose default k_length is 5)',
  lookback: slowLookback,
  compute([high, low, close], args, [k, d]) {
    slowStochastic(high, low, close, args, k, d);
  },
};

export const stochF: IndicatorDefinition = {
  id: 'stochf',
  aliases: ['fast_stochastic', 'stoch_fast'],
  name: 'Fast Stochastic Oscillator',
  category: 'momentum',
  talib: {
    name: 'STOCHF',
    args: { fastk_period: 'k_length', fastd_period: 'd_length', fastd_matype: 'd_ma_type' },
    outputs: ['fastk', 'fastd'],
    defaults: { k_length: 5 },
    choices: { fastd_matype: maNames('sma') },
  },
  inputs: ['high', 'low', 'close'],
  args: [length(14, 1, 'k_length'), length(3, 1, 'd_length'), maType('sma', 'd_ma_type')],
  outputs: K_AND_D,
  formula:
    'k = 100·(close - lowest)/(highest - lowest), d = ma(k, d_length) (TA-Lib STOCHF, whose default k_length is 5)',
  lookback: (args) =>
    number(args, 'k_length') -
    1 +
    chosen(args, number(args, 'd_length'), 'd_ma_type').lookback(number(args, 'd_length')),
  compute([high, low, close], args, [k, d]) {
    placeInRange(high, low, close, 0, number(args, 'k_length'), EPSILON, k);
    const dLength = number(args, 'd_length');
    smoothed(k, number(args, 'k_length') - 1, chosen(args, dLength, 'd_ma_type'), dLength, d);
  },
};

export const kdj: IndicatorDefinition = {
  id: 'kdj',
  aliases: [],
  name: 'KDJ',
  category: 'momentum',
  talib: {
    name: 'KDJ',
    args: {
      fastk_period: 'k_length',
      slowk_period: 'k_smooth',
      slowk_matype: 'k_ma_type',
      slowd_period: 'd_length',
      slowd_matype: 'd_ma_type',
    },
    outputs: ['k', 'd', 'j'],
    choices: { slowk_matype: maNames('rma'), slowd_matype: maNames('rma') },
  },
  inputs: ['high', 'low', 'close'],
  args: [
    length(9, 1, 'k_length'),
    length(3, 1, 'k_smooth'),
    length(3, 1, 'd_length'),
    maType('rma', 'k_ma_type'),
    maType('rma', 'd_ma_type'),
  ],
  outputs: [...K_AND_D, { name: 'j', kind: 'free' }],
  formula: 'the stochastic with Wilder averages, j = 3k - 2d (TA-Lib KDJ)',
  lookback: slowLookback,
  compute([high, low, close], args, [k, d, j]) {
    slowStochastic(high, low, close, args, k, d);
    for (let row = slowLookback(args); row < j.length; row++) j[row] = 3 * k[row] - 2 * d[row];
  },
};

/** How many rows after an RSI its %K and %D begin. */
const rowsAfterRsi = (args: Args): number => {
  const dLength = number(args, 'd_length');
  const d = chosen(args, dLength, 'd_ma_type').lookback(dLength);
  return number(args, 'k_length') - 1 + number(args, 'k_smooth') - 1 + d;
};

/** RSI takes the place of high, low and close. */
export const stochRsi: IndicatorDefinition = {
  id: 'stoch_rsi',
  aliases: ['stochrsi'],
  name: 'Stochastic RSI',
  category: 'momentum',
  talib: {
    name: 'STOCHRSI',
    args: { timeperiod: 'length', fastk_period: 'k_length', fastd_period: 'd_length', fastd_matype: 'd_ma_type' },
    outputs: ['fastk', 'fastd'],
    defaults: { k_length: 5 },
    choices: { fastd_matype: maNames('sma') },
  },
  inputs: ['source'],
  args: [
    length(14),
    length(14, 1, 'k_length'),
    { ...length(1, 1, 'k_smooth'), description: '1: not smoothed, as TA-Lib; 3: as TradingView' },
    length(3, 1, 'd_length'),
    maType('sma', 'd_ma_type'),
  ],
  outputs: K_AND_D,
  formula:
    'k = sma(stochastic of rsi(length), k_smooth), d = ma(k, d_length) (TA-Lib STOCHRSI at k_smooth 1; TradingView ' +
    'at 3)',
  lookback: (args) => number(args) + rowsAfterRsi(args),
  stableLookback: (args) => 1 + wilderStable(number(args)) + rowsAfterRsi(args),
  compute([source], args, [k, d]) {
    const rsi = new Float64Array(source.length);
    const raw = new Float64Array(source.length);
    const kSmooth = number(args, 'k_smooth');
    const dLength = number(args, 'd_length');
    relativeStrength(source, number(args), rsi);
    placeInRange(rsi, rsi, rsi, number(args), number(args, 'k_length'), EPSILON, raw);
    const rawFirst = number(args) + number(args, 'k_length') - 1;
    movingAverage('sma', kSmooth).compute(raw, rawFirst, kSmooth, k);
    smoothed(k, rawFirst + kSmooth - 1, chosen(args, dLength, 'd_ma_type'), dLength, d);
  },
};

export const willR: IndicatorDefinition = {
  id: 'willr',
  aliases: ['williams_r', 'wpr'],
  name: "Williams' %R",
  category: 'momentum',
  talib: { name: 'WILLR', args: { timeperiod: 'length' }, outputs: ['real'] },
  inputs: ['high', 'low', 'close'],
  args: [length(14)],
  outputs: [{ name: 'value', kind: 'bounded', min: -100, max: 0 }],
  formula: '-100·(highest - close)/(highest - lowest); 0 on a flat window (TA-Lib WILLR)',
  lookback: (args) => number(args) - 1,
  compute([high, low, close], args, [out]) {
    const lows = new Float64Array(out.length);
    rollingMax(high, 0, number(args), out);
    rollingMin(low, 0, number(args), lows);
    for (let row = number(args) - 1; row < out.length; row++) {
      const range = (out[row] - lows[row]) / -100;
      out[row] = range === 0 ? 0 : (out[row] - close[row]) / range;
    }
  },
};

function slowStochastic(
  high: Float64Array,
  low: Float64Array,
  close: Float64Array,
  args: Args,
  k: Float64Array,
  d: Float64Array,
): void {
  const kLength = number(args, 'k_length');
  const kSmooth = number(args, 'k_smooth');
  const dLength = number(args, 'd_length');
  const average = chosen(args, kSmooth, 'k_ma_type');
  const first = kLength - 1 + average.lookback(kSmooth);
  // The column of d holds what k is the average of.
  placeInRange(high, low, close, 0, kLength, EPSILON, d);
  average.compute(d, kLength - 1, kSmooth, k);
  d.fill(NaN, 0, first + chosen(args, dLength, 'd_ma_type').lookback(dLength));
  smoothed(k, first, chosen(args, dLength, 'd_ma_type'), dLength, d);
}

/** d of k, which is known from row `first`; both begin on the same row (TA-Lib). */
function smoothed(k: Float64Array, first: number, average: MovingAverage, length: number, d: Float64Array): void {
  average.compute(k, first, length, d);
  k.fill(NaN, 0, first + average.lookback(length));
}
