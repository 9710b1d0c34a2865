// Moving averages by name: one table for the indicators that let the caller choose an average.
import { kaufman, mesa } from './adaptive.ts';
import type { ArgDefinition, Args } from './definition.ts';
import { choice, text } from './arguments.ts';
import { doubleExponential, exponential, tilson, tripleExponential, wilder, zeroLag } from './exponential.ts';
import { hull, triangular, weighted } from './weighted.ts';
import { rollingMean } from '../kernels/rollingSums.ts';

/** TA-Lib's MA types in the order of their numbers; `default` (11) stands for the function's own. */
export const MA_TYPES = [
  'sma', 'ema', 'wma', 'dema', 'tema', 'trima', 'kama', 'mama', 't3', 'hma', 'none', 'default', 'zlema', 'rma',
] as const; // prettier-ignore
type MaType = Exclude<(typeof MA_TYPES)[number], 'default'>;

/** A kernel reads rows first … n-1 of `source` and writes rows first+lookback(length) … n-1 of `out`, another array. */
export interface MovingAverage {
  lookback(length: number): number;
  compute(source: Float64Array, first: number, length: number, out: Float64Array): void;
}

const window = (length: number): number => length - 1;

/** TA-Lib's constants for the averages that take more than a length: MAMA 0.5 and 0.05, T3 0.7. */
const AVERAGES: Readonly<Record<Exclude<MaType, 'none'>, MovingAverage>> = {
  sma: { lookback: window, compute: rollingMean },
  ema: { lookback: window, compute: exponential },
  wma: { lookback: window, compute: weighted },
  dema: { lookback: (length) => 2 * (length - 1), compute: doubleExponential },
  tema: { lookback: (length) => 3 * (length - 1), compute: tripleExponential },
  trima: { lookback: window, compute: triangular },
  kama: {
    lookback: (length) => length,
    compute: (source, first, length, out) => kaufman(source, first, length, 2, 30, out),
  },
  mama: {
    lookback: () => 32,
    compute: (source, first, _length, out) => mesa(source, first, 0.5, 0.05, out, undefined),
  },
  t3: {
    lookback: (length) => 6 * (length - 1),
    compute: (source, first, length, out) => tilson(source, first, length, 0.7, out),
  },
  hma: { lookback: (length) => length + Math.floor(Math.sqrt(length)) - 2, compute: hull },
  zlema: { lookback: (length) => Math.floor((length - 1) / 2) + length - 1, compute: zeroLag },
  rma: { lookback: window, compute: wilder },
};

const IDENTITY: MovingAverage = {
  lookback: () => 0,
  compute: (source, first, _length, out) => out.set(source.subarray(first), first),
};

/** The average to use: a length of 1 and the type `none` smooth nothing, whatever the type (TA-Lib's TA_MA). */
export function movingAverage(type: string, length: number): MovingAverage {
  return length <= 1 || type === 'none' ? IDENTITY : AVERAGES[type as Exclude<MaType, 'none'>];
}

/** An argument that chooses an average. */
export const maType = (defaultValue: MaType, name = 'ma_type'): ArgDefinition =>
  choice(
    name,
    defaultValue,
    MA_TYPES.filter((type) => type !== 'default'),
  );

/** TA-Lib's numbers for such an argument; 11 is the function's own default. */
export const maNames = (own: MaType): readonly string[] => MA_TYPES.map((type) => (type === 'default' ? own : type));

/** The average that `args` choose, its length already read by the caller. */
export const chosen = (args: Args, length: number, name = 'ma_type'): MovingAverage =>
  movingAverage(text(args, name), length);
