// Linear regression over a window: its value, slope, angle, intercept, forecast, and how far the forecast missed.
import { length, number } from './arguments.ts';
import type { IndicatorDefinition, OutputDefinition } from './definition.ts';

const PRICE: readonly OutputDefinition[] = [{ name: 'value', kind: 'price' }];
const FREE: readonly OutputDefinition[] = [{ name: 'value', kind: 'free' }];

/**
 * One property of the line through the window: a function of its intercept (at the oldest bar), slope per bar, and
 * length.
 */
function line(
  id: string,
  talib: string,
  name: string,
  formula: string,
  outputs: readonly OutputDefinition[],
  read: (intercept: number, slope: number, length: number) => number,
): IndicatorDefinition {
  return {
    id,
    aliases: [],
    name,
    category: 'statistic',
    talib: { name: talib, args: { timeperiod: 'length' }, outputs: ['real'] },
    inputs: ['source'],
    args: [length(14)],
    outputs,
    formula: `${formula} (TA-Lib ${talib})`,
    lookback: (args) => number(args) - 1,
    compute([source], args, [out]) {
      const span = number(args);
      const slopes = new Float64Array(out.length);
      regress(source, span, out, slopes);
      for (let row = span - 1; row < out.length; row++) out[row] = read(out[row], slopes[row], span);
    },
  };
}

export const linearReg = line(
  'linearreg', 'LINEARREG', 'Linear Regression', 'the least-squares line at the newest bar', PRICE,
  (intercept, slope, span) => intercept + slope * (span - 1),
); // prettier-ignore
export const linearRegSlope = line(
  'linearreg_slope', 'LINEARREG_SLOPE', 'Linear Regression Slope', 'the slope per bar of the least-squares line', FREE,
  (_intercept, slope) => slope,
); // prettier-ignore
export const linearRegAngle = line(
  'linearreg_angle', 'LINEARREG_ANGLE', 'Linear Regression Angle', 'atan(slope) in degrees', FREE,
  (_intercept, slope) => Math.atan(slope) * (180 / Math.PI),
); // prettier-ignore
export const linearRegIntercept = line(
  'linearreg_intercept', 'LINEARREG_INTERCEPT', 'Linear Regression Intercept',
  'the least-squares line at the oldest bar', PRICE,
  (intercept) => intercept,
); // prettier-ignore
export const tsf = line(
  'tsf', 'TSF', 'Time Series Forecast', 'the least-squares line one bar ahead', PRICE,
  (intercept, slope, span) => intercept + slope * span,
); // prettier-ignore

export const fosc: IndicatorDefinition = {
  id: 'fosc',
  aliases: ['forecast_oscillator'],
  name: 'Forecast Oscillator',
  category: 'momentum',
  talib: { name: 'FOSC', args: { timeperiod: 'length' }, outputs: ['real'] },
  inputs: ['source'],
  args: [length(5)],
  outputs: FREE,
  formula: '100·(x - tsf[1])/x; 0 where x is 0 (TA-Lib FOSC; Chande)',
  lookback: (args) => number(args),
  compute([source], args, [out]) {
    const span = number(args);
    const intercepts = new Float64Array(out.length);
    const slopes = new Float64Array(out.length);
    regress(source, span, intercepts, slopes);
    for (let row = span; row < out.length; row++) {
      const value = source[row];
      out[row] = value === 0 ? 0 : (100 * (value - (intercepts[row - 1] + slopes[row - 1] * span))) / value;
    }
  },
};

/**
 * Intercept and slope of the line over each window, rows length-1 … n-1. Both sums are of deviations from a value near
 * the window (the line moves with it exactly), moved by one subtraction and recomputed at absolute rows and after an
 * outlier.
 */
function regress(source: Float64Array, length: number, intercepts: Float64Array, slopes: Float64Array): void {
  const n = source.length;
  const interval = Math.max(256, 8 * length);
  const middle = (length - 1) / 2;
  const inverseSpread = 12 / (length * (length * length - 1));
  let shift = 0;
  let sum = 0;
  let weighted = 0;
  let size = 0;
  let row = length - 1;
  while (row < n) {
    const stop = Math.min(n, (Math.floor(row / interval) + 1) * interval);
    for (let isFresh = true; row < stop; row++) {
      if (!isFresh) {
        const dropped = source[row - length] - shift;
        const added = source[row] - shift;
        weighted += length * added - sum - added + dropped;
        sum += added - dropped;
        size += Math.abs(added) - Math.abs(dropped);
        isFresh = length * Math.abs(dropped) > 100 * size;
      }
      if (isFresh) {
        shift = source[row];
        sum = 0;
        weighted = 0;
        size = 0;
        for (let i = 0; i < length; i++) {
          const deviation = source[row - length + 1 + i] - shift;
          sum += deviation;
          weighted += i * deviation;
          size += Math.abs(deviation);
        }
        isFresh = false;
      }
      const slope = (weighted - middle * sum) * inverseSpread;
      slopes[row] = slope;
      intercepts[row] = shift + sum / length - slope * middle;
    }
  }
}
