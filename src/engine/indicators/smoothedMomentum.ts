// Momentum smoothed by several exponential averages: TRIX, TSI (alone and with its signal) and SMI.
import { length, number } from './arguments.ts';
import type { Args, IndicatorDefinition } from './definition.ts';
import { exponential } from './exponential.ts';
import { rollingMax, rollingMin } from '../kernels/rollingExtremes.ts';
import { percentChange } from './rates.ts';
import { emaStable } from './stability.ts';

export const trix: IndicatorDefinition = {
  id: 'trix',
  aliases: [],
  name: 'Rate of Change of a Triple Smooth EMA',
  category: 'momentum',
  talib: { name: 'TRIX', args: { timeperiod: 'length' }, outputs: ['real'], defaults: { length: 30 } },
  inputs: ['source'],
  args: [length(18, 1)],
  outputs: [{ name: 'value', kind: 'free' }],
  formula: '100·(e/e[1] - 1), e = ema(ema(ema(x))) (TA-Lib TRIX; Hutson 1983)',
  lookback: (args) => 3 * (number(args) - 1) + 1,
  stableLookback: (args) => 3 * emaStable(number(args)) + 1,
  compute([source], args, [out]) {
    const n = out.length;
    const span = number(args);
    const one = new Float64Array(n);
    const two = new Float64Array(n);
    exponential(source, 0, span, one);
    exponential(one, span - 1, span, two);
    exponential(two, 2 * (span - 1), span, one);
    for (let row = 3 * (span - 1) + 1; row < n; row++) out[row] = percentChange(one[row], one[row - 1]);
  },
};

export const tsi: IndicatorDefinition = {
  id: 'tsi',
  aliases: ['true_strength_index'],
  name: 'True Strength Index',
  category: 'momentum',
  talib: { name: 'TSI', args: { firstperiod: 'slow_length', secondperiod: 'fast_length' }, outputs: ['real'] },
  inputs: ['source'],
  args: [length(25, 2, 'slow_length'), length(13, 2, 'fast_length')],
  outputs: [{ name: 'value', kind: 'bounded', min: -100, max: 100 }],
  formula: '100·ema(ema(Δx, slow), fast)/ema(ema(|Δx|, slow), fast); 0 when nothing moved (TA-Lib TSI; Blau 1991)',
  lookback: (args) => number(args, 'slow_length') + number(args, 'fast_length') - 1,
  stableLookback: (args) => 1 + emaStable(number(args, 'slow_length')) + emaStable(number(args, 'fast_length')),
  compute([source], args, [out]) {
    const n = out.length;
    const [slow, fast] = [number(args, 'slow_length'), number(args, 'fast_length')];
    const size = new Float64Array(n);
    smoothedChanges(source, slow, fast, out, size);
    for (let row = slow + fast - 1; row < n; row++) out[row] = size[row] > 0 ? (100 * out[row]) / size[row] : 0;
  },
};

/**
 * The changes of a source and their absolute values, each smoothed by one exponential average after the other. Rows of
 * `changes` and `sizes` are written from slow + fast - 1 on.
 */
function smoothedChanges(
  source: Float64Array,
  slow: number,
  fast: number,
  changes: Float64Array,
  sizes: Float64Array,
): void {
  const n = source.length;
  const change = new Float64Array(n);
  const once = new Float64Array(n);
  for (let row = 1; row < n; row++) change[row] = source[row] - source[row - 1];
  exponential(change, 1, slow, once);
  exponential(once, slow, fast, changes);
  for (let row = 1; row < n; row++) change[row] = Math.abs(change[row]);
  exponential(change, 1, slow, once);
  exponential(once, slow, fast, sizes);
}

const tsiLookback = (args: Args): number =>
  number(args, 'slow_length') + number(args, 'fast_length') - 1 + number(args, 'signal_length') - 1;

export const tsiSignal: IndicatorDefinition = {
  id: 'tsi_signal',
  aliases: [],
  name: 'True Strength Index with its signal',
  category: 'momentum',
  inputs: ['source'],
  args: [length(25, 1, 'slow_length'), length(13, 1, 'fast_length'), length(13, 1, 'signal_length')],
  outputs: [
    { name: 'tsi', kind: 'bounded', min: -100, max: 100 },
    { name: 'signal', kind: 'bounded', min: -100, max: 100 },
  ],
  formula:
    'tsi = 100·ema(ema(x - x[1], slow), fast)/ema(ema(|x - x[1]|, slow), fast), 0 on a flat source; signal = ' +
    'ema(tsi) (Blau 1991; pandas-ta tsi)',
  lookback: tsiLookback,
  stableLookback: (args) =>
    emaStable(number(args, 'slow_length')) +
    emaStable(number(args, 'fast_length')) +
    emaStable(number(args, 'signal_length')),
  compute([source], args, [tsi, signal]) {
    const n = source.length;
    const [slow, fast] = [number(args, 'slow_length'), number(args, 'fast_length')];
    const first = slow + fast - 1;
    const size = new Float64Array(n);
    smoothedChanges(source, slow, fast, tsi, size);
    for (let row = first; row < n; row++) tsi[row] = size[row] > 0 ? 100 * (tsi[row] / size[row]) : 0;
    exponential(tsi, first, number(args, 'signal_length'), signal);
    tsi.fill(NaN, 0, Math.min(n, tsiLookback(args)));
  },
};

export const smi: IndicatorDefinition = {
  id: 'smi',
  aliases: ['stochastic_momentum_index'],
  name: 'Stochastic Momentum Index',
  category: 'momentum',
  talib: {
    name: 'SMI',
    args: { timeperiod: 'length', fastperiod: 'fast_length', slowperiod: 'slow_length', signalperiod: 'signal_length' },
    outputs: ['smi', 'smisignal'],
  },
  inputs: ['high', 'low', 'close'],
  args: [length(13), length(2, 2, 'fast_length'), length(25, 2, 'slow_length'), length(9, 2, 'signal_length')],
  outputs: [
    { name: 'smi', kind: 'bounded', min: -100, max: 100 },
    { name: 'signal', kind: 'bounded', min: -100, max: 100 },
  ],
  formula:
    '200·s(close - (highest+lowest)/2)/s(highest - lowest), s = ema(ema(·, slow), fast); signal = ema of it (TA-Lib ' +
    'SMI; Blau 1993)',
  lookback: (args) =>
    number(args) + number(args, 'slow_length') + number(args, 'fast_length') + number(args, 'signal_length') - 4,
  stableLookback: (args) =>
    number(args) +
    emaStable(number(args, 'slow_length')) +
    emaStable(number(args, 'fast_length')) +
    emaStable(number(args, 'signal_length')),
  compute([high, low, close], args, [line, signal]) {
    const n = line.length;
    const span = number(args);
    const [fast, slow] = [number(args, 'fast_length'), number(args, 'slow_length')];
    const distance = new Float64Array(n);
    const range = new Float64Array(n);
    rollingMax(high, 0, span, range);
    rollingMin(low, 0, span, signal);
    for (let row = span - 1; row < n; row++) {
      distance[row] = close[row] - (range[row] + signal[row]) * 0.5;
      range[row] -= signal[row];
    }
    const scratch = new Float64Array(n);
    const second = span - 1 + slow - 1;
    exponential(distance, span - 1, slow, scratch);
    exponential(scratch, second, fast, line);
    exponential(range, span - 1, slow, scratch);
    exponential(scratch, second, fast, range);
    const first = second + fast - 1;
    for (let row = first; row < n; row++) line[row] = range[row] > 0 ? (100 * line[row]) / (0.5 * range[row]) : 0;
    const signalLength = number(args, 'signal_length');
    signal.fill(NaN);
    exponential(line, first, signalLength, signal);
    line.fill(NaN, 0, first + signalLength - 1);
  },
};
