// How the kernel of a pattern writes what it found in a group of rows: as bits, or as values where they belong.
import { asm, RESULT_MEMORY, type Code } from '../kernels/simd/assembler.ts';
import { VECTORS, type Quad, type Vector } from './groups.ts';
import type { PatternSigns } from './signs.ts';

/** A byte of bits per sign, or a value per row: integers as TA-Lib's, or the doubles of a plan's columns. */
export type ResultForm = 'bits' | 'integers' | 'doubles';

/** The rows of a group on which the pattern has a sign. */
export type SignMasks = { readonly [sign in Exclude<keyof PatternSigns, 'when'>]?: Quad };

const VECTOR_BYTES = 16;
/** The low halves of two comparisons beside each other. */
const HALVES = asm.v128.shuffle(0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27);

/** The bits of a group, a byte: 16 bits of each comparison, then one. `at` is a local that is added to the address. */
export const storeBits = ([a, b, c, d]: Quad, at: number, address: number): Code => [
  asm.get(at),
  [asm.get(a), asm.get(b), HALVES],
  [asm.get(c), asm.get(d), HALVES],
  [asm.i16x8.narrow, asm.i16x8.bitmask],
  asm.i32.storeByte(RESULT_MEMORY, address),
];

/** What the values of a group have in common. */
interface Values {
  /** How many vectors they take. */
  readonly vectors: readonly Vector[];
  /** A vector of one number. */
  readonly number: (value: number) => Code;
  /** The mask of the rows of such a vector. */
  readonly mask: (quad: Quad, vector: Vector) => Code;
}

const INTEGERS: Values = {
  vectors: [0, 1],
  number: (value) => [asm.i32.const(value), asm.i32x4.splat],
  mask: (quad, vector) => [asm.get(quad[2 * vector]), asm.get(quad[2 * vector + 1]), HALVES],
};
const DOUBLES: Values = {
  vectors: VECTORS,
  number: (value) => [asm.f64.const(value), asm.f64x2.splat],
  mask: (quad, vector) => asm.get(quad[vector]),
};
const valuesOf = (form: 'integers' | 'doubles'): Values => (form === 'integers' ? INTEGERS : DOUBLES);

/** How many bytes the values of a group take. */
export const valueBytes = (form: 'integers' | 'doubles'): number => valuesOf(form).vectors.length * VECTOR_BYTES;

/**
 * The values of a group: 100 where it is bullish, -100 where it is bearish, 80 and -80 where it is tied too.
 * @param address a local: where the first is written
 * @param constant gives a vector, which it keeps in a local
 */
export function storeValues(
  form: 'integers' | 'doubles',
  { bullish, bearish, tied }: SignMasks,
  address: number,
  constant: (code: Code) => Code,
): Code {
  const { vectors, number, mask } = valuesOf(form);
  const amounts = (vector: Vector, side: 1 | -1): Code => {
    const whole = constant(number(100 * side));
    return tied ? [constant(number(80 * side)), whole, mask(tied, vector), asm.v128.bitselect] : whole;
  };
  return vectors.map((vector) => {
    const positive = bullish ? [amounts(vector, 1), mask(bullish, vector), asm.v128.and] : constant(number(0));
    const both = bearish ? [amounts(vector, -1), positive, mask(bearish, vector), asm.v128.bitselect] : positive;
    return [asm.get(address), both, asm.v128.store(RESULT_MEMORY, vector * VECTOR_BYTES)];
  });
}
