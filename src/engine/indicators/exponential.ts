// Exponential averages: EMA, Wilder's RMA, and what is composed of them (DEMA, TEMA, T3, ZLEMA).
import { length, number, real } from './arguments.ts';
import type { IndicatorDefinition } from './definition.ts';
import { runRecursion, type Recursion } from '../kernels/recursion.ts';
import { wilderStable, emaStable } from './stability.ts';

export const ema: IndicatorDefinition = {
  id: 'ema',
  aliases: ['exponential_moving_average'],
  name: 'Exponential Moving Average',
  category: 'overlap',
  talib: { name: 'EMA', args: { timeperiod: 'length' }, outputs: ['real'], defaults: { length: 30 } },
  inputs: ['source'],
  args: [length(20, 1)],
  outputs: [{ name: 'value', kind: 'price' }],
  formula: 'ema = k·x + (1-k)·ema[1], k = 2/(length+1), seeded with the mean of the first length values (TA-Lib EMA)',
  lookback: (args) => number(args) - 1,
  stableLookback: (args) => emaStable(number(args)),
  compute: ([source], args, [out]) => exponential(source, 0, number(args), out),
};

export const rma: IndicatorDefinition = {
  id: 'rma',
  aliases: ['smma', 'wilder', 'wilders', 'smoothed_moving_average'],
  name: "Wilder's Smoothed Moving Average",
  category: 'overlap',
  talib: { name: 'RMA', args: { timeperiod: 'length' }, outputs: ['real'], defaults: { length: 30 } },
  inputs: ['source'],
  args: [length(14, 1)],
  outputs: [{ name: 'value', kind: 'price' }],
  formula:
    'rma = (x + (length-1)·rma[1])/length, seeded with the mean of the first length values (TA-Lib RMA; Wilder 1978)',
  lookback: (args) => number(args) - 1,
  stableLookback: (args) => wilderStable(number(args)),
  compute: ([source], args, [out]) => wilder(source, 0, number(args), out),
};

export const dema: IndicatorDefinition = {
  id: 'dema',
  aliases: ['double_exponential_moving_average'],
  name: 'Double Exponential Moving Average',
  category: 'overlap',
  talib: { name: 'DEMA', args: { timeperiod: 'length' }, outputs: ['real'], defaults: { length: 30 } },
  inputs: ['source'],
  args: [length(20, 1)],
  outputs: [{ name: 'value', kind: 'price' }],
  formula: '2·ema(x) - ema(ema(x)) (TA-Lib DEMA; Mulloy 1994)',
  lookback: (args) => 2 * (number(args) - 1),
  stableLookback: (args) => 2 * emaStable(number(args)),
  compute: ([source], args, [out]) => doubleExponential(source, 0, number(args), out),
};

export const tema: IndicatorDefinition = {
  id: 'tema',
  aliases: ['triple_exponential_moving_average'],
  name: 'Triple Exponential Moving Average',
  category: 'overlap',
  talib: { name: 'TEMA', args: { timeperiod: 'length' }, outputs: ['real'], defaults: { length: 30 } },
  inputs: ['source'],
  args: [length(20, 1)],
  outputs: [{ name: 'value', kind: 'price' }],
  formula: '3·ema(x) - 3·ema(ema(x)) + ema(ema(ema(x))) (TA-Lib TEMA; Mulloy 1994)',
  lookback: (args) => 3 * (number(args) - 1),
  stableLookback: (args) => 3 * emaStable(number(args)),
  compute: ([source], args, [out]) => tripleExponential(source, 0, number(args), out),
};

export const t3: IndicatorDefinition = {
  id: 't3',
  aliases: ['tilson_t3'],
  name: 'Tilson T3 Moving Average',
  category: 'overlap',
  talib: { name: 'T3', args: { timeperiod: 'length', vfactor: 'v_factor' }, outputs: ['real'] },
  inputs: ['source'],
  args: [length(5, 1), real('v_factor', 0.7, 0, 1)],
  outputs: [{ name: 'value', kind: 'price' }],
  formula: 'c1·e6 + c2·e5 + c3·e4 + c4·e3, e1 … e6 successive EMAs, c of v_factor (TA-Lib T3; Tilson 1998)',
  lookback: (args) => 6 * (number(args) - 1),
  stableLookback: (args) => 6 * emaStable(number(args)),
  compute: ([source], args, [out]) => tilson(source, 0, number(args), number(args, 'v_factor'), out),
};

export const zlema: IndicatorDefinition = {
  id: 'zlema',
  aliases: ['zero_lag_ema'],
  name: 'Zero-Lag Exponential Moving Average',
  category: 'overlap',
  talib: { name: 'ZLEMA', args: { timeperiod: 'length' }, outputs: ['real'], defaults: { length: 30 } },
  inputs: ['source'],
  args: [length(20, 1)],
  outputs: [{ name: 'value', kind: 'price' }],
  formula: 'ema(2·x - x[lag]), lag = floor((length-1)/2) (TA-Lib ZLEMA; Ehlers and Way 2010)',
  lookback: (args) => Math.floor((number(args) - 1) / 2) + number(args) - 1,
  stableLookback: (args) => Math.floor((number(args) - 1) / 2) + emaStable(number(args)),
  compute: ([source], args, [out]) => zeroLag(source, 0, number(args), out),
};

/** The mean of source[first … first+length-1], summed in order: the seed of every recursive average here. */
export function seedMean(source: Float64Array, first: number, length: number): number {
  let sum = 0;
  for (let i = first; i < first + length; i++) sum += source[i];
  return sum / length;
}

/** out[row] = weight·source[row] + (1-weight)·out[row-1] from row first+length-1, which holds the seed mean. */
function recursive(source: Float64Array, first: number, length: number, weight: number, out: Float64Array): void {
  const n = source.length;
  const start = first + length - 1;
  if (start >= n) return;
  const decay = 1 - weight;
  const seed = seedMean(source, first, length);
  out[start] = seed;
  const recursion: Recursion = {
    seed: [seed],
    weight,
    run(state, at, from, end) {
      let average = state[at];
      for (let row = from; row < end; row++) {
        average = weight * source[row] + decay * average;
        out[row] = average;
      }
      state[at] = average;
    },
    known: { name: 'average', columns: [source], out },
  };
  runRecursion(recursion, start + 1, n);
}

/** EMA of source[first … n-1] with weight 2/(length+1), rows first+length-1 … n-1. */
export function exponential(source: Float64Array, first: number, length: number, out: Float64Array): void {
  recursive(source, first, length, 2 / (length + 1), out);
}

/** Wilder's average of source[first … n-1] with weight 1/length, rows first+length-1 … n-1. */
export function wilder(source: Float64Array, first: number, length: number, out: Float64Array): void {
  recursive(source, first, length, 1 / length, out);
}

/** DEMA of source[first … n-1], rows first+2·(length-1) … n-1. */
export function doubleExponential(source: Float64Array, first: number, length: number, out: Float64Array): void {
  const once = new Float64Array(source.length);
  exponential(source, first, length, once);
  exponential(once, first + length - 1, length, out);
  for (let row = first + 2 * (length - 1); row < source.length; row++) out[row] = 2 * once[row] - out[row];
}

/** TEMA of source[first … n-1], rows first+3·(length-1) … n-1. */
export function tripleExponential(source: Float64Array, first: number, length: number, out: Float64Array): void {
  const once = new Float64Array(source.length);
  const twice = new Float64Array(source.length);
  exponential(source, first, length, once);
  exponential(once, first + length - 1, length, twice);
  exponential(twice, first + 2 * (length - 1), length, out);
  for (let row = first + 3 * (length - 1); row < source.length; row++) out[row] += 3 * once[row] - 3 * twice[row];
}

/** T3 of source[first … n-1], rows first+6·(length-1) … n-1. */
export function tilson(source: Float64Array, first: number, length: number, factor: number, out: Float64Array): void {
  const n = source.length;
  const stages = [0, 1, 2, 3, 4, 5].map(() => new Float64Array(n));
  let input = source;
  stages.forEach((stage, index) => {
    exponential(input, first + index * (length - 1), length, stage);
    input = stage;
  });
  const [, , e3, e4, e5, e6] = stages;
  const square = factor * factor;
  const c1 = -(square * factor);
  const c2 = 3 * (square - c1);
  const c3 = -6 * square - 3 * (factor - c1);
  const c4 = 1 + 3 * factor - c1 + 3 * square;
  for (let row = first + 6 * (length - 1); row < n; row++) {
    out[row] = c1 * e6[row] + c2 * e5[row] + c3 * e4[row] + c4 * e3[row];
  }
}

/** ZLEMA of source[first … n-1], rows first+lag+length-1 … n-1, where lag is floor((length-1)/2). */
export function zeroLag(source: Float64Array, first: number, length: number, out: Float64Array): void {
  const lag = Math.floor((length - 1) / 2);
  const corrected = new Float64Array(source.length);
  for (let row = first + lag; row < source.length; row++) corrected[row] = 2 * source[row] - source[row - lag];
  exponential(corrected, first + lag, length, out);
}
