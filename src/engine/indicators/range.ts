// True range: the range of a bar including the gap from the previous close; its averages ATR and NATR, and the plain
// ADR.
import { length, number } from './arguments.ts';
import type { IndicatorDefinition } from './definition.ts';
import { wilderStable } from './stability.ts';
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
  for (let row = 1; row < out.length; row++) {
    const before = close[row - 1];
    const top = high[row] > before ? high[row] : before;
    const bottom = low[row] < before ? low[row] : before;
    out[row] = top - bottom;
  }
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
  const share = 1 / length;
  const keep = 1 - share;
  let before = close[0];
  let average = 0;
  for (let row = 1; row <= length; row++) {
    average += Math.max(high[row], before) - Math.min(low[row], before);
    before = close[row];
  }
  average *= share;
  out[length] = average;
  for (let row = length + 1; row < n; row++) {
    const h = high[row];
    const l = low[row];
    const top = h > before ? h : before;
    const bottom = l < before ? l : before;
    before = close[row];
    average = keep * average + share * (top - bottom);
    out[row] = average;
  }
}
