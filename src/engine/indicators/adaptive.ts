// Adaptive averages: KAMA follows the efficiency of the move, MAMA the phase of the cycle.
import { length, number, real } from './arguments.ts';
import type { IndicatorDefinition } from './definition.ts';
import { DEGREES, hilbertTransform } from './hilbert.ts';
import { rollingSum } from '../kernels/rollingSums.ts';

export const kama: IndicatorDefinition = {
  id: 'kama',
  aliases: ['kaufman_adaptive_moving_average'],
  name: 'Kaufman Adaptive Moving Average',
  category: 'overlap',
  talib: { name: 'KAMA', args: { timeperiod: 'length' }, outputs: ['real'], defaults: { length: 30 } },
  inputs: ['source'],
  args: [length(10, 1), length(2, 1, 'fast_length'), length(30, 1, 'slow_length')],
  outputs: [{ name: 'value', kind: 'price' }],
  formula:
    'kama += (er·(2/(fast+1) - 2/(slow+1)) + 2/(slow+1))²·(x - kama), er = |x - x[n]| / Σ|Δx| (TA-Lib KAMA; Kaufman ' +
    '1995)',
  lookback: (args) => (number(args) === 1 ? 0 : number(args)),
  compute: ([source], args, [out]) =>
    kaufman(source, 0, number(args), number(args, 'fast_length'), number(args, 'slow_length'), out),
};

export const mama: IndicatorDefinition = {
  id: 'mama',
  aliases: ['mesa_adaptive_moving_average'],
  name: 'MESA Adaptive Moving Average',
  category: 'overlap',
  talib: { name: 'MAMA', args: { fastlimit: 'fast_limit', slowlimit: 'slow_limit' }, outputs: ['mama', 'fama'] },
  inputs: ['source'],
  args: [real('fast_limit', 0.5, 0.01, 0.99), real('slow_limit', 0.05, 0.01, 0.99)],
  outputs: [
    { name: 'mama', kind: 'price' },
    { name: 'fama', kind: 'price' },
  ],
  formula:
    'an average whose weight is fast_limit / Δphase, at least slow_limit; fama follows with half of it (TA-Lib ' +
    'MAMA; Ehlers 2001)',
  lookback: () => 32,
  compute: ([source], args, [line, following]) =>
    mesa(source, 0, number(args, 'fast_limit'), number(args, 'slow_limit'), line, following),
};

/** KAMA of source[first … n-1], rows first+length … n-1; of length 1, the source itself. The formula is in `kama`. */
export function kaufman(
  source: Float64Array,
  first: number,
  length: number,
  fastLength: number,
  slowLength: number,
  out: Float64Array,
): void {
  const n = source.length;
  if (length === 1) {
    out.set(source.subarray(first), first);
    return;
  }
  const slow = 2 / (slowLength + 1);
  const range = 2 / (fastLength + 1) - slow;
  const steps = new Float64Array(n);
  for (let row = first + 1; row < n; row++) steps[row] = Math.abs(source[row] - source[row - 1]);
  // Exact sums: an empty path is exactly 0, without a rounding residue of the steps that left the window.
  rollingSum(steps, first + 1, length, out);
  const start = first + length;
  let average = source[start - 1];
  for (let row = start; row < n; row++) {
    const move = source[row] - source[row - length];
    const weight = (out[row] <= move ? 1 : Math.abs(move / out[row])) * range + slow;
    average += (source[row] - average) * weight * weight;
    out[row] = average;
  }
}

/** `following` (FAMA) may be absent: MAMA chosen as a moving average has one line. */
export function mesa(
  source: Float64Array,
  first: number,
  fastLimit: number,
  slowLimit: number,
  line: Float64Array,
  following: Float64Array | undefined,
): void {
  const n = source.length;
  const { start, inPhase, quadrature } = hilbertTransform(source, first, 9);
  let previousPhase = 0;
  let mama = 0;
  let fama = 0;
  for (let row = start; row < n; row++) {
    const phase = inPhase[row] === 0 ? 0 : Math.atan(quadrature[row] / inPhase[row]) * DEGREES;
    const change = previousPhase - phase;
    previousPhase = phase;
    const weight = change > 1 ? Math.max(fastLimit / change, slowLimit) : fastLimit;
    mama = weight * source[row] + (1 - weight) * mama;
    fama = 0.5 * weight * mama + (1 - 0.5 * weight) * fama;
    if (row < first + 32) continue;
    line[row] = mama;
    if (following !== undefined) following[row] = fama;
  }
}
