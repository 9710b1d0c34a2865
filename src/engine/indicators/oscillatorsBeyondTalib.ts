// Oscillators that TA-Lib does not have or defines differently: Fisher, KST, WaveTrend, lagged DPO.
import { length, number } from './arguments.ts';
import type { Args, IndicatorDefinition } from './definition.ts';
import { exponential } from './exponential.ts';
import { rollingMax, rollingMin } from '../kernels/rollingExtremes.ts';
import { emaStable } from './stability.ts';
import { rollingMean } from '../kernels/rollingSums.ts';

export const fisher: IndicatorDefinition = {
  id: 'fisher',
  aliases: ['fisher_transform'],
  name: 'Fisher Transform',
  category: 'momentum',
  inputs: ['high', 'low'],
  args: [length(9, 1), length(1, 1, 'signal_offset')],
  outputs: [
    { name: 'fisher', kind: 'free' },
    { name: 'signal', kind: 'free' },
  ],
  formula:
    'v = 0.66·((m - lowest m)/(highest m - lowest m) - 0.5) + 0.67·v[1], m = (high+low)/2, beyond ±0.99 cut to ' +
    '±0.999; fisher = (ln((1+v)/(1-v)) + fisher[1])/2, from 0; signal = fisher[signal_offset]; a flat window counts ' +
    'as its bottom (Ehlers 2002; pandas-ta fisher)',
  lookback: (args) => number(args) - 1 + number(args, 'signal_offset'),
  // v decays by 0.67 per bar and the transform by 0.5: after 60 bars both are below 1e-10.
  stableLookback: (args) => number(args) + 60,
  compute([high, low], args, [line, signal]) {
    const n = high.length;
    const size = number(args);
    const offset = number(args, 'signal_offset');
    const first = size - 1 + offset;
    if (first >= n) return;
    const middle = new Float64Array(n);
    const highest = new Float64Array(n);
    const lowest = new Float64Array(n);
    for (let row = 0; row < n; row++) middle[row] = 0.5 * (high[row] + low[row]);
    rollingMax(middle, 0, size, highest);
    rollingMin(middle, 0, size, lowest);
    let value = 0;
    let transform = 0;
    line[size - 1] = 0;
    for (let row = size; row < n; row++) {
      const width = highest[row] - lowest[row];
      const position = width > 0 ? (middle[row] - lowest[row]) / width : 0;
      value = 0.66 * (position - 0.5) + 0.67 * value;
      if (value > 0.99) value = 0.999;
      else if (value < -0.99) value = -0.999;
      transform = 0.5 * (Math.log((1 + value) / (1 - value)) + transform);
      line[row] = transform;
    }
    for (let row = first; row < n; row++) signal[row] = line[row - offset];
    line.fill(NaN, 0, first);
  },
};

const KST_STEPS = [1, 2, 3, 4] as const;
const kstLookback = (args: Args): number =>
  Math.max(...KST_STEPS.map((step) => number(args, `roc${step}_length`) + number(args, `sma${step}_length`) - 1));

export const kst: IndicatorDefinition = {
  id: 'kst',
  aliases: ['know_sure_thing'],
  name: 'Know Sure Thing',
  category: 'momentum',
  inputs: ['source'],
  args: [
    ...[10, 15, 20, 30].map((size, index) => length(size, 1, `roc${index + 1}_length`)),
    ...[10, 10, 10, 15].map((size, index) => length(size, 1, `sma${index + 1}_length`)),
    length(9, 1, 'signal_length'),
  ],
  outputs: [
    { name: 'kst', kind: 'free' },
    { name: 'signal', kind: 'free' },
  ],
  formula:
    'kst = Σ step·sma(roc_step in percent), step 1 … 4; signal = sma(kst); a rate over 0 counts 0 (Pring 1992; ta ' +
    'KSTIndicator; pandas-ta kst is 100 times as large)',
  lookback: (args) => kstLookback(args) + number(args, 'signal_length') - 1,
  compute([source], args, [line, signal]) {
    const n = source.length;
    const first = kstLookback(args);
    if (first >= n) return;
    const rate = new Float64Array(n);
    const smooth = new Float64Array(n);
    line.fill(0);
    for (const step of KST_STEPS) {
      const back = number(args, `roc${step}_length`);
      for (let row = back; row < n; row++) {
        const before = source[row - back];
        rate[row] = before === 0 ? 0 : 100 * (source[row] / before - 1);
      }
      rollingMean(rate, back, number(args, `sma${step}_length`), smooth);
      for (let row = first; row < n; row++) line[row] += step * smooth[row];
    }
    rollingMean(line, first, number(args, 'signal_length'), signal);
    line.fill(NaN, 0, Math.min(n, first + number(args, 'signal_length') - 1));
  },
};

const waveLookback = (args: Args): number =>
  2 * (number(args, 'channel_length') - 1) + number(args, 'average_length') - 1 + number(args, 'signal_length') - 1;

export const wavetrend: IndicatorDefinition = {
  id: 'wavetrend',
  aliases: ['wave_trend', 'wt'],
  name: 'WaveTrend Oscillator',
  category: 'momentum',
  inputs: ['high', 'low', 'close'],
  args: [length(10, 1, 'channel_length'), length(21, 1, 'average_length'), length(4, 1, 'signal_length')],
  outputs: [
    { name: 'wt1', kind: 'free' },
    { name: 'wt2', kind: 'free' },
  ],
  formula:
    'wt1 = ema((p - e)/(0.015·ema(|p - e|, channel)), average), e = ema(p, channel), p = (high+low+close)/3; wt2 = ' +
    'sma(wt1, signal); 0 where the deviation is 0 (LazyBear)',
  lookback: waveLookback,
  stableLookback: (args) =>
    2 * emaStable(number(args, 'channel_length')) +
    emaStable(number(args, 'average_length')) +
    number(args, 'signal_length'),
  compute([high, low, close], args, [wt1, wt2]) {
    const n = close.length;
    const channel = number(args, 'channel_length');
    const first = 2 * (channel - 1);
    const firstWave = first + number(args, 'average_length') - 1;
    const distance = new Float64Array(n);
    const deviation = new Float64Array(n);
    const scratch = new Float64Array(n);
    for (let row = 0; row < n; row++) scratch[row] = (high[row] + low[row] + close[row]) / 3;
    exponential(scratch, 0, channel, deviation);
    for (let row = channel - 1; row < n; row++) {
      distance[row] = scratch[row] - deviation[row];
      scratch[row] = Math.abs(distance[row]);
    }
    exponential(scratch, channel - 1, channel, deviation);
    for (let row = first; row < n; row++) {
      distance[row] = deviation[row] > 0 ? distance[row] / (0.015 * deviation[row]) : 0;
    }
    exponential(distance, first, number(args, 'average_length'), wt1);
    rollingMean(wt1, firstWave, number(args, 'signal_length'), wt2);
    wt1.fill(NaN, 0, Math.min(n, waveLookback(args)));
  },
};

const lag = (args: Args): number => Math.floor(number(args) / 2) + 1;

export const dpoLagged: IndicatorDefinition = {
  id: 'dpo_lagged',
  aliases: [],
  name: 'Detrended Price Oscillator, price against the lagged mean',
  category: 'momentum',
  inputs: ['source'],
  args: [length(20, 1)],
  outputs: [{ name: 'value', kind: 'free' }],
  formula:
    'x - sma(x, length)[floor(length/2) + 1] (charting sites, not centered; pandas-ta dpo centered=False; dpo is ' +
    'TA-Lib DPO, which lags the price instead)',
  lookback: (args) => number(args) - 1 + lag(args),
  compute([source], args, [out]) {
    const n = source.length;
    const mean = new Float64Array(n);
    rollingMean(source, 0, number(args), mean);
    for (let row = number(args) - 1 + lag(args); row < n; row++) out[row] = source[row] - mean[row - lag(args)];
  },
};
