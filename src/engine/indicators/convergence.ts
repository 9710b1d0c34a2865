// Convergence of two averages: MACD in TA-Lib's three forms, APO, PPO and PVO.
import { chosen, maNames, maType, movingAverage } from './averages.ts';
import { length, number, text } from './arguments.ts';
import type { Args, IndicatorDefinition, OutputDefinition } from './definition.ts';
import { seedMean } from './exponential.ts';
import { emaStable } from './stability.ts';

const LINES: readonly OutputDefinition[] = [
  { name: 'macd', kind: 'free' },
  { name: 'signal', kind: 'free' },
  { name: 'histogram', kind: 'free' },
];
const TALIB_LINES = ['macd', 'macdsignal', 'macdhist'];

/** The two lengths, shorter first: TA-Lib swaps them when they are given in the other order. */
const ordered = (args: Args): readonly [number, number] => {
  const fast = number(args, 'fast_length');
  const slow = number(args, 'slow_length');
  return fast <= slow ? [fast, slow] : [slow, fast];
};
const macdLookback = (args: Args): number => ordered(args)[1] - 1 + number(args, 'signal_length') - 1;

export const macd: IndicatorDefinition = {
  id: 'macd',
  aliases: ['moving_average_convergence_divergence'],
  name: 'Moving Average Convergence/Divergence',
  category: 'momentum',
  talib: {
    name: 'MACD',
    args: { fastperiod: 'fast_length', slowperiod: 'slow_length', signalperiod: 'signal_length' },
    outputs: TALIB_LINES,
  },
  inputs: ['source'],
  args: [length(12, 2, 'fast_length'), length(26, 2, 'slow_length'), length(9, 1, 'signal_length')],
  outputs: LINES,
  formula:
    'ema(fast) - ema(slow), both seeded with means that end on bar slow_length; signal = ema of it (TA-Lib MACD; ' +
    'Appel 1979)',
  lookback: macdLookback,
  stableLookback: (args) => emaStable(ordered(args)[1]) + emaStable(number(args, 'signal_length')),
  compute([source], args, outputs) {
    const [fast, slow] = ordered(args);
    convergence(source, fast, slow, 2 / (fast + 1), 2 / (slow + 1), number(args, 'signal_length'), outputs);
  },
};

export const macdFix: IndicatorDefinition = {
  id: 'macdfix',
  aliases: [],
  name: 'MACD with Appel’s fixed 12 and 26',
  category: 'momentum',
  talib: { name: 'MACDFIX', args: { signalperiod: 'signal_length' }, outputs: TALIB_LINES },
  inputs: ['source'],
  args: [length(9, 1, 'signal_length')],
  outputs: LINES,
  formula: 'macd 12, 26 with the weights 0.15 and 0.075 of the original in place of 2/13 and 2/27 (TA-Lib MACDFIX)',
  lookback: (args) => 25 + number(args, 'signal_length') - 1,
  stableLookback: (args) => emaStable(26) + emaStable(number(args, 'signal_length')),
  compute: ([source], args, outputs) =>
    convergence(source, 12, 26, 0.15, 0.075, number(args, 'signal_length'), outputs),
};

const extTypes = ['fast_ma_type', 'slow_ma_type', 'signal_ma_type'] as const;

export const macdExt: IndicatorDefinition = {
  id: 'macdext',
  aliases: [],
  name: 'MACD with averages of choice',
  category: 'momentum',
  talib: {
    name: 'MACDEXT',
    args: {
      fastperiod: 'fast_length',
      fastmatype: 'fast_ma_type',
      slowperiod: 'slow_length',
      slowmatype: 'slow_ma_type',
      signalperiod: 'signal_length',
      signalmatype: 'signal_ma_type',
    },
    outputs: TALIB_LINES,
    choices: { fastmatype: maNames('sma'), slowmatype: maNames('sma'), signalmatype: maNames('sma') },
  },
  inputs: ['source'],
  args: [
    length(12, 2, 'fast_length'),
    length(26, 2, 'slow_length'),
    length(9, 1, 'signal_length'),
    ...extTypes.map((name) => maType('sma', name)),
  ],
  outputs: LINES,
  formula: 'ma(fast) - ma(slow), signal = ma of it (TA-Lib MACDEXT)',
  lookback(args) {
    const { slow, fast } = extAverages(args);
    const signal = number(args, 'signal_length');
    const line = Math.max(fast.average.lookback(fast.length), slow.average.lookback(slow.length));
    return line + chosen(args, signal, 'signal_ma_type').lookback(signal);
  },
  compute: ([source], args, [line, signal, histogram]) => macdOfChoice(source, args, line, signal, histogram),
};

function extAverages(args: Args) {
  const fast = { length: number(args, 'fast_length'), type: text(args, 'fast_ma_type') };
  const slow = { length: number(args, 'slow_length'), type: text(args, 'slow_ma_type') };
  const isSwapped = slow.length < fast.length;
  const [short, long] = isSwapped ? [slow, fast] : [fast, slow];
  return {
    fast: { length: short.length, average: movingAverage(short.type, short.length) },
    slow: { length: long.length, average: movingAverage(long.type, long.length) },
  };
}

function macdOfChoice(
  source: Float64Array,
  args: Args,
  line: Float64Array,
  signal: Float64Array,
  histogram: Float64Array,
): void {
  const n = source.length;
  const { fast, slow } = extAverages(args);
  const fastBack = fast.average.lookback(fast.length);
  const slowBack = slow.average.lookback(slow.length);
  const first = Math.max(fastBack, slowBack);
  const signalLength = number(args, 'signal_length');
  const average = chosen(args, signalLength, 'signal_ma_type');
  // Both begin on one row: the shorter is seeded as late as the longer (TA-Lib).
  fast.average.compute(source, first - fastBack, fast.length, line);
  slow.average.compute(source, first - slowBack, slow.length, histogram);
  for (let row = first; row < n; row++) line[row] -= histogram[row];
  average.compute(line, first, signalLength, signal);
  const start = first + average.lookback(signalLength);
  line.fill(NaN, 0, start);
  histogram.fill(NaN, 0, start);
  for (let row = start; row < n; row++) histogram[row] = line[row] - signal[row];
}

/** The three recurrences in one pass; only the outputs are stored. */
function convergence(
  source: Float64Array,
  fastLength: number,
  slowLength: number,
  fastWeight: number,
  slowWeight: number,
  signalLength: number,
  [line, signal, histogram]: readonly Float64Array[],
): void {
  const n = source.length;
  const start = slowLength - 1;
  const ready = start + signalLength - 1;
  if (ready >= n) return;
  const fastDecay = 1 - fastWeight;
  const slowDecay = 1 - slowWeight;
  const signalWeight = 2 / (signalLength + 1);
  const signalDecay = 1 - signalWeight;
  let fast = seedMean(source, slowLength - fastLength, fastLength);
  let slow = seedMean(source, 0, slowLength);
  let value = fast - slow;
  let average = value;
  for (let row = start + 1; row <= ready; row++) {
    fast = fastWeight * source[row] + fastDecay * fast;
    slow = slowWeight * source[row] + slowDecay * slow;
    value = fast - slow;
    average += value;
  }
  average /= signalLength;
  line[ready] = value;
  signal[ready] = average;
  histogram[ready] = value - average;
  for (let row = ready + 1; row < n; row++) {
    const price = source[row];
    fast = fastWeight * price + fastDecay * fast;
    slow = slowWeight * price + slowDecay * slow;
    value = fast - slow;
    average = signalWeight * value + signalDecay * average;
    line[row] = value;
    signal[row] = average;
    histogram[row] = value - average;
  }
}

function oscillatorLookback(args: Args): number {
  const [, slow] = ordered(args);
  return chosen(args, slow).lookback(slow);
}

const OSCILLATOR_ARGS = [length(12, 2, 'fast_length'), length(26, 2, 'slow_length'), maType('ema')];
const OSCILLATOR_TALIB = { fastperiod: 'fast_length', slowperiod: 'slow_length', matype: 'ma_type' };

export const apo: IndicatorDefinition = {
  id: 'apo',
  aliases: ['price_oscillator'],
  name: 'Absolute Price Oscillator',
  category: 'momentum',
  talib: { name: 'APO', args: OSCILLATOR_TALIB, outputs: ['real'], choices: { matype: maNames('ema') } },
  inputs: ['source'],
  args: OSCILLATOR_ARGS,
  outputs: [{ name: 'value', kind: 'free' }],
  formula: 'ma(fast) - ma(slow) (TA-Lib APO)',
  lookback: oscillatorLookback,
  compute: ([source], args, [out]) => oscillate(source, args, out, false),
};

export const ppo: IndicatorDefinition = {
  id: 'ppo',
  aliases: ['percentage_price_oscillator'],
  name: 'Percentage Price Oscillator',
  category: 'momentum',
  talib: { name: 'PPO', args: OSCILLATOR_TALIB, outputs: ['real'], choices: { matype: maNames('ema') } },
  inputs: ['source'],
  args: OSCILLATOR_ARGS,
  outputs: [{ name: 'value', kind: 'free' }],
  formula: '100·(ma(fast) - ma(slow))/ma(slow) (TA-Lib PPO)',
  lookback: oscillatorLookback,
  compute: ([source], args, [out]) => oscillate(source, args, out, true),
};

export const pvo: IndicatorDefinition = {
  id: 'pvo',
  aliases: ['percentage_volume_oscillator'],
  name: 'Percentage Volume Oscillator',
  category: 'volume',
  talib: { name: 'PVO', args: OSCILLATOR_TALIB, outputs: ['real'], choices: { matype: maNames('ema') } },
  inputs: ['volume'],
  args: OSCILLATOR_ARGS,
  outputs: [{ name: 'value', kind: 'free' }],
  formula: '100·(ma(volume, fast) - ma(volume, slow))/ma(volume, slow) (TA-Lib PVO)',
  lookback: oscillatorLookback,
  compute: ([volume], args, [out]) => oscillate(volume, args, out, true),
};

function oscillate(source: Float64Array, args: Args, out: Float64Array, isPercent: boolean): void {
  const [fast, slow] = ordered(args);
  const fastAverage = chosen(args, fast);
  const slowAverage = chosen(args, slow);
  const first = slowAverage.lookback(slow);
  const slowLine = new Float64Array(source.length);
  slowAverage.compute(source, 0, slow, slowLine);
  fastAverage.compute(source, 0, fast, out);
  out.fill(NaN, 0, first);
  for (let row = first; row < out.length; row++) {
    const below = slowLine[row];
    const difference = out[row] - below;
    out[row] = isPercent ? (below === 0 ? 0 : (difference / below) * 100) : difference;
  }
}
