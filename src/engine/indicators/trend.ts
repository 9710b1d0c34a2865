// Trend: how old the extremes are (Aroon), how straight the path is (ER, VHF), how bars reach over each other (Vortex),
// power of bulls and bears, fractals.
import { length, number } from './arguments.ts';
import type { IndicatorDefinition, OutputDefinition } from './definition.ts';
import { exponential } from './exponential.ts';
import { rollingMax, rollingMaxIndex, rollingMin, rollingMinIndex } from '../kernels/rollingExtremes.ts';
import { trueRange } from './range.ts';
import { emaStable } from './stability.ts';
import { rollingSum } from '../kernels/rollingSums.ts';

const PERCENT = { kind: 'bounded', min: 0, max: 100 } as const;

export const aroon: IndicatorDefinition = {
  id: 'aroon',
  aliases: [],
  name: 'Aroon',
  category: 'trend',
  talib: { name: 'AROON', args: { timeperiod: 'length' }, outputs: ['aroondown', 'aroonup'] },
  inputs: ['high', 'low'],
  args: [length(14)],
  outputs: [
    { name: 'down', ...PERCENT },
    { name: 'up', ...PERCENT },
  ],
  formula:
    '100·(length - bars since the extreme of length+1 bars)/length, the latest of equal extremes (TA-Lib AROON; ' +
    'Chande 1995)',
  lookback: (args) => number(args),
  compute([high, low], args, [down, up]) {
    const span = number(args);
    const scale = 100 / span;
    rollingMinIndex(low, 0, span + 1, down);
    rollingMaxIndex(high, 0, span + 1, up);
    for (let row = span; row < up.length; row++) {
      down[row] = scale * (span - (row - down[row]));
      up[row] = scale * (span - (row - up[row]));
    }
  },
};

export const aroonOsc: IndicatorDefinition = {
  id: 'aroonosc',
  aliases: ['aroon_oscillator'],
  name: 'Aroon Oscillator',
  category: 'trend',
  talib: { name: 'AROONOSC', args: { timeperiod: 'length' }, outputs: ['real'] },
  inputs: ['high', 'low'],
  args: [length(14)],
  outputs: [{ name: 'value', kind: 'bounded', min: -100, max: 100 }],
  formula: 'aroon up - aroon down (TA-Lib AROONOSC)',
  lookback: (args) => number(args),
  compute([high, low], args, [out]) {
    const span = number(args);
    const scale = 100 / span;
    const lows = new Float64Array(out.length);
    rollingMinIndex(low, 0, span + 1, lows);
    rollingMaxIndex(high, 0, span + 1, out);
    for (let row = span; row < out.length; row++) out[row] = scale * (out[row] - lows[row]);
  },
};

export const vortex: IndicatorDefinition = {
  id: 'vortex',
  aliases: ['vortex_indicator'],
  name: 'Vortex Indicator',
  category: 'trend',
  talib: { name: 'VORTEX', args: { timeperiod: 'length' }, outputs: ['plusvi', 'minusvi'] },
  inputs: ['high', 'low', 'close'],
  args: [length(14, 1)],
  outputs: [
    { name: 'plus', kind: 'free' },
    { name: 'minus', kind: 'free' },
  ],
  formula:
    'Σ|high - low[1]|/Σ true range and Σ|low - high[1]|/Σ true range; 0 without range (TA-Lib VORTEX; Botes and ' +
    'Siepman 2010)',
  lookback: (args) => number(args),
  compute([high, low, close], args, [plus, minus]) {
    const n = plus.length;
    const span = number(args);
    const range = new Float64Array(n);
    const sums = new Float64Array(n);
    const moves = new Float64Array(n);
    trueRange(high, low, close, range);
    rollingSum(range, 1, span, sums);
    for (let row = 1; row < n; row++) moves[row] = Math.abs(high[row] - low[row - 1]);
    rollingSum(moves, 1, span, plus);
    for (let row = 1; row < n; row++) moves[row] = Math.abs(low[row] - high[row - 1]);
    rollingSum(moves, 1, span, minus);
    for (let row = span; row < n; row++) {
      const total = sums[row];
      plus[row] = total > 0 ? plus[row] / total : 0;
      minus[row] = total > 0 ? minus[row] / total : 0;
    }
  },
};

const SHARE: readonly OutputDefinition[] = [{ name: 'value', kind: 'bounded', min: 0, max: 1 }];

export const efficiencyRatio: IndicatorDefinition = {
  id: 'efficiency_ratio',
  aliases: ['er', 'kaufman_efficiency_ratio'],
  name: 'Efficiency Ratio',
  category: 'trend',
  talib: { name: 'ER', args: { timeperiod: 'length' }, outputs: ['real'] },
  inputs: ['source'],
  args: [length(10)],
  outputs: SHARE,
  formula: '|x - x[length]|/Σ|Δx|; 1 when nothing moved (TA-Lib ER; Kaufman 1995)',
  lookback: (args) => number(args),
  compute([source], args, [out]) {
    const span = number(args);
    pathLength(source, span, out);
    for (let row = span; row < out.length; row++) {
      const move = Math.abs(source[row] - source[row - span]);
      out[row] = out[row] <= move ? 1 : move / out[row];
    }
  },
};

export const vhf: IndicatorDefinition = {
  id: 'vhf',
  aliases: ['vertical_horizontal_filter'],
  name: 'Vertical Horizontal Filter',
  category: 'trend',
  talib: { name: 'VHF', args: { timeperiod: 'length' }, outputs: ['real'] },
  inputs: ['source'],
  args: [length(28)],
  outputs: SHARE,
  formula: '(highest x - lowest x)/Σ|Δx|; 0 when nothing moved (TA-Lib VHF; White 1991)',
  lookback: (args) => number(args),
  compute([source], args, [out]) {
    const span = number(args);
    const paths = new Float64Array(out.length);
    const lows = new Float64Array(out.length);
    pathLength(source, span, paths);
    rollingMax(source, 1, span, out);
    rollingMin(source, 1, span, lows);
    for (let row = span; row < out.length; row++) out[row] = paths[row] > 0 ? (out[row] - lows[row]) / paths[row] : 0;
  },
};

/** Σ|Δx| over `length` changes, rows length … n-1. */
function pathLength(source: Float64Array, length: number, out: Float64Array): void {
  const steps = new Float64Array(out.length);
  for (let row = 1; row < out.length; row++) steps[row] = Math.abs(source[row] - source[row - 1]);
  rollingSum(steps, 1, length, out);
}

export const elderRay: IndicatorDefinition = {
  id: 'elder_ray',
  aliases: ['eri', 'bull_bear_power'],
  name: 'Elder-Ray Index',
  category: 'trend',
  talib: { name: 'ERI', args: { timeperiod: 'length' }, outputs: ['bullpower', 'bearpower'] },
  inputs: ['high', 'low', 'close'],
  args: [length(13, 1)],
  outputs: [
    { name: 'bull', kind: 'free' },
    { name: 'bear', kind: 'free' },
  ],
  formula: 'high - ema(close) and low - ema(close) (TA-Lib ERI; Elder 1993)',
  lookback: (args) => number(args) - 1,
  stableLookback: (args) => emaStable(number(args)),
  compute([high, low, close], args, [bull, bear]) {
    exponential(close, 0, number(args), bear);
    for (let row = number(args) - 1; row < bull.length; row++) {
      bull[row] = high[row] - bear[row];
      bear[row] = low[row] - bear[row];
    }
  },
};

export const fractal: IndicatorDefinition = {
  id: 'fractal',
  aliases: ['fractals', 'williams_fractal'],
  name: 'Fractal, confirmed',
  category: 'trend',
  talib: { name: 'FRACTAL', args: { leftbars: 'left', rightbars: 'right' }, outputs: ['swinghigh', 'swinglow'] },
  inputs: ['high', 'low'],
  args: [length(2, 1, 'left'), length(2, 1, 'right')],
  outputs: [
    { name: 'high', kind: 'flag', min: 0, max: 100 },
    { name: 'low', kind: 'flag', min: 0, max: 100 },
  ],
  formula:
    '100 on the bar `right` bars after one whose high (low) is strictly beyond all others of the window, else 0 ' +
    '(TA-Lib FRACTAL)',
  lookback: (args) => number(args, 'left') + number(args, 'right'),
  compute([high, low], args, [highs, lows]) {
    const left = number(args, 'left');
    const right = number(args, 'right');
    const before = new Float64Array(highs.length);
    const after = new Float64Array(highs.length);
    rollingMax(high, 0, left, before);
    rollingMax(high, 0, right, after);
    for (let row = left + right; row < highs.length; row++) {
      const pivot = high[row - right];
      highs[row] = pivot > before[row - right - 1] && pivot > after[row] ? 100 : 0;
    }
    rollingMin(low, 0, left, before);
    rollingMin(low, 0, right, after);
    for (let row = left + right; row < lows.length; row++) {
      const pivot = low[row - right];
      lows[row] = pivot < before[row - right - 1] && pivot < after[row] ? 100 : 0;
    }
  },
};
