// Patterns as a program: the conditions of one or several patterns, each computed once, a block of rows at a time. A
// condition about candles further back is the same condition, read as many rows later.
import { wordCount } from '../kernels/bits.ts';
import { simdMemory } from '../kernels/simdMemory.ts';
import type { Condition, Field, PriceColumns, Value } from './candles.ts';
import { encodeSteps, FREE, KEPT_BYTES, runSteps, type ProgramStep } from './programSteps.ts';

/** Rows of a block. A pattern has about ten columns, which stay in the nearest cache at this size. */
const BLOCK = 512;
/** What a slot holds: the last rows of the block before, then a block of numbers, or of bits. */
const SLOT_BYTES = KEPT_BYTES + BLOCK * 8;
const NUMBER_BYTES = 8;
const BLOCK_BITS_BYTES = BLOCK / 8;

/** The result of a step, read so many rows later. */
interface Place {
  readonly slot: number;
  readonly back: number;
}

const VALUE_OPERATIONS = {
  plus: 'add',
  minus: 'subtract',
  distance: 'distance',
  max: 'larger',
  min: 'smaller',
} as const;

/** The steps of some patterns. Equal sub-expressions, at whatever distance, are one step. */
export class PatternProgram {
  /** What means are made of, the means, and the rest, so that means can be computed together. */
  readonly #steps: readonly [parts: ProgramStep[], means: ProgramStep[], rest: ProgramStep[]] = [[], [], []];
  /** The last rows of each slot move in front of it, when the block is done. */
  readonly #keeps: ProgramStep[] = [];
  readonly #fields: { readonly field: Field; readonly slot: number }[] = [];
  readonly #slots = new Map<string, number>();
  readonly #outputs: Place[] = [];
  /** Where in `#steps` the steps of each slot are. */
  readonly #phases: number[] = [];
  #slotCount = 0;
  /** The steps as the kernels read them, made when they first run. */
  #encoded: Uint8Array | null = null;

  /** How many steps compute a block, for tests that count what patterns share. */
  get stepCount(): number {
    return this.#steps.reduce((sum, steps) => sum + steps.length, 0);
  }

  /**
   * @param lookback the first row on which the condition is read: the averages of its candles start there
   * @returns the index of the condition, for `wordOf`
   */
  add(condition: Condition, lookback: number): number {
    this.#encoded = null;
    return this.#outputs.push(this.#condition(condition, lookback)) - 1;
  }

  /**
   * Computes one block of rows after the other. After each, `read` gets the first row of the block, the row after its
   * last, and the memory from which `wordOf` reads; rows before a condition's lookback are undefined.
   */
  run(columns: PriceColumns, read: (start: number, end: number, words: Uint32Array) => void): void {
    const n = columns.open.length;
    const [parts, means, rest] = this.#steps;
    const steps = (this.#encoded ??= encodeSteps([...parts, ...inTwos(means), ...rest, ...this.#keeps]));
    const first = addressOf(this.#slotCount) - KEPT_BYTES;
    const { bytes, values, words } = simdMemory(first + steps.length);
    bytes.set(steps, first);
    for (let start = 0; start < n; start += BLOCK) {
      const end = Math.min(n, start + BLOCK);
      for (let index = 0; index < this.#fields.length; index++) {
        const { field, slot } = this.#fields[index];
        values.set(columns[field].subarray(start, end), addressOf(slot) / NUMBER_BYTES);
      }
      const count = wordCount(end - start);
      runSteps(first, first + steps.length, count * 32 * NUMBER_BYTES, count * 4);
      read(start, end, words);
    }
  }

  /** The bits of 32 rows of a condition: those of word `index` of the block. */
  wordOf(condition: number, words: Uint32Array, index: number): number {
    const { slot, back } = this.#outputs[condition];
    const at = addressOf(slot) / 4 + index;
    // The word before holds the older rows.
    return back === 0 ? words[at] : (words[at] << back) | (words[at - 1] >>> (32 - back));
  }

  #condition(condition: Condition, lookback: number): Place {
    switch (condition.op) {
      case 'gt':
      case 'ge': {
        const { back, left, right } = this.#pair(condition, lookback);
        const slot = this.#slot(BLOCK_BITS_BYTES, [left.slot, right.slot], {
          op: condition.op === 'gt' ? 'greater' : 'atLeast',
          a: valueAddress(left),
          b: valueAddress(right),
        });
        return { slot, back };
      }
      case 'all':
      case 'any': {
        const places = condition.items.map((item) => this.#condition(item, lookback));
        if (places.length === 1) return places[0];
        const back = Math.min(...places.map((place) => place.back));
        const items = places.map((place) => ({ a: addressOf(place.slot), b: place.back - back }));
        const reads = places.map((place) => place.slot);
        const op = condition.op === 'all' ? 'and' : 'or';
        const steps = items.map((item, index) => ({ op: index === 0 ? 'copy' : op, ...item }) as const);
        return { slot: this.#slot(BLOCK_BITS_BYTES, reads, ...steps), back };
      }
      case 'not': {
        const { slot, back } = this.#condition(condition.item, lookback);
        return { slot: this.#slot(BLOCK_BITS_BYTES, [slot], { op: 'not', a: addressOf(slot) }), back };
      }
    }
  }

  #value(value: Value, lookback: number): Place {
    switch (value.op) {
      case 'field':
        return { slot: this.#field(value.field), back: value.back };
      case 'times': {
        const { slot, back } = this.#value(value.of, lookback);
        const step = { op: 'scale', a: addressOf(slot), factor: value.factor } as const;
        return { slot: this.#slot(BLOCK * NUMBER_BYTES, [slot], step), back };
      }
      case 'mean': {
        const { slot, back } = this.#value(value.of, lookback);
        const { period, factor } = value;
        const skip = (lookback - back) * NUMBER_BYTES;
        const step = { op: 'meanBefore', a: addressOf(slot), period, factor, skip } as const;
        return { slot: this.#slot(BLOCK * NUMBER_BYTES, [slot], step), back };
      }
      default: {
        const { back, left, right } = this.#pair(value, lookback);
        const step = { op: VALUE_OPERATIONS[value.op], a: valueAddress(left), b: valueAddress(right) };
        return { slot: this.#slot(BLOCK * NUMBER_BYTES, [left.slot, right.slot], step), back };
      }
    }
  }

  /** Two values relative to the later of them. */
  #pair(
    { left, right }: { readonly left: Value; readonly right: Value },
    lookback: number,
  ): { back: number; left: Place; right: Place } {
    const [one, other] = [this.#value(left, lookback), this.#value(right, lookback)];
    const back = Math.min(one.back, other.back);
    return {
      back,
      left: { slot: one.slot, back: one.back - back },
      right: { slot: other.slot, back: other.back - back },
    };
  }

  #field(field: Field): number {
    const known = this.#slots.get(field);
    if (known !== undefined) return known;
    const slot = this.#newSlot(field, BLOCK * NUMBER_BYTES);
    this.#fields.push({ field, slot });
    return slot;
  }

  /** The slot that these steps write, one after the other; of equal steps there is one. */
  #slot(blockBytes: number, reads: readonly number[], ...steps: readonly Omit<ProgramStep, 'out'>[]): number {
    const key = JSON.stringify(steps);
    const known = this.#slots.get(key);
    if (known !== undefined) return known;
    const slot = this.#newSlot(key, blockBytes);
    const phase = steps[0].op === 'meanBefore' ? 1 : reads.some((read) => this.#phases[read] > 0) ? 2 : 0;
    this.#phases[slot] = phase;
    for (const step of steps) this.#steps[phase].push({ ...step, out: addressOf(slot) });
    return slot;
  }

  #newSlot(key: string, blockBytes: number): number {
    const slot = this.#slotCount++;
    this.#slots.set(key, slot);
    this.#phases[slot] = 0;
    this.#keeps.push({ op: 'keep', a: addressOf(slot), b: blockBytes });
    return slot;
  }
}

/** Means two at a time, and the last alone. */
const inTwos = (means: readonly ProgramStep[]): ProgramStep[] =>
  means.map((mean, index) => (index % 2 === 0 && index + 1 < means.length ? { ...mean, op: 'twoMeans' } : mean));

/** Where the block of a slot is in the memory of the kernels. */
const addressOf = (slot: number): number => FREE + slot * SLOT_BYTES + KEPT_BYTES;
const valueAddress = ({ slot, back }: Place): number => addressOf(slot) - back * NUMBER_BYTES;
