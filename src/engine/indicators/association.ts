// Association of two series over a window: beta of their returns and Pearson's correlation of their values.
import { number, scannedLength } from './arguments.ts';
import type { IndicatorDefinition } from './definition.ts';
import { SCANNED_ROWS } from '../kernels/rollingRanks.ts';
import { EPSILON, isZero } from './talibZero.ts';

export const correl: IndicatorDefinition = {
  id: 'correl',
  aliases: ['correlation'],
  name: "Pearson's Correlation Coefficient",
  category: 'statistic',
  talib: { name: 'CORREL', args: { timeperiod: 'length' }, outputs: ['real'] },
  inputs: ['source', 'source2'],
  args: [scannedLength(30, 1)],
  outputs: [{ name: 'value', kind: 'bounded', min: -1, max: 1 }],
  formula: 'Σ(x-x̄)(y-ȳ)/√(Σ(x-x̄)²·Σ(y-ȳ)²); 0 where one of them does not vary (TA-Lib CORREL)',
  lookback: (args) => number(args) - 1,
  compute([x, y], args, [out], poll) {
    const read: Reading = (xx, yy, xy, scaleX, scaleY) =>
      xx > EPSILON * scaleX && yy > EPSILON * scaleY ? Math.min(1, Math.max(-1, xy / Math.sqrt(xx * yy))) : 0;
    moments(x, y, 0, number(args), out, read, poll);
  },
};

export const beta: IndicatorDefinition = {
  id: 'beta',
  aliases: [],
  name: 'Beta',
  category: 'statistic',
  talib: { name: 'BETA', args: { timeperiod: 'length' }, outputs: ['real'] },
  inputs: ['source', 'source2'],
  args: [scannedLength(5, 1)],
  outputs: [{ name: 'value', kind: 'free' }],
  formula: 'the slope of the returns of source2 on those of source; 0 where the latter do not vary (TA-Lib BETA)',
  lookback: (args) => number(args),
  compute([x, y], args, [out], poll) {
    const read: Reading = (xx, _yy, xy, scaleX) => (xx > EPSILON * scaleX ? xy / xx : 0);
    moments(returns(x), returns(y), 1, number(args), out, read, poll);
  },
};

function returns(source: Float64Array): Float64Array {
  const change = new Float64Array(source.length);
  for (let row = 1; row < source.length; row++) {
    const before = source[row - 1];
    change[row] = isZero(before) ? 0 : (source[row] - before) / before;
  }
  return change;
}

/** Reads central sums of squares and products, and the sums of squares about the shift that they were taken from. */
type Reading = (xx: number, yy: number, xy: number, scaleX: number, scaleY: number) => number;

/**
 * Rows first+length-1 … n-1. Deviations are measured from a value near the window and taken again where their sums have
 * lost digits: a spread below 1e-6 of them, an outlier that has just left, or 256 rows (absolute).
 */
function moments(
  x: Float64Array,
  y: Float64Array,
  first: number,
  length: number,
  out: Float64Array,
  read: Reading,
  poll?: () => void,
): void {
  const n = out.length;
  const interval = Math.max(256, 8 * length);
  const inverse = 1 / length;
  const sums = new Float64Array(7);
  let leftX = 0;
  let leftY = 0;
  for (let row = first + length - 1; row < n; row++) {
    if (row % SCANNED_ROWS === 0) poll?.();
    const oldest = row - length + 1;
    let isStale = row === first + length - 1 || row % interval === 0;
    if (!isStale) {
      add(sums, x[row], y[row], 1);
      const xx = sums[2] - sums[0] * sums[0] * inverse;
      const yy = sums[3] - sums[1] * sums[1] * inverse;
      isStale = xx < 1e-6 * sums[2] || yy < 1e-6 * sums[3] || leftX > 1e3 * sums[2] || leftY > 1e3 * sums[3];
    }
    if (isStale) {
      sums.fill(0);
      for (let i = oldest; i <= row; i++) {
        sums[5] += x[i] * inverse;
        sums[6] += y[i] * inverse;
      }
      for (let i = oldest; i <= row; i++) add(sums, x[i], y[i], 1);
    }
    const xx = Math.max(0, sums[2] - sums[0] * sums[0] * inverse);
    const yy = Math.max(0, sums[3] - sums[1] * sums[1] * inverse);
    const xy = sums[4] - sums[0] * sums[1] * inverse;
    out[row] = read(xx, yy, xy, sums[2], sums[3]);
    leftX = (x[oldest] - sums[5]) ** 2;
    leftY = (y[oldest] - sums[6]) ** 2;
    add(sums, x[oldest], y[oldest], -1);
  }
}

/** sums: Σx, Σy, Σx², Σy², Σxy of deviations, then the two shifts. */
function add(sums: Float64Array, xValue: number, yValue: number, sign: number): void {
  const x = xValue - sums[5];
  const y = yValue - sums[6];
  sums[0] += sign * x;
  sums[1] += sign * y;
  sums[2] += sign * (x * x);
  sums[3] += sign * (y * y);
  sums[4] += sign * (x * y);
}
