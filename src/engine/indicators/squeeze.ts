// Squeezes: Bollinger Bands inside a Keltner Channel, and the momentum that shows the direction of the release.
import { length, number, real } from './arguments.ts';
import type { Args, IndicatorDefinition } from './definition.ts';
import { rollingMax, rollingMin } from '../kernels/rollingExtremes.ts';
import { trueRange } from './range.ts';
import { rollingMean } from '../kernels/rollingSums.ts';
import { rollingVariance } from '../kernels/rollingVariance.ts';
import { weighted } from './weighted.ts';

const OUTPUTS = [
  { name: 'momentum', kind: 'free' },
  { name: 'on', kind: 'flag', min: 0, max: 1 },
  { name: 'off', kind: 'flag', min: 0, max: 1 },
] as const;
const BAND_ARGS = [
  length(20, 2, 'bb_length'),
  real('bb_multiplier', 2, 0, 1000),
  length(20, 2, 'kc_length'),
  real('kc_multiplier', 1.5, 0, 1000),
];
/** Known from the slower of the two bands on; a true range needs a previous bar. */
const bandLookback = (args: Args): number => Math.max(number(args, 'bb_length') - 1, number(args, 'kc_length'));

const momentumLookback = (args: Args): number => Math.max(bandLookback(args), 2 * (number(args, 'kc_length') - 1));

export const squeezeMomentum: IndicatorDefinition = {
  id: 'squeeze_momentum',
  aliases: ['squeeze_lazybear', 'sqzmom'],
  name: 'Squeeze Momentum',
  category: 'momentum',
  inputs: ['high', 'low', 'close'],
  args: BAND_ARGS,
  outputs: OUTPUTS,
  formula:
    'momentum = linreg(close - ((highest + lowest)/2 + sma)/2, kc_length); on: bands sma ± bb_multiplier·sd inside ' +
    'sma ± kc_multiplier·sma(true range), off: outside (LazyBear; pandas-ta squeeze lazybear)',
  lookback: momentumLookback,
  compute([high, low, close], args, [momentum, on, off]) {
    const n = close.length;
    const size = number(args, 'kc_length');
    const first = momentumLookback(args);
    if (first >= n) return;
    const basis = new Float64Array(n);
    const scratch = new Float64Array(n);
    compression(high, low, close, args, first, on, off);
    rollingMean(close, 0, size, basis);
    rollingMax(high, 0, size, momentum);
    rollingMin(low, 0, size, scratch);
    for (let row = size - 1; row < n; row++) {
      basis[row] = close[row] - (0.25 * (momentum[row] + scratch[row]) + 0.5 * basis[row]);
    }
    // The end point of a regression line is 3·wma - 2·sma.
    weighted(basis, size - 1, size, scratch);
    rollingMean(basis, size - 1, size, momentum);
    for (let row = first; row < n; row++) momentum[row] = 3 * scratch[row] - 2 * momentum[row];
    momentum.fill(NaN, 0, first);
  },
};

const ttmLookback = (args: Args): number =>
  Math.max(bandLookback(args), number(args, 'momentum_length') + number(args, 'smooth_length') - 1);

export const ttmSqueeze: IndicatorDefinition = {
  id: 'ttm_squeeze',
  aliases: ['squeeze'],
  name: 'TTM Squeeze',
  category: 'momentum',
  inputs: ['high', 'low', 'close'],
  args: [...BAND_ARGS, length(12, 1, 'momentum_length'), length(6, 1, 'smooth_length')],
  outputs: OUTPUTS,
  formula:
    'momentum = sma(close - close[momentum_length], smooth_length); on and off as in squeeze_momentum (Carter, ' +
    'Mastering the Trade, 2005; pandas-ta squeeze)',
  lookback: ttmLookback,
  compute([high, low, close], args, [momentum, on, off]) {
    const n = close.length;
    const first = ttmLookback(args);
    if (first >= n) return;
    const back = number(args, 'momentum_length');
    const change = new Float64Array(n);
    compression(high, low, close, args, first, on, off);
    for (let row = back; row < n; row++) change[row] = close[row] - close[row - back];
    rollingMean(change, back, number(args, 'smooth_length'), momentum);
    momentum.fill(NaN, 0, first);
  },
};

/**
 * on: the Bollinger Bands lie inside the Keltner Channel; off: outside it; neither where they cross. Rows first … n-1.
 */
function compression(
  high: Float64Array,
  low: Float64Array,
  close: Float64Array,
  args: Args,
  first: number,
  on: Float64Array,
  off: Float64Array,
): void {
  const n = close.length;
  const bbLength = number(args, 'bb_length');
  const kcLength = number(args, 'kc_length');
  const bbWidth = number(args, 'bb_multiplier');
  const kcWidth = number(args, 'kc_multiplier');
  const bbMiddle = new Float64Array(n);
  const kcMiddle = new Float64Array(n);
  const variance = new Float64Array(n);
  const range = new Float64Array(n);
  const averageRange = new Float64Array(n);
  rollingMean(close, 0, bbLength, bbMiddle);
  rollingVariance(close, 0, bbLength, variance);
  rollingMean(close, 0, kcLength, kcMiddle);
  trueRange(high, low, close, range);
  rollingMean(range, 1, kcLength, averageRange);
  for (let row = first; row < n; row++) {
    const bbHalf = bbWidth * Math.sqrt(variance[row]);
    const kcHalf = kcWidth * averageRange[row];
    const lowerGap = bbMiddle[row] - bbHalf - (kcMiddle[row] - kcHalf);
    const upperGap = kcMiddle[row] + kcHalf - (bbMiddle[row] + bbHalf);
    on[row] = lowerGap > 0 && upperGap > 0 ? 1 : 0;
    off[row] = lowerGap < 0 && upperGap < 0 ? 1 : 0;
  }
}
