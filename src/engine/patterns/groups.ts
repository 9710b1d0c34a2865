// Groups: the eight rows that the kernel of a pattern works on at once, in four vectors of two.
import { asm, type Code, type Locals } from '../kernels/simd/assembler.ts';

export const GROUP = 8;
export const VECTORS = [0, 1, 2, 3] as const;
export type Vector = (typeof VECTORS)[number];
/** A local for each vector of the group. */
export type Quad = readonly [number, number, number, number];

export const newQuad = (locals: Locals): Quad => [locals.v128(), locals.v128(), locals.v128(), locals.v128()];

export const copy = (from: Quad, to: Quad): Code => VECTORS.map((at) => [asm.get(from[at]), asm.set(to[at])]);
/** to = to and mask */
export const and = (to: Quad, mask: Quad): Code =>
  VECTORS.map((at) => [asm.get(to[at]), asm.get(mask[at]), asm.v128.and, asm.set(to[at])]);
/** to = to or mask */
export const or = (to: Quad, mask: Quad): Code =>
  VECTORS.map((at) => [asm.get(to[at]), asm.get(mask[at]), asm.v128.or, asm.set(to[at])]);
/** Leaves the block when a mask has no row. */
export const leaveIfEmpty = ([a, b, c, d]: Quad): Code => [
  [asm.get(a), asm.get(b), asm.v128.or, asm.get(c), asm.v128.or, asm.get(d), asm.v128.or],
  [asm.v128.anyTrue, asm.i32.isZero, asm.branchIf(0)],
];
