// Signs: when a pattern is there, and what was found in a block of rows, as values or as words of bits.
import { wordCount } from '../kernels/bits.ts';
import { Accelerator } from '../kernels/accelerator.ts';
import type { Condition } from './candles.ts';
import type { PatternProgram } from './patternProgram.ts';
import { SIGNS } from './programSteps.ts';

/** When a pattern is there: every condition of `when`, and every condition of one side. */
export interface PatternSigns {
  readonly when?: readonly Condition[];
  readonly bullish?: readonly Condition[];
  readonly bearish?: readonly Condition[];
  /** Where it holds, the value is ±80 in place of ±100. */
  readonly tied?: Condition;
}

/** A value per bar. A plan's columns are doubles; TA-Lib writes integers. */
export type PatternValues = Float64Array | Int32Array;

/** The rows on which a pattern's value is positive, and those on which it is negative, as words of bits. */
export interface PatternSides {
  readonly bullish: Uint32Array;
  readonly bearish: Uint32Array;
}

/** The conditions of one pattern; null for a side that it does not have. */
export interface ConditionIndexes {
  readonly bullish: number | null;
  readonly bearish: number | null;
  readonly tied: number | null;
}

export const newSides = (rows: number): PatternSides => ({
  bullish: new Uint32Array(wordCount(rows)),
  bearish: new Uint32Array(wordCount(rows)),
});

/** The bits of a block, of rows from `first` on. */
export function readSides(
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
    const row = start + 32 * index;
    const rows = rowsOf(first, row, end);
    if (bullish !== null) addBits(program.wordOf(bullish, words, index) & rows, row, to.bullish);
    if (bearish !== null) addBits(program.wordOf(bearish, words, index) & rows, row, to.bearish);
  }
}

/** Adds the bits of the 32 rows from `row` on. */
function addBits(bits: number, row: number, to: Uint32Array): void {
  const at = row >>> 5;
  const shift = row & 31;
  if (bits << shift !== 0) to[at] |= bits << shift;
  if (shift !== 0 && bits >>> (32 - shift) !== 0) to[at + 1] |= bits >>> (32 - shift);
}

/**
 * What writes the values of rows `from` … `end`-1 of a block that begins with row `start`. The bits of the block are at
 * SIGNS in the memory of the kernels.
 */
export const VALUES = new Accelerator<(out: PatternValues, start: number, from: number, end: number) => true>();

const [BULLISH, BEARISH, TIED] = [SIGNS.bullish / 4, SIGNS.bearish / 4, SIGNS.tied / 4];

/** The values of a block, of rows from `first` on. */
export function writeValues(
  program: PatternProgram,
  indexes: ConditionIndexes,
  first: number,
  start: number,
  end: number,
  words: Uint32Array,
  out: PatternValues,
): void {
  if (end <= first) return;
  const count = wordCount(end - start);
  gatherSigns(program, indexes, count, words);
  let found = 0;
  for (let index = 0; index < count; index++) found |= words[BULLISH + index] | words[BEARISH + index];
  const from = Math.max(first, start);
  if (found === 0) {
    out.fill(0, from, end);
    return;
  }
  if (VALUES.current?.(out, start, from, end)) return;
  for (let row = from; row < end; row++) {
    const word = (row - start) >>> 5;
    const bit = (row - start) & 31;
    const side = ((words[BULLISH + word] >>> bit) & 1) - ((words[BEARISH + word] >>> bit) & 1);
    out[row] = side * ((words[TIED + word] >>> bit) & 1 ? 80 : 100);
  }
}

function gatherSigns(
  program: PatternProgram,
  { bullish, bearish, tied }: ConditionIndexes,
  count: number,
  words: Uint32Array,
): void {
  for (let index = 0; index < count; index++) {
    words[BULLISH + index] = bullish === null ? 0 : program.wordOf(bullish, words, index);
    words[BEARISH + index] = bearish === null ? 0 : program.wordOf(bearish, words, index);
    words[TIED + index] = tied === null ? 0 : program.wordOf(tied, words, index);
  }
}

/** Which of the 32 rows from `row` on are in [first, end). */
export function rowsOf(first: number, row: number, end: number): number {
  if (row >= first && row + 32 <= end) return -1;
  const early = Math.min(32, Math.max(0, first - row));
  const late = Math.max(0, row + 32 - end);
  if (early + late >= 32) return 0;
  return (-1 << early) & (-1 >>> late);
}
