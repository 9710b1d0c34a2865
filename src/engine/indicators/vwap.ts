// Volume-weighted average prices that start over: per session, from an anchor, or over a moving window. TA-Lib's VWAP
// never does.
import { length, number, real } from './arguments.ts';
import type { IndicatorDefinition } from './definition.ts';
import { rollingSum } from '../kernels/rollingSums.ts';
import { periodArg, periodOf, periodStarts } from './sessions.ts';

const INPUTS = ['time', 'high', 'low', 'close', 'volume'] as const;
const VALUE = [{ name: 'value', kind: 'price' }] as const;

export const vwapSession: IndicatorDefinition = {
  id: 'vwap_session',
  aliases: ['session_vwap'],
  name: 'Session VWAP',
  category: 'volume',
  inputs: INPUTS,
  args: [periodArg('anchor')],
  outputs: VALUE,
  formula:
    'Σ volume·(high+low+close)/3 / Σ volume since the period began; missing while its volume is 0 (pandas-ta vwap, ' +
    'anchors D, W, M, Y)',
  lookback: () => 0,
  compute([time, high, low, close, volume], args, [out]) {
    accumulate(periodStarts(time, periodOf(args, 'anchor')), high, low, close, volume, 0, out);
  },
};

export const vwapAnchored: IndicatorDefinition = {
  id: 'vwap_anchored',
  aliases: ['anchored_vwap', 'avwap'],
  name: 'Anchored VWAP',
  category: 'volume',
  inputs: INPUTS,
  args: [
    {
      name: 'anchor_time',
      type: 'int',
      default: 0,
      // The last instant a Date can hold.
      min: 0,
      max: 8.64e15,
      description:
        'ms UTC; the average begins with the first bar that opens at or after it, by default the first there is.',
    },
  ],
  outputs: VALUE,
  formula:
    'Σ volume·(high+low+close)/3 / Σ volume from the anchor on; missing before it and while the volume is 0 (the ' +
    'session VWAP of one session)',
  lookback: () => 0,
  compute([time, high, low, close, volume], args, [out]) {
    const anchor = number(args, 'anchor_time');
    let first = 0;
    while (first < time.length && time[first] < anchor) first++;
    out.fill(NaN, 0, first);
    accumulate(new Uint8Array(time.length), high, low, close, volume, first, out);
  },
};

/** Rows first … n-1: the volume-weighted mean typical price since the last row marked in `starts`, or since `first`. */
function accumulate(
  starts: Uint8Array,
  high: Float64Array,
  low: Float64Array,
  close: Float64Array,
  volume: Float64Array,
  first: number,
  out: Float64Array,
): void {
  let turnover = 0;
  let total = 0;
  for (let row = first; row < out.length; row++) {
    if (starts[row] === 1) {
      turnover = 0;
      total = 0;
    }
    turnover += ((high[row] + low[row] + close[row]) / 3) * volume[row];
    total += volume[row];
    out[row] = total > 0 ? turnover / total : NaN;
  }
}

export const vwapBands: IndicatorDefinition = {
  id: 'vwap_bands',
  aliases: ['vwap_deviation_bands'],
  name: 'Session VWAP with deviation bands',
  category: 'volume',
  inputs: INPUTS,
  args: [periodArg('anchor'), real('multiplier', 2, 0, 1000)],
  outputs: [
    { name: 'upper', kind: 'price' },
    { name: 'middle', kind: 'price' },
    { name: 'lower', kind: 'price' },
  ],
  formula:
    'middle = session vwap; upper, lower = middle ± multiplier·√(Σ volume·(typical - middle)² / Σ volume) since the ' +
    'period began (TradingView ta.vwap stdev bands)',
  lookback: () => 0,
  compute([time, high, low, close, volume], args, [upper, middle, lower]) {
    const starts = periodStarts(time, periodOf(args, 'anchor'));
    const width = number(args, 'multiplier');
    let total = 0;
    let mean = 0;
    let squares = 0;
    for (let row = 0; row < time.length; row++) {
      if (starts[row] === 1) total = mean = squares = 0;
      // West's weighted update: the textbook Σv·x²/Σv - mean² loses every digit where the bands are narrow.
      const weight = volume[row];
      total += weight;
      if (total > 0) {
        const distance = (high[row] + low[row] + close[row]) / 3 - mean;
        // The share is at most 1, so that `squares` never falls below 0.
        const step = distance * (weight / total);
        mean += step;
        squares += weight * distance * (distance - step);
      }
      const deviation = total > 0 ? width * Math.sqrt(squares / total) : NaN;
      middle[row] = total > 0 ? mean : NaN;
      upper[row] = mean + deviation;
      lower[row] = mean - deviation;
    }
  },
};

export const vwapRolling: IndicatorDefinition = {
  id: 'vwap_rolling',
  aliases: ['rolling_vwap', 'mvwap'],
  name: 'Rolling VWAP',
  category: 'volume',
  inputs: ['high', 'low', 'close', 'volume'],
  args: [length(14, 1)],
  outputs: VALUE,
  formula:
    'Σ volume·(high+low+close)/3 / Σ volume over the last length bars; missing where their volume is 0 (ta ' +
    'VolumeWeightedAveragePrice)',
  lookback: (args) => number(args) - 1,
  compute([high, low, close, volume], args, [out]) {
    const n = close.length;
    const size = number(args);
    const turnover = new Float64Array(n);
    const total = new Float64Array(n);
    for (let row = 0; row < n; row++) turnover[row] = ((high[row] + low[row] + close[row]) / 3) * volume[row];
    rollingSum(volume, 0, size, total);
    rollingSum(turnover, 0, size, out);
    for (let row = size - 1; row < n; row++) out[row] = total[row] > 0 ? out[row] / total[row] : NaN;
  },
};
