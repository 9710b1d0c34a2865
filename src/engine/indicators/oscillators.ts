// Oscillators made of averages and sums: AO and AC, DPO, Coppock, ULTOSC, QSTICK and the balance of power.
import { length, number } from './arguments.ts';
import type { IndicatorDefinition, OutputDefinition } from './definition.ts';
import { trueRange } from './range.ts';
import { percentChange } from './rates.ts';
import { rollingMean, rollingSum } from '../kernels/rollingSums.ts';
import { weighted } from './weighted.ts';

const FREE: readonly OutputDefinition[] = [{ name: 'value', kind: 'free' }];

export const awesome: IndicatorDefinition = {
  id: 'awesome_osc',
  aliases: ['ao', 'awesome_oscillator'],
  name: 'Awesome Oscillator',
  category: 'momentum',
  talib: { name: 'AO', args: { fastperiod: 'fast_length', slowperiod: 'slow_length' }, outputs: ['real'] },
  inputs: ['high', 'low'],
  args: [length(5, 2, 'fast_length'), length(34, 2, 'slow_length')],
  outputs: FREE,
  formula: 'sma((high+low)/2, fast) - sma((high+low)/2, slow) (TA-Lib AO; Williams 1998)',
  lookback: (args) => Math.max(number(args, 'fast_length'), number(args, 'slow_length')) - 1,
  compute: ([high, low], args, [out]) =>
    awesomeLine(high, low, number(args, 'fast_length'), number(args, 'slow_length'), out),
};

export const accelerator: IndicatorDefinition = {
  id: 'accelerator',
  aliases: ['ac', 'accelerator_oscillator'],
  name: 'Accelerator Oscillator',
  category: 'momentum',
  talib: {
    name: 'AC',
    args: { fastperiod: 'fast_length', slowperiod: 'slow_length', signalperiod: 'signal_length' },
    outputs: ['real'],
  },
  inputs: ['high', 'low'],
  args: [length(5, 2, 'fast_length'), length(34, 2, 'slow_length'), length(5, 2, 'signal_length')],
  outputs: FREE,
  formula: 'ao - sma(ao, signal_length) (TA-Lib AC; Williams 1998)',
  lookback: (args) =>
    Math.max(number(args, 'fast_length'), number(args, 'slow_length')) - 1 + number(args, 'signal_length') - 1,
  compute([high, low], args, [out]) {
    const fast = number(args, 'fast_length');
    const slow = number(args, 'slow_length');
    const signal = number(args, 'signal_length');
    const line = new Float64Array(out.length);
    awesomeLine(high, low, fast, slow, line);
    const first = Math.max(fast, slow) - 1;
    rollingMean(line, first, signal, out);
    for (let row = first + signal - 1; row < out.length; row++) out[row] = line[row] - out[row];
  },
};

function awesomeLine(high: Float64Array, low: Float64Array, fast: number, slow: number, out: Float64Array): void {
  const n = out.length;
  const median = new Float64Array(n);
  const slowLine = new Float64Array(n);
  for (let row = 0; row < n; row++) median[row] = (high[row] + low[row]) / 2;
  const first = Math.max(fast, slow) - 1;
  rollingMean(median, first - fast + 1, fast, out);
  rollingMean(median, first - slow + 1, slow, slowLine);
  for (let row = first; row < n; row++) out[row] -= slowLine[row];
}

export const balanceOfPower: IndicatorDefinition = {
  id: 'bop',
  aliases: ['balance_of_power'],
  name: 'Balance of Power',
  category: 'momentum',
  talib: { name: 'BOP', args: {}, outputs: ['real'] },
  inputs: ['open', 'high', 'low', 'close'],
  args: [],
  outputs: [{ name: 'value', kind: 'bounded', min: -1, max: 1 }],
  formula: '(close - open)/(high - low); 0 on a bar without range (TA-Lib BOP)',
  lookback: () => 0,
  compute([open, high, low, close], _args, [out]) {
    for (let row = 0; row < out.length; row++) {
      const range = high[row] - low[row];
      out[row] = range > 0 ? (close[row] - open[row]) / range : 0;
    }
  },
};

export const dpo: IndicatorDefinition = {
  id: 'dpo',
  aliases: ['detrended_price_oscillator'],
  name: 'Detrended Price Oscillator',
  category: 'momentum',
  talib: { name: 'DPO', args: { timeperiod: 'length' }, outputs: ['real'] },
  inputs: ['source'],
  args: [length(20)],
  outputs: FREE,
  formula: 'x[floor(length/2)+1] - sma(x, length), not centered: nothing is drawn into the past (TA-Lib DPO)',
  lookback: (args) => Math.max(number(args) - 1, Math.floor(number(args) / 2) + 1),
  compute([source], args, [out]) {
    const span = number(args);
    const shift = Math.floor(span / 2) + 1;
    const start = Math.max(span - 1, shift);
    rollingMean(source, 0, span, out);
    out.fill(NaN, 0, start);
    for (let row = start; row < out.length; row++) out[row] = source[row - shift] - out[row];
  },
};

export const coppock: IndicatorDefinition = {
  id: 'coppock',
  aliases: ['coppock_curve'],
  name: 'Coppock Curve',
  category: 'momentum',
  talib: {
    name: 'COPPOCK',
    args: { wmaperiod: 'length', roc1period: 'short_length', roc2period: 'long_length' },
    outputs: ['real'],
  },
  inputs: ['source'],
  args: [length(10, 1), length(11, 1, 'short_length'), length(14, 1, 'long_length')],
  outputs: FREE,
  formula: 'wma(roc(short_length) + roc(long_length), length) (TA-Lib COPPOCK; Coppock 1962)',
  lookback: (args) => Math.max(number(args, 'short_length'), number(args, 'long_length')) + number(args) - 1,
  compute([source], args, [out]) {
    const short = number(args, 'short_length');
    const long = number(args, 'long_length');
    const first = Math.max(short, long);
    const rates = new Float64Array(out.length);
    for (let row = first; row < out.length; row++) {
      rates[row] = percentChange(source[row], source[row - short]) + percentChange(source[row], source[row - long]);
    }
    weighted(rates, first, number(args), out);
  },
};

export const qstick: IndicatorDefinition = {
  id: 'qstick',
  aliases: [],
  name: 'Qstick',
  category: 'momentum',
  talib: { name: 'QSTICK', args: { timeperiod: 'length' }, outputs: ['real'] },
  inputs: ['open', 'close'],
  args: [length(10, 1)],
  outputs: FREE,
  formula: 'sma(close - open) (TA-Lib QSTICK; Chande)',
  lookback: (args) => number(args) - 1,
  compute([open, close], args, [out]) {
    const body = new Float64Array(out.length);
    for (let row = 0; row < out.length; row++) body[row] = close[row] - open[row];
    rollingMean(body, 0, number(args), out);
  },
};

export const ultimate: IndicatorDefinition = {
  id: 'ultosc',
  aliases: ['uo', 'ultimate_oscillator'],
  name: 'Ultimate Oscillator',
  category: 'momentum',
  talib: {
    name: 'ULTOSC',
    args: { timeperiod1: 'fast_length', timeperiod2: 'medium_length', timeperiod3: 'slow_length' },
    outputs: ['real'],
  },
  inputs: ['high', 'low', 'close'],
  args: [length(7, 1, 'fast_length'), length(14, 1, 'medium_length'), length(28, 1, 'slow_length')],
  outputs: [{ name: 'value', kind: 'bounded', min: 0, max: 100 }],
  formula:
    '100·(4a + 2b + c)/7, each Σ(close - true low)/Σ true range over its length, shortest first (TA-Lib ULTOSC; ' +
    'Williams 1985)',
  lookback: (args) => Math.max(...ultimateLengths(args)),
  compute([high, low, close], args, [out]) {
    const n = out.length;
    const lengths = ultimateLengths(args).sort((left, right) => left - right);
    const start = lengths[2];
    const pressure = new Float64Array(n);
    const range = new Float64Array(n);
    trueRange(high, low, close, range);
    for (let row = 1; row < n; row++) pressure[row] = close[row] - Math.min(low[row], close[row - 1]);
    const pressures = new Float64Array(n);
    const ranges = new Float64Array(n);
    out.fill(0, start);
    [4, 2, 1].forEach((weight, index) => {
      rollingSum(pressure, start - lengths[index] + 1, lengths[index], pressures);
      rollingSum(range, start - lengths[index] + 1, lengths[index], ranges);
      for (let row = start; row < n; row++) if (ranges[row] > 0) out[row] += weight * (pressures[row] / ranges[row]);
    });
    for (let row = start; row < n; row++) out[row] = 100 * (out[row] / 7);
  },
};

const ultimateLengths = (args: Parameters<IndicatorDefinition['lookback']>[0]): number[] =>
  ['fast_length', 'medium_length', 'slow_length'].map((name) => number(args, name));
