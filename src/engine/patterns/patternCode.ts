// From the conditions of one pattern to the instructions of its kernel: a loop over groups of eight rows, in four
// vectors of two, that leaves a group as soon as no row of it can hold.
import { asm, COLUMN_MEMORY, KERNEL_MEMORY, Locals, RESULT_MEMORY, type Code } from '../kernels/simd/assembler.ts';
import { ROWS_BEHIND } from '../kernels/simd/columnMemory.ts';
import type { Condition, Value } from './candles.ts';
import { aged, backOf, childrenOf, hasMean, isValue, itemsOf, keyOf, meansOf, sumKey, type Mean } from './traversal.ts';
import { and, copy, GROUP, leaveIfEmpty, or, VECTORS, type Quad, type Vector } from './groups.ts';
import { storeBits, storeValues, valueBytes, type ResultForm, type SignMasks } from './patternResults.ts';
import type { PatternSigns } from './signs.ts';

const NUMBER_BYTES = 8;
const GROUP_BYTES = GROUP * NUMBER_BYTES;
const VECTOR_BYTES = 16;

/** Where a kernel writes and keeps what: addresses. */
export interface KernelLayout {
  /** Bits of rows on which the pattern is bullish, bearish, and tied. */
  readonly bullish: number;
  readonly bearish: number;
  readonly tied: number;
  /** Of all three, which begin with the first. */
  readonly signsBytes: number;
  /** The running sums, in the order of `means`. */
  readonly sums: number;
  /** A column of a block for each entry of `changes`, with a group in front of it. */
  readonly changes: number;
  readonly changesBytes: number;
}

/** The kernel's parameters: addresses of rows ROWS_BEHIND before the first, because an offset is not negative. */
export const FIELDS = ['open', 'high', 'low', 'close'] as const;
const BEHIND = ROWS_BEHIND * NUMBER_BYTES;
/** The next parameter: how many groups. */
const GROUPS = FIELDS.length;
/** The last one: where the values of the first group are written, if they are. */
const VALUES = GROUPS + 1;

const OPERATIONS = {
  plus: asm.f64x2.add,
  minus: asm.f64x2.sub,
  distance: [asm.f64x2.sub, asm.f64x2.abs],
  max: asm.f64x2.pmax,
  min: asm.f64x2.pmin,
} as const;

/** The conditions of one side, and the rows of the group on which they hold. */
interface Side {
  readonly sign: 'bullish' | 'bearish';
  readonly items: readonly Condition[];
  readonly mask: Quad;
}

export class PatternCode {
  /** One of each running sum. */
  readonly means: readonly Mean[];
  readonly #signs: PatternSigns;
  readonly #form: ResultForm;
  readonly #layout: KernelLayout;
  readonly #locals = new Locals(VALUES + 1);
  readonly #group = this.#locals.i32();
  /** 64 bytes for every group: where the rows of the group are in a column of changes. */
  readonly #change = this.#locals.i32();
  readonly #scratch = this.#locals.v128();
  /** How often a value is read in a group; what is read twice is kept. */
  readonly #uses = new Map<string, number>();
  readonly #kept = new Map<string, Quad>();
  /** What is kept so far on the way through the code. */
  #written = new Set<string>();
  /** The sums at the rows of a group, and at the row after it. */
  readonly #sums = new Map<string, { readonly rows: Quad; readonly next: number }>();
  /** Vectors that do not change: the code that makes each, by its bytes, and the local that keeps it. */
  readonly #constants = new Map<string, { readonly code: Code; readonly local: number }>();
  /** Sums that have their changes in common, read at different rows: the changes are a column. */
  readonly #changes: readonly (readonly Mean[])[];

  constructor(signs: PatternSigns, form: ResultForm, layout: KernelLayout) {
    this.#signs = signs;
    this.#form = form;
    this.#layout = layout;
    const { when = [], bullish = [], bearish = [], tied } = signs;
    const all = [...when, ...bullish, ...bearish, ...(tied ? [tied] : [])].flatMap(itemsOf);
    const means = new Map(all.flatMap(meansOf).map((mean) => [sumKey(mean), mean]));
    this.means = [...means.values()];
    const groups = Map.groupBy(this.means, (mean) => `${mean.period} ${keyOf(aged(mean.of, -backOf(mean.of)))}`);
    this.#changes = [...groups.values()].filter((group) => group.length > 1);
    for (const condition of all) this.#count(condition);
    for (const mean of this.means) {
      this.#sums.set(sumKey(mean), { rows: this.#quad(), next: this.#locals.f64() });
      if (!this.#changes.flat().includes(mean)) this.#count(mean.of);
    }
  }

  module(): Uint8Array {
    const cleared = this.#form === 'bits' ? this.#clearBits() : [];
    const group = asm.block([this.#updateSums(), this.#find()]);
    const changes = this.#changes.map((means, index) => this.#writeChanges(means[0], index));
    const constants = [...this.#constants.values()].map(({ code, local }) => [code, asm.set(local)]);
    const sums = this.means.map((mean, index) => ({
      next: this.#sums.get(sumKey(mean))!.next,
      address: this.#layout.sums + index * NUMBER_BYTES,
    }));
    return this.#locals.module([
      cleared,
      constants,
      sums.map(({ next, address }) => [asm.i32.const(0), asm.f64.load(address), asm.set(next)]),
      changes,
      asm.loop([
        group,
        this.#advance(),
        add(this.#group, 1),
        this.#form === 'bits' ? [] : add(VALUES, valueBytes(this.#form)),
        [asm.get(this.#group), asm.get(GROUPS), asm.i32.lessThan, asm.branchIf(0)],
      ]),
      sums.map(({ next, address }) => [asm.i32.const(0), asm.get(next), asm.f64.store(address)]),
    ]);
  }

  #clearBits(): Code {
    const { bullish, signsBytes } = this.#layout;
    return Array.from({ length: signsBytes / VECTOR_BYTES }, (_, index) => [
      asm.i32.const(bullish),
      this.#constant(ZEROS),
      asm.v128.store(RESULT_MEMORY, index * VECTOR_BYTES),
    ]);
  }

  /** All addresses to the next group. */
  #advance(): Code {
    return [...FIELDS.keys(), this.#change].map((address) => add(address, GROUP_BYTES));
  }

  /** The sums of every mean at the rows of the group: one addition after the other, as TA-Lib adds. */
  #updateSums(): Code {
    const change = this.#scratch;
    return this.means.map((mean) => {
      const { rows, next } = this.#sums.get(sumKey(mean))!;
      const column = this.#changes.findIndex((means) => means.includes(mean));
      return VECTORS.map((vector) => [
        column < 0 ? this.#changeOf(mean, vector) : this.#readChange(column, backOf(mean.of), vector),
        asm.set(change),
        [asm.get(next), asm.f64x2.splat],
        [asm.get(next), asm.get(change), asm.f64x2.extract(0), asm.f64.add, asm.tee(next)],
        [asm.f64x2.replace(1), asm.set(rows[vector])],
        [asm.get(next), asm.get(change), asm.f64x2.extract(1), asm.f64.add, asm.set(next)],
      ]);
    });
  }

  #changeOf({ of, period }: Mean, vector: Vector): Code {
    return [this.#value(of, vector), this.#fresh(aged(of, period), vector), asm.f64x2.sub];
  }

  #readChange(column: number, back: number, vector: Vector): Code {
    const { changes, changesBytes } = this.#layout;
    const address = changes + column * changesBytes + GROUP_BYTES + (2 * vector - back) * NUMBER_BYTES;
    return [asm.get(this.#change), asm.v128.load(KERNEL_MEMORY, address)];
  }

  /** A loop over all groups and the one before them, after which the addresses are as they were. */
  #writeChanges({ of, period }: Mean, column: number): Code {
    const { changes, changesBytes } = this.#layout;
    const now = aged(of, GROUP - backOf(of));
    const bytes = [asm.get(GROUPS), asm.i32.const(1), asm.i32.add, asm.i32.const(GROUP_BYTES), asm.i32.mul];
    return [
      [asm.i32.const(0), asm.set(this.#change)],
      asm.loop([
        VECTORS.map((vector) => [
          asm.get(this.#change),
          [this.#fresh(now, vector), this.#fresh(aged(now, period), vector), asm.f64x2.sub],
          asm.v128.store(KERNEL_MEMORY, changes + column * changesBytes + vector * 2 * NUMBER_BYTES),
        ]),
        this.#advance(),
        [asm.get(this.#change), bytes, asm.i32.lessThan, asm.branchIf(0)],
      ]),
      [...FIELDS.keys(), this.#change].map((address) => [asm.get(address), bytes, asm.i32.sub, asm.set(address)]),
    ];
  }

  /**
   * Writes what is found in the group: of bits, those that are set. What needs no average comes first, and of that what
   * both sides have in common.
   */
  #find(): Code {
    const { when = [], tied } = this.#signs;
    const either = this.#quad();
    const sides = (['bullish', 'bearish'] as const).flatMap((sign): Side[] => {
      const items = this.#signs[sign];
      return items ? [{ sign, items: items.flatMap(itemsOf), mask: this.#quad() }] : [];
    });
    const isAlone = sides.length === 1;
    const shared = [...when.flatMap(itemsOf), ...(isAlone ? sides[0].items : [])];
    const own = isAlone ? [] : sides;
    const cheap = shared.filter(needsNoMean);
    // Sides of one condition each are the two colors: one of them is always there.
    const isEarly = own.some(({ items }) => items.length > 1);
    const isSet = cheap.length > 0;
    const costly = shared.filter(hasMean);
    const code: Code[] = [];
    if (isAlone) {
      code.push(this.#narrow(either, [...cheap, ...costly], false));
    } else {
      if (isSet) code.push(this.#narrow(either, cheap, false), leaveIfEmpty(either));
      if (isEarly) code.push(this.#narrowEarly(either, own, isSet), leaveIfEmpty(either));
      if (costly.length > 0) code.push(this.#narrow(either, costly, isSet || isEarly), leaveIfEmpty(either));
    }
    for (const { items, mask } of own) {
      code.push(isEarly ? and(mask, either) : copy(either, mask));
      code.push(this.#apart(() => this.#narrow(mask, isEarly ? items.filter(hasMean) : items, true)));
    }
    const masks: { -readonly [sign in keyof SignMasks]: Quad } = {};
    for (const { mask, sign } of sides) masks[sign] = isAlone ? either : mask;
    if (tied) {
      const mask = this.#quad();
      code.push(VECTORS.map((at) => [this.#mask(tied, at), asm.set(mask[at])]));
      masks.tied = mask;
    }
    const isAlwaysWritten = isAlone && shared.length === 1;
    return [isAlwaysWritten ? [] : this.#store({}), code, this.#store(masks)];
  }

  /** Writes the signs of the group; bits of none, which are there already. */
  #store(masks: SignMasks): Code {
    if (this.#form !== 'bits') return storeValues(this.#form, masks, VALUES, (code) => this.#constant(code));
    return (['bullish', 'bearish', 'tied'] as const).map((sign) => {
      const mask = masks[sign];
      return mask ? storeBits(mask, this.#group, this.#layout[sign]) : [];
    });
  }

  /** What of the two sides needs no average, each in a mask of its own: `either` is where one of them may hold. */
  #narrowEarly(either: Quad, sides: readonly Side[], isSet: boolean): Code {
    const [one, other] = sides;
    return [
      sides.map(({ items, mask }) => [
        isSet ? copy(either, mask) : [],
        this.#apart(() => this.#narrow(mask, items.filter(needsNoMean), isSet)),
      ]),
      copy(one.mask, either),
      or(either, other.mask),
    ];
  }

  /**
   * mask and each condition, or the first of them; leaves the block when nothing is left, except after the last: such a
   * branch is mispredicted where patterns are frequent, which takes longer than writing the results.
   */
  #narrow(mask: Quad, items: readonly Condition[], isSet: boolean): Code {
    return items.map((item, index) => [
      VECTORS.map((at) => [
        this.#mask(item, at),
        isSet || index > 0 ? [asm.get(mask[at]), asm.v128.and] : [],
        asm.set(mask[at]),
      ]),
      index < items.length - 1 ? leaveIfEmpty(mask) : [],
    ]);
  }

  /** Code in a block of its own: what it keeps may be missing behind it. */
  #apart(code: () => Code): Code {
    const written = this.#written;
    this.#written = new Set(written);
    const block = asm.block(code());
    this.#written = written;
    return block;
  }

  #quad(): Quad {
    return [this.#locals.v128(), this.#locals.v128(), this.#locals.v128(), this.#locals.v128()];
  }

  #count(node: Condition | Value): void {
    if (!isValue(node)) return childrenOf(node).forEach((child) => this.#count(child));
    if (node.op === 'field') return;
    const key = keyOf(node);
    const uses = (this.#uses.get(key) ?? 0) + 1;
    this.#uses.set(key, uses);
    // What is kept is computed once, and so is what a sum is made of.
    if (uses === 1 && node.op !== 'mean') for (const child of childrenOf(node)) this.#count(child);
  }

  #mask(condition: Condition, vector: Vector): Code {
    switch (condition.op) {
      case 'gt':
      case 'ge':
        return [this.#value(condition.left, vector), this.#value(condition.right, vector), asm.f64x2[condition.op]];
      case 'all':
      case 'any': {
        const combine = condition.op === 'all' ? asm.v128.and : asm.v128.or;
        return condition.items.map((item, index) => [this.#mask(item, vector), index === 0 ? [] : combine]);
      }
      case 'not':
        return [this.#mask(condition.item, vector), asm.v128.not];
    }
  }

  /** A value of two rows, kept where it is read again. */
  #value(value: Value, vector: Vector): Code {
    const key = keyOf(value);
    if ((this.#uses.get(key) ?? 0) < 2) return this.#fresh(value, vector);
    const quad = this.#kept.get(key) ?? this.#quad();
    this.#kept.set(key, quad);
    if (this.#written.has(`${key} ${vector}`)) return asm.get(quad[vector]);
    this.#written.add(`${key} ${vector}`);
    return [this.#fresh(value, vector), asm.tee(quad[vector])];
  }

  #fresh(value: Value, vector: Vector): Code {
    switch (value.op) {
      case 'field':
        return [
          asm.get(FIELDS.indexOf(value.field)),
          asm.v128.load(COLUMN_MEMORY, BEHIND + (2 * vector - value.back) * NUMBER_BYTES),
        ];
      case 'times':
        return [this.#number(value.factor), this.#value(value.of, vector), asm.f64x2.mul];
      case 'mean': {
        const sums = this.#sums.get(sumKey(value))!.rows[vector];
        const mean = [asm.get(sums), this.#number(value.period), asm.f64x2.div];
        return value.factor === 1 ? mean : [this.#number(value.factor), mean, asm.f64x2.mul];
      }
      default:
        return [this.#value(value.left, vector), this.#value(value.right, vector), OPERATIONS[value.op]];
    }
  }

  #number(value: number): Code {
    return this.#constant([asm.f64.const(value), asm.f64x2.splat]);
  }

  #constant(code: Code): Code {
    const key = JSON.stringify(code);
    const { local } = this.#constants.get(key) ?? { local: this.#locals.v128() };
    this.#constants.set(key, { code, local });
    return asm.get(local);
  }
}

const ZEROS = [asm.i32.const(0), asm.i32x4.splat];
const needsNoMean = (item: Condition): boolean => !hasMean(item);

const add = (local: number, value: number): Code => [asm.get(local), asm.i32.const(value), asm.i32.add, asm.set(local)];
