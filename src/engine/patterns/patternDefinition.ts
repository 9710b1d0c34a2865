// What a candlestick pattern declares. The compiler, validation, capabilities and docs read nothing else.
import type { ArgDefinition, Args } from '../indicators/definition.ts';
import { candlesOf, type Candles } from './candles.ts';

export type PatternSide = 'bullish' | 'bearish';

/**
 * One candlestick pattern, as TA-Lib 0.8 defines it. `compute` writes rows lookback(args) … n-1 of `out` and leaves the
 * rows before to the caller; it reads no row after the one it writes. A value is 0 (absent) or ±100 (present; the sign
 * is the side), ±80 where one end of the two bodies only ties, ±200 where a hikkake is confirmed. The sign is TA-Lib's:
 * a doji, which has no side of its own, is 100.
 */
export interface PatternDefinition {
  readonly id: string;
  readonly aliases: readonly string[];
  /** TA-Lib's function name, e.g. `CDLDOJI`. */
  readonly talib: string;
  readonly name: string;
  /** The signs its value can have; a condition on any other side can never be true. */
  readonly sides: readonly PatternSide[];
  readonly args: readonly ArgDefinition[];
  readonly description: string;
  /** Rows before the first value. */
  lookback(args: Args): number;
  /** Columns of equal length, without NaN. */
  compute(
    open: Float64Array,
    high: Float64Array,
    low: Float64Array,
    close: Float64Array,
    args: Args,
    out: Float64Array,
  ): void;
}

/** A pattern as its family's file declares it: names, lookback, and one loop from row `first` on. */
export interface PatternRule {
  readonly id: string;
  readonly aliases?: readonly string[];
  readonly talib: string;
  readonly name: string;
  readonly sides: readonly PatternSide[];
  /** Default of the one argument some patterns have: how far into the first body the last candle must close. */
  readonly penetration?: number;
  readonly lookback: number;
  readonly description: string;
  scan(candles: Candles, first: number, out: Float64Array, penetration: number): void;
}

const penetrationArg = (value: number): ArgDefinition => ({
  name: 'penetration',
  type: 'float',
  default: value,
  min: 0,
  description: 'Share of the first body that the last candle must close into.',
});

export function definePattern(rule: PatternRule): PatternDefinition {
  const { id, aliases = [], talib, name, sides, description, lookback, penetration } = rule;
  return {
    id,
    aliases,
    talib,
    name,
    sides,
    description,
    args: penetration === undefined ? [] : [penetrationArg(penetration)],
    lookback: () => lookback,
    compute(open, high, low, close, args, out) {
      if (open.length <= lookback) return;
      rule.scan(candlesOf(open, high, low, close), lookback, out, Number(args.penetration ?? penetration ?? 0));
    },
  };
}
