// From the conditions of one pattern to the instructions of its kernel: a loop over groups of eight rows, in four
// vectors of two, that leaves a group as soon as no row of it can hold.
import { asm, KERNEL_MEMORY, Locals, RESULT_MEMORY, type Code } from '../kernels/simd/assembler.ts';
import type { Condition } from './candles.ts';
import { ConditionCode, FIELDS } from './conditionCode.ts';
import { aged, backOf, hasMean, itemsOf, keyOf, meansOf, sumKey, type Mean } from './traversal.ts';
import { and, copy, GROUP, leaveIfEmpty, newQuad, or, VECTORS, type Quad, type Vector } from './groups.ts';
import { storeBits, storeValues, valueBytes, type ResultForm, type SignMasks } from './patternResults.ts';
import type { PatternSigns } from './signs.ts';

const NUMBER_BYTES = 8;
const GROUP_BYTES = GROUP * NUMBER_BYTES;
const VECTOR_BYTES = 16;

/** The addresses of what a kernel writes and keeps. */
export interface KernelLayout {
  /** Bits of rows on which the pattern is bullish, bearish, and tied. */
  readonly bullish: number;
  readonly bearish: number;
  readonly tied: number;
  /** Bytes of all three, which begin with the first. */
  readonly signsBytes: number;
  /** The running sums, in the order of `means`. */
  readonly sums: number;
  /** A column of a block for each entry of `changes`, with a group in front of it. */
  readonly changes: number;
  readonly changesBytes: number;
}

/** The next parameter: how many groups. */
const GROUPS = FIELDS.length;
/** The last one: where the values of the first group are written, if they are. */
const VALUES = GROUPS + 1;

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
  readonly #conditions = new ConditionCode(this.#locals, (mean) => this.#sums.get(sumKey(mean))!.rows);
  /** The sums at the rows of a group, and at the row after it. */
  readonly #sums = new Map<string, { readonly rows: Quad; readonly next: number }>();
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
    for (const condition of all) this.#conditions.count(condition);
    for (const mean of this.means) {
      this.#sums.set(sumKey(mean), { rows: newQuad(this.#locals), next: this.#locals.f64() });
      if (!this.#changes.flat().includes(mean)) this.#conditions.count(mean.of);
    }
  }

  get keepsChanges(): boolean {
    return this.#changes.length > 0;
  }

  module(): Uint8Array {
    const cleared = this.#form === 'bits' ? this.#clearBits() : [];
    const group = asm.block([this.#updateSums(), this.#find()]);
    const changes = this.#changes.map((means, index) => this.#writeChanges(means[0], index));
    const constants = this.#conditions.constants();
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
      this.#conditions.constant(ZEROS),
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
    return [this.#conditions.value(of, vector), this.#conditions.fresh(aged(of, period), vector), asm.f64x2.sub];
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
          [this.#conditions.fresh(now, vector), this.#conditions.fresh(aged(now, period), vector), asm.f64x2.sub],
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
    const either = newQuad(this.#locals);
    const sides = (['bullish', 'bearish'] as const).flatMap((sign): Side[] => {
      const items = this.#signs[sign];
      return items ? [{ sign, items: items.flatMap(itemsOf), mask: newQuad(this.#locals) }] : [];
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
      code.push(this.#conditions.apart(() => this.#narrow(mask, isEarly ? items.filter(hasMean) : items, true)));
    }
    const masks: { -readonly [sign in keyof SignMasks]: Quad } = {};
    for (const { mask, sign } of sides) masks[sign] = isAlone ? either : mask;
    if (tied) {
      const mask = newQuad(this.#locals);
      code.push(VECTORS.map((at) => [this.#conditions.mask(tied, at), asm.set(mask[at])]));
      masks.tied = mask;
    }
    const isAlwaysWritten = isAlone && shared.length === 1;
    return [isAlwaysWritten ? [] : this.#store({}), code, this.#store(masks)];
  }

  /** Writes the signs of the group; bits of none, which are there already. */
  #store(masks: SignMasks): Code {
    if (this.#form !== 'bits') return storeValues(this.#form, masks, VALUES, (code) => this.#conditions.constant(code));
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
        this.#conditions.apart(() => this.#narrow(mask, items.filter(needsNoMean), isSet)),
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
        this.#conditions.mask(item, at),
        isSet || index > 0 ? [asm.get(mask[at]), asm.v128.and] : [],
        asm.set(mask[at]),
      ]),
      index < items.length - 1 ? leaveIfEmpty(mask) : [],
    ]);
  }
}

const ZEROS = [asm.i32.const(0), asm.i32x4.splat];
const needsNoMean = (item: Condition): boolean => !hasMean(item);

const add = (local: number, value: number): Code => [asm.get(local), asm.i32.const(value), asm.i32.add, asm.set(local)];
