// Candles: the parts of one bar that patterns refer to, and what "long", "short" and "near" mean next to the bars
// before it.

export interface Candles {
  readonly length: number;
  readonly open: Float64Array;
  readonly high: Float64Array;
  readonly low: Float64Array;
  readonly close: Float64Array;
  /** Filled when a benchmark needs it. */
  readonly parts: Partial<Record<Benchmark['part'], Float64Array>>;
}

export const candlesOf = (open: Float64Array, high: Float64Array, low: Float64Array, close: Float64Array): Candles => ({
  length: open.length,
  open,
  high,
  low,
  close,
  parts: {},
});

// Parts of a candle. A candle that closes where it opened is white, as in TA-Lib.
export const isWhite = (c: Candles, i: number): boolean => c.close[i] >= c.open[i];
export const isBlack = (c: Candles, i: number): boolean => c.close[i] < c.open[i];
/** 1 for a white candle, -1 for a black one. */
export const color = (c: Candles, i: number): number => (c.close[i] >= c.open[i] ? 1 : -1);
export const body = (c: Candles, i: number): number => Math.abs(c.close[i] - c.open[i]);
export const bodyTop = (c: Candles, i: number): number => Math.max(c.open[i], c.close[i]);
export const bodyBottom = (c: Candles, i: number): number => Math.min(c.open[i], c.close[i]);
export const upperShadow = (c: Candles, i: number): number =>
  c.high[i] - (c.close[i] >= c.open[i] ? c.close[i] : c.open[i]);
export const lowerShadow = (c: Candles, i: number): number =>
  (c.close[i] >= c.open[i] ? c.open[i] : c.close[i]) - c.low[i];

// Gaps between two candles: of their bodies, or of the whole candles.
export const bodyGapUp = (c: Candles, later: number, earlier: number): boolean =>
  bodyBottom(c, later) > bodyTop(c, earlier);
export const bodyGapDown = (c: Candles, later: number, earlier: number): boolean =>
  bodyTop(c, later) < bodyBottom(c, earlier);
export const gapUp = (c: Candles, later: number, earlier: number): boolean => c.low[later] > c.high[earlier];
export const gapDown = (c: Candles, later: number, earlier: number): boolean => c.high[later] < c.low[earlier];

/** A benchmark: `factor` times the average of one part over the `period` candles before the one that is measured. */
export interface Benchmark {
  readonly part: 'body' | 'highLow' | 'shadows';
  readonly period: number;
  readonly factor: number;
}

// TA-Lib's default candle settings (TA_CandleDefaultSettings in ta_global.c).
export const BODY_LONG: Benchmark = { part: 'body', period: 10, factor: 1 };
export const BODY_SHORT: Benchmark = { part: 'body', period: 10, factor: 1 };
export const BODY_DOJI: Benchmark = { part: 'highLow', period: 10, factor: 0.1 };
export const SHADOW_SHORT: Benchmark = { part: 'shadows', period: 10, factor: 1 };
export const SHADOW_VERY_SHORT: Benchmark = { part: 'highLow', period: 10, factor: 0.1 };
export const NEAR: Benchmark = { part: 'highLow', period: 5, factor: 0.2 };
export const FAR: Benchmark = { part: 'highLow', period: 5, factor: 0.6 };
export const EQUAL: Benchmark = { part: 'highLow', period: 5, factor: 0.05 };

/**
 * TA-Lib's ShadowLong has period 0: a long shadow is longer than the candle's own body, a very long one than twice it.
 */
export const longShadow = body;
export const veryLongShadow = (c: Candles, i: number): number => 2 * body(c, i);

/** The part of every candle, computed once for all benchmarks of a pattern that measure it. */
function partColumn(c: Candles, part: Benchmark['part']): Float64Array {
  const known = c.parts[part];
  if (known !== undefined) return known;
  const column = new Float64Array(c.length);
  const { open, high, low, close } = c;
  if (part === 'body') for (let i = 0; i < column.length; i++) column[i] = Math.abs(close[i] - open[i]);
  else if (part === 'highLow') for (let i = 0; i < column.length; i++) column[i] = high[i] - low[i];
  else for (let i = 0; i < column.length; i++) column[i] = upperShadow(c, i) + lowerShadow(c, i);
  c.parts[part] = column;
  return column;
}

/**
 * The benchmark for each candle from `from` on (earlier rows are 0), computed only from the candles before it.
 *
 * Real prices tie with their averages often, so that the last bit of the running sum decides whether a pattern is
 * there. The sum therefore takes TA-Lib's steps one by one: seeded over the candles before `from`, which is where
 * TA-Lib starts that very sum (the pattern's lookback less the candle's place in the pattern), then `sum += entering -
 * leaving`. Starting elsewhere gives different last bits.
 */
export function benchmark(c: Candles, { part, period, factor }: Benchmark, from: number): Float64Array {
  const column = partColumn(c, part);
  const out = new Float64Array(c.length);
  const divisor = part === 'shadows' ? 2 : 1;
  let sum = 0;
  for (let i = from - period; i < from; i++) sum += column[i];
  for (let i = from; i < out.length; i++) {
    out[i] = (factor * (sum / period)) / divisor;
    sum += column[i] - column[i - period];
  }
  return out;
}
