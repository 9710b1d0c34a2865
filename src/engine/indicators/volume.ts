// Volume: running totals (OBV, AD, PVT, NVI, PVI, VWAP, WAD), and volume against price or its own past.
import { length, number } from './arguments.ts';
import type { IndicatorDefinition, InputName, OutputDefinition } from './definition.ts';
import { exponential } from './exponential.ts';
import { emaStable } from './stability.ts';
import { rollingMean, rollingSum } from '../kernels/rollingSums.ts';

const FREE: readonly OutputDefinition[] = [{ name: 'value', kind: 'free' }];

/** A total over all bars so far: its value depends on where the data begin, its changes do not. */
function runningTotal(
  id: string,
  talib: string,
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
    category: 'volume',
    talib: { name: talib, args: {}, outputs: ['real'] },
    inputs,
    args: [],
    outputs: [{ name: 'value', kind: 'volume' }],
    formula: `${formula} (TA-Lib ${talib})`,
    lookback: () => 0,
    compute,
  };
}

export const obv = runningTotal(
  'obv', 'OBV', ['on_balance_volume'], 'On Balance Volume',
  'volume of the first bar, then plus volume when x rose, minus when it fell; Granville 1963', ['source', 'volume'],
  ([source, volume], _args, [out]) => {
    let total = volume[0];
    let before = source[0];
    for (let row = 0; row < out.length; row++) {
      const value = source[row];
      if (value > before) total += volume[row];
      else if (value < before) total -= volume[row];
      before = value;
      out[row] = total;
    }
  },
); // prettier-ignore

export const ad = runningTotal(
  'ad', 'AD', ['accumulation_distribution', 'adl'], 'Chaikin A/D Line',
  'Σ volume·((close - low) - (high - close))/(high - low), bars without range left out',
    ['high', 'low', 'close', 'volume'],
  ([high, low, close, volume], _args, [out]) => accumulate(high, low, close, volume, out),
); // prettier-ignore

export const pvt = runningTotal(
  'pvt', 'PVT', ['price_volume_trend'], 'Price Volume Trend', 'Σ volume·(close - close[1])/close[1]',
    ['source', 'volume'],
  ([source, volume], _args, [out]) => {
    let total = 0;
    let before = source[0];
    for (let row = 0; row < out.length; row++) {
      if (before !== 0) total += ((source[row] - before) / before) * volume[row];
      before = source[row];
      out[row] = total;
    }
  },
); // prettier-ignore

export const nvi = runningTotal(
  'nvi', 'NVI', ['negative_volume_index'], 'Negative Volume Index',
  '1000 times the price changes of bars whose volume fell; Dysart', ['source', 'volume'],
  ([source, volume], _args, [out]) => volumeIndex(source, volume, -1, out),
); // prettier-ignore

export const pvi = runningTotal(
  'pvi', 'PVI', ['positive_volume_index'], 'Positive Volume Index',
  '1000 times the price changes of bars whose volume rose; Dysart', ['source', 'volume'],
  ([source, volume], _args, [out]) => volumeIndex(source, volume, 1, out),
); // prettier-ignore

export const vwap: IndicatorDefinition = {
  ...runningTotal(
    'vwap', 'VWAP', ['vwap_cumulative'], 'Volume Weighted Average Price, cumulative',
    'Σ typical price·volume / Σ volume from the first bar, never reset; 0 before any volume',
    ['high', 'low', 'close', 'volume'],
    ([high, low, close, volume], _args, [out]) => {
      let turnover = 0;
      let total = 0;
      let value = 0;
      for (let row = 0; row < out.length; row++) {
        turnover += ((high[row] + low[row] + close[row]) / 3) * volume[row];
        total += volume[row];
        if (total > 0) value = turnover / total;
        out[row] = value;
      }
    },
  ),
  category: 'overlap',
  outputs: [{ name: 'value', kind: 'price' }],
}; // prettier-ignore

export const wad: IndicatorDefinition = {
  ...runningTotal(
    'wad', 'WAD', ['williams_ad'], 'Williams Accumulation/Distribution',
    'Σ close - true low on rises, close - true high on falls: no volume in it; Achelis', ['high', 'low', 'close'],
    ([high, low, close], _args, [out]) => {
      let total = 0;
      let before = close[0];
      for (let row = 0; row < out.length; row++) {
        const value = close[row];
        if (value > before) total += value - Math.min(low[row], before);
        else if (value < before) total += value - Math.max(high[row], before);
        before = value;
        out[row] = total;
      }
    },
  ),
  category: 'momentum',
  outputs: FREE,
}; // prettier-ignore

export const adosc: IndicatorDefinition = {
  id: 'adosc',
  aliases: ['chaikin_oscillator'],
  name: 'Chaikin A/D Oscillator',
  category: 'volume',
  talib: { name: 'ADOSC', args: { fastperiod: 'fast_length', slowperiod: 'slow_length' }, outputs: ['real'] },
  inputs: ['high', 'low', 'close', 'volume'],
  args: [length(3, 2, 'fast_length'), length(10, 2, 'slow_length')],
  outputs: FREE,
  formula: 'ema(ad, fast) - ema(ad, slow), both from the first value of ad (TA-Lib ADOSC; Chaikin)',
  lookback: (args) => Math.max(number(args, 'fast_length'), number(args, 'slow_length')) - 1,
  stableLookback: (args) => emaStable(Math.max(number(args, 'fast_length'), number(args, 'slow_length'))),
  compute([high, low, close, volume], args, [out]) {
    const start = Math.max(number(args, 'fast_length'), number(args, 'slow_length')) - 1;
    const line = new Float64Array(out.length);
    accumulate(high, low, close, volume, line);
    const fastWeight = 2 / (number(args, 'fast_length') + 1);
    const slowWeight = 2 / (number(args, 'slow_length') + 1);
    let fast = line[0];
    let slow = line[0];
    for (let row = 0; row < out.length; row++) {
      fast = fastWeight * line[row] + (1 - fastWeight) * fast;
      slow = slowWeight * line[row] + (1 - slowWeight) * slow;
      if (row >= start) out[row] = fast - slow;
    }
  },
};

export const cmf: IndicatorDefinition = {
  id: 'cmf',
  aliases: ['chaikin_money_flow'],
  name: 'Chaikin Money Flow',
  category: 'volume',
  talib: { name: 'CMF', args: { timeperiod: 'length' }, outputs: ['real'] },
  inputs: ['high', 'low', 'close', 'volume'],
  args: [length(20)],
  outputs: [{ name: 'value', kind: 'bounded', min: -1, max: 1 }],
  formula: 'Σ volume·((close - low) - (high - close))/(high - low) / Σ volume; 0 without volume (TA-Lib CMF; Chaikin)',
  lookback: (args) => number(args) - 1,
  compute([high, low, close, volume], args, [out]) {
    const n = out.length;
    const flow = new Float64Array(n);
    const volumes = new Float64Array(n);
    for (let row = 0; row < n; row++) flow[row] = moneyFlow(high[row], low[row], close[row], volume[row]);
    rollingSum(flow, 0, number(args), out);
    rollingSum(volume, 0, number(args), volumes);
    for (let row = number(args) - 1; row < n; row++) out[row] = volumes[row] > 0 ? out[row] / volumes[row] : 0;
  },
};

export const forceIndex: IndicatorDefinition = {
  id: 'force_index',
  aliases: ['efi', 'elder_force_index'],
  name: "Elder's Force Index",
  category: 'volume',
  talib: { name: 'EFI', args: { timeperiod: 'length' }, outputs: ['real'] },
  inputs: ['source', 'volume'],
  args: [length(13, 1)],
  outputs: FREE,
  formula: 'ema((x - x[1])·volume) (TA-Lib EFI; Elder 1993)',
  lookback: (args) => number(args),
  stableLookback: (args) => 1 + emaStable(number(args)),
  compute([source, volume], args, [out]) {
    const force = new Float64Array(out.length);
    for (let row = 1; row < out.length; row++) force[row] = (source[row] - source[row - 1]) * volume[row];
    exponential(force, 1, number(args), out);
  },
};

export const marketFacilitation: IndicatorDefinition = {
  id: 'marketfi',
  aliases: ['bw_mfi', 'market_facilitation_index'],
  name: 'Market Facilitation Index',
  category: 'volume',
  talib: { name: 'MARKETFI', args: {}, outputs: ['real'] },
  inputs: ['high', 'low', 'volume'],
  args: [],
  outputs: FREE,
  formula: '(high - low)/volume; 0 without volume (TA-Lib MARKETFI; Williams)',
  lookback: () => 0,
  compute([high, low, volume], _args, [out]) {
    for (let row = 0; row < out.length; row++) out[row] = volume[row] === 0 ? 0 : (high[row] - low[row]) / volume[row];
  },
};

export const relativeVolume: IndicatorDefinition = {
  id: 'rvol',
  aliases: ['relative_volume'],
  name: 'Relative Volume',
  category: 'volume',
  talib: { name: 'RVOL', args: { timeperiod: 'length' }, outputs: ['real'] },
  inputs: ['volume'],
  args: [length(20, 1)],
  outputs: FREE,
  formula: 'volume / mean of the length volumes before it; missing where that is 0 (TA-Lib RVOL)',
  lookback: (args) => number(args),
  compute([volume], args, [out]) {
    const means = new Float64Array(out.length);
    rollingMean(volume, 0, number(args), means);
    for (let row = number(args); row < out.length; row++) {
      const mean = means[row - 1];
      out[row] = mean === 0 ? NaN : volume[row] / mean;
    }
  },
};

/** Chaikin's money flow volume of one bar. */
function moneyFlow(high: number, low: number, close: number, volume: number): number {
  const range = high - low;
  return range > 0 ? ((close - low - (high - close)) / range) * volume : 0;
}

function accumulate(
  high: Float64Array,
  low: Float64Array,
  close: Float64Array,
  volume: Float64Array,
  out: Float64Array,
): void {
  let total = 0;
  for (let row = 0; row < out.length; row++) {
    total += moneyFlow(high[row], low[row], close[row], volume[row]);
    out[row] = total;
  }
}

/** Moves with price where volume changed in that direction; a product, so an overflow keeps the last number. */
function volumeIndex(source: Float64Array, volume: Float64Array, direction: 1 | -1, out: Float64Array): void {
  let index = 1000;
  out[0] = index;
  for (let row = 1; row < out.length; row++) {
    const before = source[row - 1];
    if (direction * (volume[row] - volume[row - 1]) > 0 && before !== 0) {
      const next = index + ((source[row] - before) / before) * index;
      if (Number.isFinite(next)) index = next;
    }
    out[row] = index;
  }
}
