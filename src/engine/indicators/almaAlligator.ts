// Averages that TA-Lib does not have: the Gaussian ALMA and Williams' displaced Alligator.
import { length, number, real, scannedLength } from './arguments.ts';
import { SCANNED_ROWS } from '../kernels/rollingRanks.ts';
import type { Args, IndicatorDefinition } from './definition.ts';
import { wilder } from './exponential.ts';
import { wilderStable } from './stability.ts';

export const alma: IndicatorDefinition = {
  id: 'alma',
  aliases: ['arnaud_legoux_moving_average'],
  name: 'Arnaud Legoux Moving Average',
  category: 'overlap',
  inputs: ['source'],
  args: [
    scannedLength(9, 1),
    { ...real('offset', 0.85, 0, 1), description: 'Where the weights peak: 0 at the oldest bar, 1 at the latest.' },
    { ...real('sigma', 6, 0.001, 1000), description: 'How narrow the peak is.' },
  ],
  outputs: [{ name: 'value', kind: 'price' }],
  formula:
    'Σ w·x / Σ w, w[i] = exp(-(i - m)²/(2·s²)), m = offset·(length-1), s = length/sigma, i from the oldest bar ' +
    '(Legoux and Kouzis-Loukas 2009; charting sites; pandas-ta alma counts from the latest bar, so that its offset ' +
    'is 1 - ours)',
  lookback: (args) => number(args) - 1,
  compute([source], args, [out], poll) {
    const size = number(args);
    const weights = gaussian(size, number(args, 'offset'), number(args, 'sigma'));
    for (let row = size - 1; row < source.length; row++) {
      if (row % SCANNED_ROWS === 0) poll?.();
      const oldest = row - size + 1;
      let sum = 0;
      for (let i = 0; i < size; i++) sum += weights[i] * source[oldest + i];
      out[row] = sum;
    }
  },
};

/** Weights of ALMA, oldest bar first, summing to 1. */
function gaussian(size: number, offset: number, sigma: number): Float64Array {
  const peak = offset * (size - 1);
  const spread = size / sigma;
  const weights = Float64Array.from({ length: size }, (_, i) => Math.exp(-((i - peak) ** 2) / (2 * spread * spread)));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  // A peak so narrow that it falls between two bars and underflows at both: weigh the nearer bar alone.
  if (total === 0) weights[Math.round(peak)] = 1;
  return total === 0 ? weights : weights.map((weight) => weight / total);
}

const LINES = ['jaw', 'teeth', 'lips'] as const;
const alligatorLookback = (args: Args): number =>
  Math.max(...LINES.map((line) => number(args, `${line}_length`) - 1 + number(args, `${line}_offset`)));

export const alligator: IndicatorDefinition = {
  id: 'alligator',
  aliases: ['williams_alligator'],
  name: 'Williams Alligator',
  category: 'trend',
  inputs: ['high', 'low'],
  args: [
    length(13, 1, 'jaw_length'),
    length(8, 0, 'jaw_offset'),
    length(8, 1, 'teeth_length'),
    length(5, 0, 'teeth_offset'),
    length(5, 1, 'lips_length'),
    length(3, 0, 'lips_offset'),
  ],
  outputs: LINES.map((name) => ({ name, kind: 'price' })),
  formula:
    'each line is rma((high+low)/2, length) of offset bars ago, where a chart draws it (Williams, Trading Chaos, 1995)',
  lookback: alligatorLookback,
  stableLookback: (args) =>
    Math.max(...LINES.map((line) => wilderStable(number(args, `${line}_length`)) + number(args, `${line}_offset`))),
  compute([high, low], args, outputs) {
    const n = high.length;
    const first = alligatorLookback(args);
    const middle = new Float64Array(n);
    const average = new Float64Array(n);
    for (let row = 0; row < n; row++) middle[row] = (high[row] + low[row]) / 2;
    LINES.forEach((line, index) => {
      const offset = number(args, `${line}_offset`);
      wilder(middle, 0, number(args, `${line}_length`), average);
      for (let row = first; row < n; row++) outputs[index][row] = average[row - offset];
    });
  },
};
