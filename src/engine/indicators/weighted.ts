// Averages with fixed weights: SMA, WMA, TRIMA, Hull's HMA, and VWMA, which weighs by volume.
import { length, number } from './arguments.ts';
import type { IndicatorDefinition } from './definition.ts';
import { rollingMean, rollingSum } from '../kernels/rollingSums.ts';

export const sma: IndicatorDefinition = {
  id: 'sma',
  aliases: ['simple_moving_average'],
  name: 'Simple Moving Average',
  category: 'overlap',
  talib: { name: 'SMA', args: { timeperiod: 'length' }, outputs: ['real'], defaults: { length: 30 } },
  inputs: ['source'],
  args: [length(20, 1)],
  outputs: [{ name: 'value', kind: 'price' }],
  formula: 'Σ x / length over the last length bars, the sum rounded once (TA-Lib SMA)',
  lookback: (args) => number(args) - 1,
  compute: ([source], args, [out]) => rollingMean(source, 0, number(args), out),
};

export const wma: IndicatorDefinition = {
  id: 'wma',
  aliases: ['weighted_moving_average'],
  name: 'Weighted Moving Average',
  category: 'overlap',
  talib: { name: 'WMA', args: { timeperiod: 'length' }, outputs: ['real'], defaults: { length: 30 } },
  inputs: ['source'],
  args: [length(20, 1)],
  outputs: [{ name: 'value', kind: 'price' }],
  formula: 'Σ w·x / Σ w, weights 1 (oldest) … length (newest) (TA-Lib WMA)',
  lookback: (args) => number(args) - 1,
  compute: ([source], args, [out]) => weighted(source, 0, number(args), out),
};

export const trima: IndicatorDefinition = {
  id: 'trima',
  aliases: ['triangular_moving_average'],
  name: 'Triangular Moving Average',
  category: 'overlap',
  talib: { name: 'TRIMA', args: { timeperiod: 'length' }, outputs: ['real'], defaults: { length: 30 } },
  inputs: ['source'],
  args: [length(20, 1)],
  outputs: [{ name: 'value', kind: 'price' }],
  formula: 'sma of sma: lengths (n+1)/2 twice for odd n, n/2 then n/2+1 for even n (TA-Lib TRIMA)',
  lookback: (args) => number(args) - 1,
  compute: ([source], args, [out]) => triangular(source, 0, number(args), out),
};

export const hma: IndicatorDefinition = {
  id: 'hma',
  aliases: ['hull', 'hull_moving_average'],
  name: 'Hull Moving Average',
  category: 'overlap',
  talib: { name: 'HMA', args: { timeperiod: 'length' }, outputs: ['real'] },
  inputs: ['source'],
  args: [length(20, 1)],
  outputs: [{ name: 'value', kind: 'price' }],
  formula: 'wma(2·wma(x, floor(n/2)) - wma(x, n), floor(√n)) (TA-Lib HMA; Hull 2005)',
  lookback: (args) => number(args) + Math.floor(Math.sqrt(number(args))) - 2,
  compute: ([source], args, [out]) => hull(source, 0, number(args), out),
};

export const vwma: IndicatorDefinition = {
  id: 'vwma',
  aliases: ['volume_weighted_moving_average'],
  name: 'Volume Weighted Moving Average',
  category: 'overlap',
  talib: { name: 'VWMA', args: { timeperiod: 'length' }, outputs: ['real'], defaults: { length: 30 } },
  inputs: ['source', 'volume'],
  args: [length(20, 1)],
  outputs: [{ name: 'value', kind: 'price' }],
  formula: 'Σ x·volume / Σ volume over the last length bars; missing without volume (TA-Lib VWMA)',
  lookback: (args) => number(args) - 1,
  compute: ([source, volume], args, [out]) => volumeWeighted(source, volume, number(args), out),
};

/**
 * Weighted sums slide by one subtraction, Σw·x - Σx + length·x, and recomputed every 8·length rows to keep the drift at
 * 1e-13. The order is TA-Lib's to the last bit: HMA and PVO read differences of such averages, in which only the
 * rounding is left. A window of equal values is that value: its sums would hold a residue of earlier values.
 */
export function weighted(source: Float64Array, first: number, length: number, out: Float64Array): void {
  const n = source.length;
  const divisor = (length * (length + 1)) / 2;
  let equalRows = 0;
  let previous = NaN;
  for (let i = first; i < Math.min(n, first + length - 1); i++) {
    equalRows = source[i] === previous ? equalRows + 1 : 1;
    previous = source[i];
  }
  let row = first + length - 1;
  while (row < n) {
    const stop = Math.min(n, row + 8 * length);
    let sum = 0;
    let weightedSum = 0;
    for (let i = 1; i < length; i++) {
      const value = source[row - length + i];
      sum += value;
      weightedSum += value * i;
    }
    let dropped = 0;
    for (; row < stop; row++) {
      const value = source[row];
      equalRows = value === previous ? equalRows + 1 : 1;
      previous = value;
      sum += value;
      sum -= dropped;
      weightedSum += value * length;
      if (equalRows >= length) {
        sum = value * length;
        weightedSum = value * divisor;
        out[row] = value;
      } else {
        out[row] = weightedSum / divisor;
      }
      dropped = source[row - length + 1];
      weightedSum -= sum;
    }
  }
}

/** Triangular average, the mean of a mean, rows first+length-1 … n-1; the formula is that of `trima`. */
export function triangular(source: Float64Array, first: number, length: number, out: Float64Array): void {
  const outer = Math.floor(length / 2) + 1;
  const inner = length + 1 - outer;
  const scratch = new Float64Array(source.length);
  rollingMean(source, first, inner, scratch);
  rollingMean(scratch, first + inner - 1, outer, out);
}

/** Hull average, rows first+length+floor(√length)-2 … n-1; the formula is that of `hma`. */
export function hull(source: Float64Array, first: number, length: number, out: Float64Array): void {
  const n = source.length;
  const half = Math.max(1, Math.floor(length / 2));
  const whole = new Float64Array(n);
  const scratch = new Float64Array(n);
  weighted(source, first, length, whole);
  weighted(source, first, half, scratch);
  for (let row = first + length - 1; row < n; row++) scratch[row] = 2 * scratch[row] - whole[row];
  weighted(scratch, first + length - 1, Math.floor(Math.sqrt(length)), out);
}

function volumeWeighted(source: Float64Array, volume: Float64Array, length: number, out: Float64Array): void {
  const n = source.length;
  // A single bar needs no weights, and has a price even without volume.
  if (length === 1) {
    out.set(source);
    return;
  }
  const product = new Float64Array(n);
  const volumes = new Float64Array(n);
  for (let row = 0; row < n; row++) product[row] = source[row] * volume[row];
  rollingSum(volume, 0, length, volumes);
  rollingSum(product, 0, length, out);
  for (let row = length - 1; row < n; row++) out[row] = volumes[row] === 0 ? NaN : out[row] / volumes[row];
}
