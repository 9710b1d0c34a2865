// Volume oscillators that TA-Lib does not have: ease of movement and Klinger's.
import { length, number, real } from './arguments.ts';
import type { IndicatorDefinition } from './definition.ts';
import { exponential } from './exponential.ts';
import { emaStable } from './stability.ts';
import { rollingMean } from '../kernels/rollingSums.ts';

export const eom: IndicatorDefinition = {
  id: 'eom',
  aliases: ['ease_of_movement', 'emv_smoothed'],
  name: 'Ease of Movement',
  category: 'volume',
  inputs: ['high', 'low', 'volume'],
  args: [length(14, 1), real('divisor', 100_000_000, 1e-9, 1e18)],
  outputs: [{ name: 'value', kind: 'free' }],
  formula:
    'sma(((high+low)/2 - (high[1]+low[1])/2)·(high - low)·divisor/volume, length); a bar without volume counts 0 ' +
    '(Arms; pandas-ta eom)',
  lookback: (args) => number(args),
  compute([high, low, volume], args, [out]) {
    const n = high.length;
    const divisor = number(args, 'divisor');
    const ease = new Float64Array(n);
    for (let row = 1; row < n; row++) {
      const distance = 0.5 * (high[row] + low[row]) - 0.5 * (high[row - 1] + low[row - 1]);
      const box = (distance * (high[row] - low[row]) * divisor) / volume[row];
      ease[row] = volume[row] > 0 && Number.isFinite(box) ? box : 0;
    }
    rollingMean(ease, 1, number(args), out);
  },
};

export const kvo: IndicatorDefinition = {
  id: 'kvo',
  aliases: ['klinger', 'klinger_volume_oscillator'],
  name: 'Klinger Volume Oscillator',
  category: 'volume',
  inputs: ['high', 'low', 'close', 'volume'],
  args: [length(34, 1, 'fast_length'), length(55, 1, 'slow_length'), length(13, 1, 'signal_length')],
  outputs: [
    { name: 'kvo', kind: 'free' },
    { name: 'signal', kind: 'free' },
  ],
  formula:
    'kvo = ema(v, fast) - ema(v, slow), v = volume signed by the change of (high+low+close)/3, the first bar +; ' +
    'signal = ema(kvo) (Klinger 1997 without the trend term; pandas-ta kvo)',
  lookback: (args) =>
    Math.max(number(args, 'fast_length'), number(args, 'slow_length')) - 1 + number(args, 'signal_length') - 1,
  stableLookback: (args) =>
    Math.max(emaStable(number(args, 'fast_length')), emaStable(number(args, 'slow_length'))) +
    emaStable(number(args, 'signal_length')),
  compute([high, low, close, volume], args, [line, signal]) {
    const n = close.length;
    const fast = number(args, 'fast_length');
    const slow = number(args, 'slow_length');
    const smooth = number(args, 'signal_length');
    const start = Math.max(fast, slow) - 1;
    const signed = new Float64Array(n);
    const slowAverage = new Float64Array(n);
    let previous = -Infinity;
    for (let row = 0; row < n; row++) {
      const typical = (high[row] + low[row] + close[row]) / 3;
      signed[row] = typical > previous ? volume[row] : typical < previous ? -volume[row] : 0;
      previous = typical;
    }
    exponential(signed, 0, fast, line);
    exponential(signed, 0, slow, slowAverage);
    for (let row = start; row < n; row++) line[row] -= slowAverage[row];
    exponential(line, start, smooth, signal);
    line.fill(NaN, 0, Math.min(n, start + smooth - 1));
  },
};
