// What a candlestick pattern declares. The compiler, validation, capabilities and docs read nothing else.
import type { ArgDefinition, Args } from '../indicators/definition.ts';
import { allOf, type Condition, type PriceColumns } from './candles.ts';
import { Confirmation } from './confirmation.ts';
import { PatternProgram } from './patternProgram.ts';
import {
  newSides,
  readSides,
  writeValues,
  type ConditionIndexes,
  type PatternSigns,
  type PatternSides,
  type PatternValues,
} from './signs.ts';

export type { PatternSigns } from './signs.ts';

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
    out: PatternValues,
  ): void;
  readonly declaration: PatternDeclaration;
}

/** A pattern as its family's file declares it. */
export interface PatternDeclaration {
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

export const signsOf = ({ signs }: PatternDeclaration, penetration: number): PatternSigns =>
  typeof signs === 'function' ? signs(penetration) : signs;

/** A pattern as the registry has it: its loop is made of the conditions that it declares. */
export function definePattern(declaration: PatternDeclaration): PatternDefinition {
  const { id, aliases = [], talib, name, description, lookback, penetration } = declaration;
  const { bullish, bearish } = signsOf(declaration, 0);
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
    declaration,
  };
  return definition;
}

interface PatternRequest {
  readonly definition: PatternDefinition;
  readonly args: Args;
  readonly out: PatternValues;
}

/** What finds some patterns, all in one pass over the bars. */
interface CompiledPatterns {
  readonly program: PatternProgram;
  readonly indexes: readonly ConditionIndexes[];
}

/** Several patterns over the same bars at once: what their conditions have in common is computed once. */
export function computePatterns(columns: PriceColumns, requests: readonly PatternRequest[]): void {
  const { program, indexes } = compiled(requests);
  const confirmations = requests.map(({ definition: { declaration }, out }) =>
    declaration.isConfirmable
      ? new Confirmation(columns, declaration.lookback, (row, value) => (out[row] = value))
      : null,
  );
  program.run(columns, (start, end, words) => {
    for (let at = 0; at < requests.length; at++) {
      const { definition, out } = requests[at];
      const { lookback } = definition.declaration;
      const confirmation = confirmations[at];
      if (confirmation === null) {
        writeValues(program, indexes[at], lookback, start, end, words, out);
        continue;
      }
      readSides(program, indexes[at], 0, start, end, words, confirmation.found);
      if (end > lookback) out.fill(0, Math.max(lookback, start), end);
      confirmation.write(start, end);
    }
  });
}

/** The same patterns as bits, for conditions on a side: a sixty-fourth of the memory of the values. */
export function findPatterns(
  columns: PriceColumns,
  requests: readonly Omit<PatternRequest, 'out'>[],
): readonly PatternSides[] {
  const n = columns.open.length;
  const { program, indexes } = compiled(requests);
  const all = requests.map(() => newSides(n));
  const confirmations = requests.map(({ definition: { declaration } }, at) =>
    declaration.isConfirmable
      ? new Confirmation(columns, declaration.lookback, (row, value) => {
          (value > 0 ? all[at].bullish : all[at].bearish)[row >>> 5] |= 1 << (row & 31);
        })
      : null,
  );
  program.run(columns, (start, end, words) => {
    for (let at = 0; at < requests.length; at++) {
      const { lookback } = requests[at].definition.declaration;
      const confirmation = confirmations[at];
      readSides(program, indexes[at], confirmation ? 0 : lookback, start, end, words, confirmation?.found ?? all[at]);
      confirmation?.write(start, end);
    }
  });
  return all;
}

/** Programs by what they compute: a short series is computed faster than its program is made. */
const known = new Map<string, CompiledPatterns>();
/** One for each pattern alone, and as many for sets of patterns; at this number all are made again. */
const MAX_KNOWN = 128;

function compiled(requests: readonly Omit<PatternRequest, 'out'>[]): CompiledPatterns {
  const patterns = requests.map(({ definition: { declaration }, args }) => ({
    declaration,
    penetration: Number(args.penetration ?? declaration.penetration ?? 0),
  }));
  const key = patterns.map(({ declaration, penetration }) => `${declaration.id} ${penetration}`).join();
  let found = known.get(key);
  if (found === undefined) {
    if (known.size >= MAX_KNOWN) known.clear();
    found = programOf(patterns);
    known.set(key, found);
  }
  return found;
}

interface PatternWithArgs {
  readonly declaration: PatternDeclaration;
  readonly penetration: number;
}

/** Several patterns: what they have in common is computed once. */
function programOf(patterns: readonly PatternWithArgs[]): CompiledPatterns {
  const program = new PatternProgram();
  const indexes = patterns.map(({ declaration, penetration }) => {
    const { when = [], bullish, bearish, tied } = signsOf(declaration, penetration);
    const add = (conditions: readonly Condition[] | undefined): number | null =>
      conditions === undefined ? null : program.add(allOf(...conditions), firstRowOf(declaration));
    return {
      bullish: add(bullish && [...when, ...bullish]),
      bearish: add(bearish && [...when, ...bearish]),
      tied: add(tied && [tied]),
    };
  });
  return { program, indexes };
}

/** The search for what may be confirmed starts three bars early, and so do its averages. */
const firstRowOf = ({ isConfirmable, lookback }: PatternDeclaration): number =>
  isConfirmable ? lookback - 3 : lookback;
