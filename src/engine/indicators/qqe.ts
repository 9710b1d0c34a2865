// QQE: a smoothed RSI and the trailing bands that follow it.
import { length, number, real } from './arguments.ts';
import type { Args, IndicatorDefinition } from './definition.ts';
import { exponential } from './exponential.ts';
import { emaStable, wilderStable } from './stability.ts';
import { relativeStrength } from './strength.ts';

/** Wilder's smoothing of `length` is an EMA of 2·length - 1. */
const slowLength = (args: Args): number => 2 * number(args) - 1;
const qqeLookback = (args: Args): number => number(args) + number(args, 'smooth_length') + 2 * (slowLength(args) - 1);

export const qqe: IndicatorDefinition = {
  id: 'qqe',
  aliases: ['quantitative_qualitative_estimation'],
  name: 'Quantitative Qualitative Estimation',
  category: 'momentum',
  inputs: ['source'],
  args: [length(14, 2), length(5, 1, 'smooth_length'), real('factor', 4.236, 0, 1000)],
  outputs: [
    { name: 'line', kind: 'free' },
    { name: 'rsi_ma', kind: 'bounded', min: 0, max: 100 },
    { name: 'long', kind: 'free' },
    { name: 'short', kind: 'free' },
    { name: 'trend', kind: 'flag', min: -1, max: 1 },
  ],
  formula:
    'rsi_ma = ema(rsi, smooth); bands rsi_ma ± factor·ema(ema(|Δ rsi_ma|, 2·length-1), 2·length-1), ratcheted while ' +
    'rsi_ma stays beyond them; trend turns 1 where rsi_ma crosses the short band, else -1 where it crosses the long ' +
    'one; line is the band of the trend (pandas-ta qqe)',
  lookback: qqeLookback,
  stableLookback: (args) =>
    wilderStable(number(args)) + emaStable(number(args, 'smooth_length')) + 2 * emaStable(slowLength(args)),
  compute([source], args, [line, rsiAverage, long, short, trend]) {
    const n = source.length;
    const first = qqeLookback(args);
    if (first >= n) return;
    const start = number(args) + number(args, 'smooth_length') - 1;
    const slow = slowLength(args);
    const scratch = new Float64Array(n);
    const width = new Float64Array(n);
    relativeStrength(source, number(args), scratch);
    exponential(scratch, number(args), number(args, 'smooth_length'), rsiAverage);
    for (let row = start + 1; row < n; row++) scratch[row] = Math.abs(rsiAverage[row] - rsiAverage[row - 1]);
    exponential(scratch, start + 1, slow, width);
    exponential(width, start + slow, slow, scratch);
    trail(rsiAverage, scratch, number(args, 'factor'), first, line, long, short, trend);
    rsiAverage.fill(NaN, 0, first);
  },
};

/** The ratcheted bands and the trend they decide, rows first … n-1; the trend begins at 1. */
function trail(
  average: Float64Array,
  width: Float64Array,
  factor: number,
  first: number,
  line: Float64Array,
  long: Float64Array,
  short: Float64Array,
  trend: Float64Array,
): void {
  // Comparisons with NaN are false: the first rows neither ratchet nor cross.
  let longBand = NaN;
  let shortBand = NaN;
  let longBefore = NaN;
  let shortBefore = NaN;
  let side = 1;
  for (let row = first; row < average.length; row++) {
    const value = average[row];
    const previous = average[row - 1];
    const half = factor * width[row];
    const crosses = (band: number, bandBefore: number): boolean =>
      (value > band && previous < bandBefore) || (value <= band && previous >= bandBefore);
    if (crosses(shortBand, shortBefore)) side = 1;
    else if (crosses(longBand, longBefore)) side = -1;
    const isAbove = previous > longBand && value > longBand;
    const isBelow = previous < shortBand && value < shortBand;
    longBefore = longBand;
    shortBefore = shortBand;
    longBand = isAbove ? Math.max(longBand, value - half) : value - half;
    shortBand = isBelow ? Math.min(shortBand, value + half) : value + half;
    long[row] = longBand;
    short[row] = shortBand;
    trend[row] = side;
    line[row] = side > 0 ? longBand : shortBand;
  }
}
