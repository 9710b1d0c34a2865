// Param slots: what stands in a prepared strategy where the number of a param will, so that it can be planned once for
// every value.
import { writtenKind } from '../../definitions/expressions/expressionRegistry.ts';
import { isExpression } from '../grammar/shapes.ts';

/** Characters for private use, which no strategy that has slots may contain. */
const OPEN = '\uE000';
const CLOSE = '\uE001';
/** A slot in a text, with the quotes that JSON puts around it. */
const IN_TEXT = new RegExp(`"?${OPEN}(\\d+)${CLOSE}"?`);

/** Whether a text contains the beginning of a slot. */
export const hasSlots = (text: string): boolean => text.includes(OPEN);

/** Stands for a number, as its type claims. Texts and keys that are made of it contain its name. */
export class ParamSlot {
  readonly name: string;
  readonly index: number;

  constructor(name: string, index: number) {
    this.name = name;
    this.index = index;
  }

  toString(): string {
    return `${OPEN}${this.index}${CLOSE}`;
  }

  toJSON(): string {
    return this.toString();
  }
}

/** Thrown where the form of a plan depends on what a param stands for. */
export class ParamValueNeeded extends Error {
  override readonly name = 'ParamValueNeeded';
  readonly params: readonly string[];

  constructor(slots: readonly ParamSlot[]) {
    super('The form of the plan depends on the value of a param.');
    this.params = slots.map((slot) => slot.name);
  }
}

/** A text with slots in it: the pieces between them, and which slot follows each piece. */
export class SlottedText {
  readonly #pieces: readonly string[];
  readonly slots: readonly number[];

  constructor(text: string) {
    const parts = text.split(IN_TEXT);
    this.#pieces = parts.filter((_, at) => at % 2 === 0);
    this.slots = parts.filter((_, at) => at % 2 === 1).map(Number);
  }

  with(values: readonly number[]): string {
    let text = this.#pieces[0];
    for (let at = 0; at < this.slots.length; at++) text += values[this.slots[at]] + this.#pieces[at + 1];
    return text;
  }
}

/** Members on which the form or the text of an expression depends: folded shifts, and what is left out when it is 0. */
const FORMING: ReadonlySet<string | number> = new Set(['offset', 'within', 'tolerance', 'occurrence']);

interface Place {
  readonly slot: ParamSlot;
  readonly fits: (value: number) => boolean;
}

/** The slots of one strategy, and the places they stand in. */
export class ParamSlots {
  readonly #slots = new Map<string, ParamSlot>();
  readonly #needed: Set<string>;
  readonly #places: Place[] = [];

  /**
   * @param names the params that are numbers
   * @param needed those of them whose values decide the form; more are added as they are found
   */
  constructor(names: readonly string[], needed: Set<string>) {
    for (const name of names) if (!needed.has(name)) this.#slots.set(name, new ParamSlot(name, this.#slots.size));
    this.#needed = needed;
  }

  /** What the slots stand for in a run, by their indexes. */
  numbersOf(values: ReadonlyMap<string, number | boolean | string>): number[] {
    const numbers: number[] = [];
    for (const name of this.#slots.keys()) numbers.push(Number(values.get(name)));
    return numbers;
  }

  /** The slot of a param at a member of an expression or section; undefined: its value is needed there. */
  at(
    name: string,
    owner: object,
    member: string | number | undefined,
    fits: (value: number) => boolean,
  ): ParamSlot | undefined {
    const slot = this.#slots.get(name);
    if (slot === undefined) return undefined;
    if (isForming(owner, member)) {
      this.#needed.add(name);
      return undefined;
    }
    this.#places.push({ slot, fits });
    return slot;
  }

  /** Whether every value may stand in every place of its param. */
  fit(values: readonly number[]): boolean {
    return this.#places.every(({ slot, fits }) => fits(values[slot.index]));
  }
}

/** Whether the form depends on a member of an expression or section. */
function isForming(owner: object, member: string | number | undefined): boolean {
  if (member === undefined || FORMING.has(member)) return true;
  return isExpression(owner) && writtenKind(owner).isForming?.(owner, member) === true;
}
