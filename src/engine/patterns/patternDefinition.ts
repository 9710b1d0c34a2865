// What a candlestick pattern declares. The compiler, validation, capabilities and docs read nothing else.
import type { ArgDefinition, Args } from '../indicators/definition.ts';
import { hasBit } from '../kernels/bits.ts';
import { all, type Condition } from './candles.ts';
import { writeConfirmed } from './confirmation.ts';
import { PatternProgram, type PriceColumns } from './patternProgram.ts';

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
  /** Columns of equal length, without NaN. `computePatterns` is faster for several patterns of one series. */
  compute(
    open: Float64Array,
    high: Float64Array,
    low: Float64Array,
    close: Float64Array,
    args: Args,
    out: Float64Array,
  ): void;
  readonly rule: PatternRule;
}

/** When a pattern is there: every condition of `when`, and every condition of one side. */
export interface PatternSigns {
  readonly when?: readonly Condition[];
  readonly bullish?: readonly Condition[];
  readonly bearish?: readonly Condition[];
  /** Where it holds, the value is ±80 in place of ±100. */
  readonly tied?: Condition;
}

/** A pattern as its family's file declares it. */
export interface PatternRule {
  readonly id: string;
  readonly aliases?: readonly string[];
  readonly talib: string;
  readonly name: string;
  /** TA-Lib's: the averages of the pattern's candles start here. */
  readonly lookback: number;
  readonly description: string;
  /** Default of the one argument some patterns have: how far into the first body the last candle must close. */
  readonly penetration?: number;
  /** The next three closes can confirm the pattern, for ±200 (`confirmation.ts`). */
  readonly isConfirmable?: true;
  readonly signs: PatternSigns | ((penetration: number) => PatternSigns);
}

const penetrationArg = (value: number): ArgDefinition => ({
  name: 'penetration',
  type: 'float',
  default: value,
  min: 0,
  description: 'Share of the first body that the last candle must close into.',
});

export const signsOf = ({ signs }: PatternRule, penetration: number): PatternSigns =>
  typeof signs === 'function' ? signs(penetration) : signs;

export function definePattern(rule: PatternRule): PatternDefinition {
  const { id, aliases = [], talib, name, description, lookback, penetration } = rule;
  const { bullish, bearish } = signsOf(rule, 0);
  const definition: PatternDefinition = {
    id,
    aliases,
    talib,
    name,
    sides: [...(bullish ? (['bullish'] as const) : []), ...(bearish ? (['bearish'] as const) : [])],
    description,
    args: penetration === undefined ? [] : [penetrationArg(penetration)],
    lookback: () => lookback,
    compute: (open, high, low, close, args, out) =>
      computePatterns({ open, high, low, close }, [{ definition, args, out }]),
    rule,
  };
  return definition;
}

export interface PatternRequest {
  readonly definition: PatternDefinition;
  readonly args: Args;
  readonly out: Float64Array;
}

/** The words of the conditions of one request in the result of a program; an absent side has no words. */
interface WordIndexes {
  readonly bullish: number | null;
  readonly bearish: number | null;
  readonly tied: number | null;
}

interface CompiledPatterns {
  readonly program: PatternProgram;
  readonly indexes: readonly WordIndexes[];
}

/** Several patterns over the same bars at once: what their conditions have in common is computed once. */
export function computePatterns(columns: PriceColumns, requests: readonly PatternRequest[]): void {
  const n = columns.open.length;
  const { program, indexes } = compiled(requests);
  const words = program.run(columns);
  requests.forEach(({ definition: { rule }, out }, at) => {
    if (n <= rule.lookback) return;
    const wordsOf = (index: number | null): Uint32Array => (index === null ? NOTHING : words[index]);
    const bullish = wordsOf(indexes[at].bullish);
    const bearish = wordsOf(indexes[at].bearish);
    const tied = wordsOf(indexes[at].tied);
    out.fill(0, rule.lookback);
    if (rule.isConfirmable) return writeConfirmed(columns, bullish, bearish, rule.lookback, out);
    writeSide(bullish, tied, 1, rule.lookback, out);
    writeSide(bearish, tied, -1, rule.lookback, out);
  });
}

const NOTHING = new Uint32Array(0);

function writeSide(found: Uint32Array, tied: Uint32Array, sign: number, first: number, out: Float64Array): void {
  for (let w = first >>> 5; w < found.length; w++) {
    let word = found[w];
    while (word !== 0) {
      const bit = 31 - Math.clz32(word & -word);
      word &= word - 1;
      const row = (w << 5) + bit;
      if (row >= first && row < out.length) out[row] = sign * (hasBit(tied, row) ? 80 : 100);
    }
  }
}

/** Programs by what they compute, because a short series is computed faster than its program is made. */
const programs = new Map<string, CompiledPatterns>();
/** One for each pattern alone, and as many for sets of patterns; at this number all are made again. */
const MAX_PROGRAMS = 128;

function compiled(requests: readonly PatternRequest[]): CompiledPatterns {
  const penetrations = requests.map(({ definition: { rule }, args }) =>
    Number(args.penetration ?? rule.penetration ?? 0),
  );
  const key = requests.map(({ definition }, at) => `${definition.id} ${penetrations[at]}`).join();
  const known = programs.get(key);
  if (known !== undefined) return known;
  if (programs.size >= MAX_PROGRAMS) programs.clear();
  const program = new PatternProgram();
  const indexes = requests.map(({ definition: { rule } }, at) => {
    const { when = [], bullish, bearish, tied } = signsOf(rule, penetrations[at]);
    // The search for what may be confirmed starts three bars early, and so do its averages.
    const first = rule.isConfirmable ? rule.lookback - 3 : rule.lookback;
    const add = (conditions: readonly Condition[] | undefined): number | null =>
      conditions === undefined ? null : program.add(all(...conditions), first);
    return {
      bullish: add(bullish && [...when, ...bullish]),
      bearish: add(bearish && [...when, ...bearish]),
      tied: add(tied && [tied]),
    };
  });
  programs.set(key, { program, indexes });
  return { program, indexes };
}
