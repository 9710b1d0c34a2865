// From the conditions and values of a pattern to instructions: a mask or a value of two rows at a time. A value that is
// read again in a group is computed once.
import { asm, COLUMN_MEMORY, type Code, type Locals } from '../kernels/simd/assembler.ts';
import { ROWS_BEHIND } from '../kernels/simd/columnMemory.ts';
import type { Condition, Value } from './candles.ts';
import { newQuad, type Quad, type Vector } from './groups.ts';
import { childrenOf, isValue, keyOf, type Mean } from './traversal.ts';

const NUMBER_BYTES = 8;

/** The kernel's parameters: addresses of rows ROWS_BEHIND before the first, because an offset is not negative. */
export const FIELDS = ['open', 'high', 'low', 'close'] as const;
const BEHIND = ROWS_BEHIND * NUMBER_BYTES;

const OPERATIONS = {
  plus: asm.f64x2.add,
  minus: asm.f64x2.sub,
  distance: [asm.f64x2.sub, asm.f64x2.abs],
  max: asm.f64x2.pmax,
  min: asm.f64x2.pmin,
} as const;

/** The conditions of one kernel. */
export class ConditionCode {
  readonly #locals: Locals;
  readonly #sumOf: (mean: Mean) => Quad;
  /** How often a value is read in a group; what is read twice is kept. */
  readonly #uses = new Map<string, number>();
  readonly #kept = new Map<string, Quad>();
  /** What is kept so far on the way through the code. */
  #written = new Set<string>();
  /** Vectors that do not change: the code that makes each, by its bytes, and the local that keeps it. */
  readonly #constants = new Map<string, { readonly code: Code; readonly local: number }>();

  /** @param sumOf where the running sum of a mean is at the rows of a group */
  constructor(locals: Locals, sumOf: (mean: Mean) => Quad) {
    this.#locals = locals;
    this.#sumOf = sumOf;
  }

  /** Notes what a condition or value reads. Everything that will be read is counted before any code is made. */
  count(node: Condition | Value): void {
    if (!isValue(node)) return childrenOf(node).forEach((child) => this.count(child));
    if (node.op === 'field') return;
    const key = keyOf(node);
    const uses = (this.#uses.get(key) ?? 0) + 1;
    this.#uses.set(key, uses);
    // What is kept is computed once, and so is what a sum is made of.
    if (uses === 1 && node.op !== 'mean') for (const child of childrenOf(node)) this.count(child);
  }

  /** The rows on which a condition holds: all ones where it does. */
  mask(condition: Condition, vector: Vector): Code {
    switch (condition.op) {
      case 'gt':
      case 'ge':
        return [this.value(condition.left, vector), this.value(condition.right, vector), asm.f64x2[condition.op]];
      case 'all':
      case 'any': {
        const combine = condition.op === 'all' ? asm.v128.and : asm.v128.or;
        return condition.items.map((item, index) => [this.mask(item, vector), index === 0 ? [] : combine]);
      }
      case 'not':
        return [this.mask(condition.item, vector), asm.v128.not];
    }
  }

  /** A value of two rows, kept where it is read again. */
  value(value: Value, vector: Vector): Code {
    const key = keyOf(value);
    if ((this.#uses.get(key) ?? 0) < 2) return this.fresh(value, vector);
    const quad = this.#kept.get(key) ?? newQuad(this.#locals);
    this.#kept.set(key, quad);
    if (this.#written.has(`${key} ${vector}`)) return asm.get(quad[vector]);
    this.#written.add(`${key} ${vector}`);
    return [this.fresh(value, vector), asm.tee(quad[vector])];
  }

  /** A value of two rows, computed here; what it is made of may be kept. */
  fresh(value: Value, vector: Vector): Code {
    switch (value.op) {
      case 'field':
        return [
          asm.get(FIELDS.indexOf(value.field)),
          asm.v128.load(COLUMN_MEMORY, BEHIND + (2 * vector - value.back) * NUMBER_BYTES),
        ];
      case 'times':
        return [this.#number(value.factor), this.value(value.of, vector), asm.f64x2.mul];
      case 'mean': {
        const sums = this.#sumOf(value)[vector];
        const mean = [asm.get(sums), this.#number(value.period), asm.f64x2.div];
        return value.factor === 1 ? mean : [this.#number(value.factor), mean, asm.f64x2.mul];
      }
      default:
        return [this.value(value.left, vector), this.value(value.right, vector), OPERATIONS[value.op]];
    }
  }

  #number(value: number): Code {
    return this.constant([asm.f64.const(value), asm.f64x2.splat]);
  }

  /** The code that makes all constants asked for so far; it runs before what reads them. */
  constants(): Code {
    return [...this.#constants.values()].map(({ code, local }) => [code, asm.set(local)]);
  }

  /** A vector that does not change, from the code that makes it. */
  constant(code: Code): Code {
    const key = JSON.stringify(code);
    const { local } = this.#constants.get(key) ?? { local: this.#locals.v128() };
    this.#constants.set(key, { code, local });
    return asm.get(local);
  }

  /** Code in a block of its own: what it keeps may be missing behind it. */
  apart(code: () => Code): Code {
    const written = this.#written;
    this.#written = new Set(written);
    const block = asm.block(code());
    this.#written = written;
    return block;
  }
}
