// Prices of a bar and of a window: averages of open, high, low and close, midpoints, and Heikin-Ashi candles.
import { length, number } from './arguments.ts';
import type { IndicatorDefinition, InputName } from './definition.ts';
import { rollingMax, rollingMin } from '../kernels/rollingExtremes.ts';

/** One number of one bar. */
function barPrice(
  id: string,
  aliases: readonly string[],
  name: string,
  formula: string,
  inputs: readonly InputName[],
  compute: IndicatorDefinition['compute'],
): IndicatorDefinition {
  return {
    id,
    aliases,
    name,
    category: 'price',
    talib: { name: id.toUpperCase(), args: {}, outputs: ['real'] },
    inputs,
    args: [],
    outputs: [{ name: 'value', kind: 'price' }],
    formula: `${formula} (TA-Lib ${id.toUpperCase()})`,
    lookback: () => 0,
    compute,
  };
}

export const avgPrice = barPrice(
  'avgprice', ['ohlc4', 'average_price'], 'Average Price', '(open + high + low + close)/4',
  ['open', 'high', 'low', 'close'],
  ([open, high, low, close], _args, [out]) => {
    for (let row = 0; row < out.length; row++) out[row] = (high[row] + low[row] + close[row] + open[row]) / 4;
  },
); // prettier-ignore

export const medPrice = barPrice(
  'medprice', ['hl2', 'median_price'], 'Median Price', '(high + low)/2', ['high', 'low'],
  ([high, low], _args, [out]) => {
    for (let row = 0; row < out.length; row++) out[row] = (high[row] + low[row]) / 2;
  },
); // prettier-ignore

export const typPrice = barPrice(
  'typprice', ['hlc3', 'typical_price'], 'Typical Price', '(high + low + close)/3', ['high', 'low', 'close'],
  ([high, low, close], _args, [out]) => typicalPrice(high, low, close, out),
); // prettier-ignore

export const wclPrice = barPrice(
  'wclprice', ['hlcc4', 'weighted_close'], 'Weighted Close Price', '(high + low + 2·close)/4', ['high', 'low', 'close'],
  ([high, low, close], _args, [out]) => {
    for (let row = 0; row < out.length; row++) out[row] = (high[row] + low[row] + close[row] * 2) / 4;
  },
); // prettier-ignore

export const midPoint: IndicatorDefinition = {
  id: 'midpoint',
  aliases: [],
  name: 'Midpoint',
  category: 'overlap',
  talib: { name: 'MIDPOINT', args: { timeperiod: 'length' }, outputs: ['real'] },
  inputs: ['source'],
  args: [length(14)],
  outputs: [{ name: 'value', kind: 'price' }],
  formula: '(highest x + lowest x)/2 (TA-Lib MIDPOINT)',
  lookback: (args) => number(args) - 1,
  compute: ([source], args, [out]) => middle(source, source, number(args), out),
};

export const midPrice: IndicatorDefinition = {
  id: 'midprice',
  aliases: [],
  name: 'Midprice',
  category: 'overlap',
  talib: { name: 'MIDPRICE', args: { timeperiod: 'length' }, outputs: ['real'] },
  inputs: ['high', 'low'],
  args: [length(14)],
  outputs: [{ name: 'value', kind: 'price' }],
  formula: '(highest high + lowest low)/2 (TA-Lib MIDPRICE)',
  lookback: (args) => number(args) - 1,
  compute: ([high, low], args, [out]) => middle(high, low, number(args), out),
};

export const heikinAshi: IndicatorDefinition = {
  id: 'heikin_ashi',
  aliases: ['ha', 'heikinashi'],
  name: 'Heikin-Ashi Candles',
  category: 'price',
  talib: { name: 'HA', args: {}, outputs: ['haopen', 'hahigh', 'halow', 'haclose'] },
  inputs: ['open', 'high', 'low', 'close'],
  args: [],
  outputs: [
    { name: 'open', kind: 'price' },
    { name: 'high', kind: 'price' },
    { name: 'low', kind: 'price' },
    { name: 'close', kind: 'price' },
  ],
  formula: 'close = (o+h+l+c)/4, open = (open[1] + close[1])/2 from (o+c)/2, high and low reach to both (TA-Lib HA)',
  lookback: () => 0,
  // The weight of the first open halves with each bar: 2^-30 is below 1e-9.
  stableLookback: () => 30,
  compute([open, high, low, close], _args, [outOpen, outHigh, outLow, outClose]) {
    let previous = (open[0] + close[0]) / 2;
    let end = previous;
    for (let row = 0; row < outOpen.length; row++) {
      const begin = (previous + end) / 2;
      end = (open[row] + high[row] + low[row] + close[row]) / 4;
      previous = begin;
      outOpen[row] = begin;
      outHigh[row] = Math.max(high[row], begin, end);
      outLow[row] = Math.min(low[row], begin, end);
      outClose[row] = end;
    }
  },
};

/** out[row] = (high + low + close)/3, on every row. */
export function typicalPrice(high: Float64Array, low: Float64Array, close: Float64Array, out: Float64Array): void {
  for (let row = 0; row < out.length; row++) out[row] = (high[row] + low[row] + close[row]) / 3;
}

function middle(high: Float64Array, low: Float64Array, length: number, out: Float64Array): void {
  const bottoms = new Float64Array(out.length);
  rollingMax(high, 0, length, out);
  rollingMin(low, 0, length, bottoms);
  for (let row = length - 1; row < out.length; row++) out[row] = (out[row] + bottoms[row]) / 2;
}
