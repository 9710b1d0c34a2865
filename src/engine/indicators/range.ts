// True range: the range of a bar including the gap from the previous close; its averages ATR and NATR, and the plain
// ADR.
import { length, number } from './arguments.ts';
import type { IndicatorDefinition } from './definition.ts';
import { wilderStable } from './stability.ts';
import { runRecursion, type Recursion } from '../kernels/recursion.ts';
import { rollingMean } from '../kernels/rollingSums.ts';

export const trueRangeIndicator: IndicatorDefinition = {
  id: 'trange',
  aliases: ['true_range', 'tr'],
  name: 'True Range',
  category: 'volatility',
  talib: { name: 'TRANGE', args: {}, outputs: ['real'] },
  inputs: ['high', 'low', 'close'],
  args: [],
  outputs: [{ name: 'value', kind: 'free' }],
  formula: 'max(high - low, |high - close[1]|, |low - close[1]|) (TA-Lib TRANGE)',
  lookback: () => 1,
  compute: ([high, low, close], _args, [out]) => trueRange(high, low, close, out),
};

export const atr: IndicatorDefinition = {
  id: 'atr',
  aliases: ['average_true_range'],
  name: 'Average True Range',
  category: 'volatility',
  talib: { name: 'ATR', args: { timeperiod: 'length' }, outputs: ['real'] },
  inputs: ['high', 'low', 'close'],
  args: [length(14, 1)],
  outputs: [{ name: 'value', kind: 'free' }],
  formula: 'rma(true range), seeded with the mean of the first length true ranges (TA-Lib ATR; Wilder 1978)',
  lookback: (args) => number(args),
  stableLookback: (args) => 1 + wilderStable(number(args)),
  compute: ([high, low, close], args, [out]) => averageTrueRange(high, low, close, number(args), out),
};

export const natr: IndicatorDefinition = {
  id: 'natr',
  aliases: ['normalized_atr'],
  name: 'Normalized Average True Range',
  category: 'volatility',
  talib: { name: 'NATR', args: { timeperiod: 'length' }, outputs: ['real'] },
  inputs: ['high', 'low', 'close'],
  args: [length(14, 1)],
  outputs: [{ name: 'value', kind: 'free' }],
  formula: '100·atr/close; length 1 is the true range itself (TA-Lib NATR)',
  lookback: (args) => number(args),
  stableLookback: (args) => 1 + wilderStable(number(args)),
  compute([high, low, close], args, [out]) {
    averageTrueRange(high, low, close, number(args), out);
    if (number(args) === 1) return;
    for (let row = number(args); row < out.length; row++)
      out[row] = close[row] === 0 ? 0 : (out[row] / close[row]) * 100;
  },
};

export const adr: IndicatorDefinition = {
  id: 'adr',
  aliases: ['average_daily_range', 'average_range'],
  name: 'Average Range',
  category: 'volatility',
  talib: { name: 'ADR', args: { timeperiod: 'length' }, outputs: ['real'] },
  inputs: ['high', 'low'],
  args: [length(14, 1)],
  outputs: [{ name: 'value', kind: 'free' }],
  formula: 'sma(high - low) (TA-Lib ADR)',
  lookback: (args) => number(args) - 1,
  compute([high, low], args, [out]) {
    const range = new Float64Array(out.length);
    for (let row = 0; row < out.length; row++) range[row] = high[row] - low[row];
    rollingMean(range, 0, number(args), out);
  },
};

/** Rows 1 … n-1. */
export function trueRange(high: Float64Array, low: Float64Array, close: Float64Array, out: Float64Array): void {
  for (let row = 1; row < out.length; row++) out[row] = trueRangeOf(high[row], low[row], close[row - 1]);
}

/** Wilder's average of the true range, rows length … n-1, in one pass. */
export function averageTrueRange(
  high: Float64Array,
  low: Float64Array,
  close: Float64Array,
  length: number,
  out: Float64Array,
): void {
  const n = out.length;
  if (length >= n) return;
  let sum = 0;
  for (let row = 1; row <= length; row++) sum += trueRangeOf(high[row], low[row], close[row - 1]);
  const weight = 1 / length;
  const decay = 1 - weight;
  const seed = sum * weight;
  out[length] = seed;
  const recursion: Recursion = {
    seed: [seed],
    weight,
    run(state, at, from, end) {
      let average = state[at];
      for (let row = from; row < end; row++) {
        average = decay * average + weight * trueRangeOf(high[row], low[row], close[row - 1]);
        out[row] = average;
      }
      state[at] = average;
    },
    known: { name: 'averageRange', columns: [high, low, close], out },
  };
  runRecursion(recursion, length + 1, n);
}

/**
 * The true range of one bar: from the higher of its high and the close before to the lower of its low and that
 * close.
 */
export function trueRangeOf(high: number, low: number, before: number): number {
  const top = high > before ? high : before;
  const bottom = low < before ? low : before;
  return top - bottom;
}
