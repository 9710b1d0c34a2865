// What a candlestick pattern declares. The compiler, validation, capabilities and docs read nothing else.
import type { ArgDefinition, Args } from '../indicators/definition.ts';
import { wordCount } from '../kernels/bits.ts';
import { allOf, type Condition } from './candles.ts';
import { confirm } from './confirmation.ts';
import { PatternProgram, type PriceColumns } from './patternProgram.ts';

export type PatternSide = 'bullish' | 'bearish';
/** A value per bar. A plan's columns are doubles; TA-Lib writes integers. */
export type PatternValues = Float64Array | Int32Array;

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
    out: PatternValues,
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
  readonly out: PatternValues;
}

/** The rows on which a pattern's value is positive, and those on which it is negative, as words of bits. */
export interface PatternSides {
  readonly bullish: Uint32Array;
  readonly bearish: Uint32Array;
}

/** The conditions of one request in its program; null for a side that the pattern does not have. */
interface ConditionIndexes {
  readonly bullish: number | null;
  readonly bearish: number | null;
  readonly tied: number | null;
}

interface CompiledPatterns {
  readonly program: PatternProgram;
  readonly indexes: readonly ConditionIndexes[];
}

/** Several patterns over the same bars at once: what their conditions have in common is computed once. */
export function computePatterns(columns: PriceColumns, requests: readonly PatternRequest[]): void {
  const n = columns.open.length;
  const { program, indexes } = compiled(requests);
  const confirmable = requests.map(({ definition }) => (definition.rule.isConfirmable ? newSides(n) : null));
  program.run(columns, (start, end, words) => {
    for (let at = 0; at < requests.length; at++) {
      const sides = confirmable[at];
      if (sides !== null) readSides(program, indexes[at], 0, start, end, words, sides);
      else writeValues(program, indexes[at], requests[at], start, end, words);
    }
  });
  requests.forEach(({ definition: { rule }, out }, at) => {
    const sides = confirmable[at];
    if (sides === null || n <= rule.lookback) return;
    out.fill(0, rule.lookback);
    confirm(columns, sides.bullish, sides.bearish, rule.lookback, (row, value) => (out[row] = value));
  });
}

/** The same patterns as bits, for conditions on a side: a sixty-fourth of the memory of the values. */
export function findPatterns(
  columns: PriceColumns,
  requests: readonly Omit<PatternRequest, 'out'>[],
): readonly PatternSides[] {
  const n = columns.open.length;
  const { program, indexes } = compiled(requests);
  const found = requests.map(() => newSides(n));
  program.run(columns, (start, end, words) => {
    for (let at = 0; at < requests.length; at++) {
      const { rule } = requests[at].definition;
      readSides(program, indexes[at], rule.isConfirmable ? 0 : rule.lookback, start, end, words, found[at]);
    }
  });
  return found.map((sides, at) => {
    const { rule } = requests[at].definition;
    if (!rule.isConfirmable) return sides;
    const all = newSides(n);
    confirm(columns, sides.bullish, sides.bearish, rule.lookback, (row, value) => {
      (value > 0 ? all.bullish : all.bearish)[row >>> 5] |= 1 << (row & 31);
    });
    return all;
  });
}

const newSides = (rows: number): PatternSides => ({
  bullish: new Uint32Array(wordCount(rows)),
  bearish: new Uint32Array(wordCount(rows)),
});

/** The bits of a block, of rows from `first` on. */
function readSides(
  program: PatternProgram,
  { bullish, bearish }: ConditionIndexes,
  first: number,
  start: number,
  end: number,
  words: Uint32Array,
  to: PatternSides,
): void {
  const count = wordCount(end - start);
  for (let index = 0; index < count; index++) {
    const rows = rowsOf(first, start + 32 * index, end);
    const at = (start >>> 5) + index;
    if (bullish !== null) to.bullish[at] = program.wordOf(bullish, words, index) & rows;
    if (bearish !== null) to.bearish[at] = program.wordOf(bearish, words, index) & rows;
  }
}

/** The values of a block. */
function writeValues(
  program: PatternProgram,
  { bullish, bearish, tied }: ConditionIndexes,
  { definition, out }: PatternRequest,
  start: number,
  end: number,
  words: Uint32Array,
): void {
  const first = definition.rule.lookback;
  if (end <= first) return;
  out.fill(0, Math.max(first, start), end);
  const count = wordCount(end - start);
  for (let index = 0; index < count; index++) {
    const row = start + 32 * index;
    const rows = rowsOf(first, row, end);
    const up = bullish === null ? 0 : program.wordOf(bullish, words, index) & rows;
    const down = bearish === null ? 0 : program.wordOf(bearish, words, index) & rows;
    if ((up | down) === 0) continue;
    const ties = tied === null ? 0 : program.wordOf(tied, words, index);
    writeBits(up & ~ties, 100, row, out);
    writeBits(up & ties, 80, row, out);
    writeBits(down & ~ties, -100, row, out);
    writeBits(down & ties, -80, row, out);
  }
}

function writeBits(bits: number, value: number, row: number, out: PatternValues): void {
  while (bits !== 0) {
    out[row + 31 - Math.clz32(bits & -bits)] = value;
    bits &= bits - 1;
  }
}

/** Which of the 32 rows from `row` on are in [first, end). */
function rowsOf(first: number, row: number, end: number): number {
  if (row >= first && row + 32 <= end) return -1;
  const early = Math.min(32, Math.max(0, first - row));
  const late = Math.max(0, row + 32 - end);
  if (early + late >= 32) return 0;
  return (-1 << early) & (-1 >>> late);
}

/** Programs by what they compute, because a short series is computed faster than its program is made. */
const programs = new Map<string, CompiledPatterns>();
/** One for each pattern alone, and as many for sets of patterns; at this number all are made again. */
const MAX_PROGRAMS = 128;

function compiled(requests: readonly Omit<PatternRequest, 'out'>[]): CompiledPatterns {
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
      conditions === undefined ? null : program.add(allOf(...conditions), first);
    return {
      bullish: add(bullish && [...when, ...bullish]),
      bearish: add(bearish && [...when, ...bearish]),
      tied: add(tied && [tied]),
    };
  });
  programs.set(key, { program, indexes });
  return { program, indexes };
}
