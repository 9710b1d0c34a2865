// Slotted copies: plain objects, lists and maps with param slots somewhere in them, copied with numbers in their place.
// What has no slot in it is shared by all copies, and so are the definitions of indicators and patterns.
import { shortened } from '../../language/grammar/nodeTexts.ts';
import { hasSlots, ParamSlot, SlottedText } from '../../language/canonical/paramSlots.ts';
import { soleSlotOf, type KeptByNumber, type SoleSlot } from './keptByNumber.ts';

/** One member of a copy that differs from its original. */
type Edit =
  | { readonly member: string; readonly from: 'value'; readonly slot: number }
  | { readonly member: string; readonly from: 'copy'; readonly copy: number }
  | { readonly member: string; readonly from: 'text'; readonly text: SlottedText; readonly isShortened: boolean };

interface Original {
  readonly object: object;
  readonly edits: readonly Edit[];
  /** The slot of everything in it. */
  readonly slot: SoleSlot;
  /** Where its copies are kept, if it has a single slot. */
  readonly place: number;
}

/** Members whose texts name slots. Texts for people are shortened once the numbers are in them. */
const TEXTS: ReadonlyMap<string, { readonly isShortened: boolean }> = new Map([
  ['text', { isShortened: true }],
  ['nodeId', { isShortened: true }],
  ['call', { isShortened: false }],
]);

/** Objects without slots, which are their own copies. */
const NONE = -1;

export class SlottedCopies {
  /** The originals, each after those that it contains. */
  readonly #originals: Original[] = [];
  readonly #indexes = new Map<object, number>();
  readonly #kept: KeptByNumber;

  /** @param kept copies with a single slot, which the runs with the same number in it share */
  constructor(kept: KeptByNumber) {
    this.#kept = kept;
  }

  /** @returns whether it has slots, so that it is copied */
  add(object: object): boolean {
    return this.#indexOf(object) !== NONE;
  }

  /** The slot of an object that was added and has slots. */
  slotOf(object: object): SoleSlot {
    return this.#originals[this.#indexes.get(object)!].slot;
  }

  #indexOf(object: object): number {
    const known = this.#indexes.get(object);
    if (known !== undefined) return known;
    const edits = object instanceof Map ? this.#keysOf(object) : this.#editsOf(object);
    const index = edits.length === 0 ? NONE : this.#push(object, edits);
    this.#indexes.set(object, index);
    return index;
  }

  #push(object: object, edits: readonly Edit[]): number {
    const slots = edits.flatMap((edit) => {
      if (edit.from === 'value') return edit.slot;
      return edit.from === 'text' ? edit.text.slots : this.#originals[edit.copy].slot;
    });
    const members = object instanceof Map ? object.size : Object.keys(object).length;
    return this.#originals.push({ object, edits, slot: soleSlotOf(slots), place: this.#kept.addPlace(members) }) - 1;
  }

  #editsOf(object: object): Edit[] {
    const edits: Edit[] = [];
    for (const [member, value] of Object.entries(object) as [string, unknown][]) {
      if (value instanceof ParamSlot) edits.push({ member, from: 'value', slot: value.index });
      else if (typeof value === 'string') {
        const kind = TEXTS.get(member);
        if (kind !== undefined && hasSlots(value))
          edits.push({ member, from: 'text', text: new SlottedText(value), isShortened: kind.isShortened });
      } else if (typeof value === 'object' && value !== null && member !== 'definition') {
        const copy = this.#indexOf(value);
        if (copy !== NONE) edits.push({ member, from: 'copy', copy });
      }
    }
    return edits;
  }

  /** The edits of a map's keys that are objects; an edit names the place of the key. */
  #keysOf(map: ReadonlyMap<object, unknown>): Edit[] {
    return [...map.keys()].flatMap((key, place): Edit[] => {
      const copy = this.#indexOf(key);
      return copy === NONE ? [] : [{ member: String(place), from: 'copy', copy }];
    });
  }

  /** Copies of everything that has slots. */
  bind(values: readonly number[]): BoundCopies {
    const copies: object[] = [];
    for (let at = 0; at < this.#originals.length; at++) {
      const { slot, place } = this.#originals[at];
      if (slot === null) copies.push(copyWith(this.#originals[at], copies, values));
      else {
        let copy = this.#kept.get(place, values[slot]);
        if (copy === undefined) {
          copy = copyWith(this.#originals[at], copies, values);
          this.#kept.set(place, values[slot], copy);
        }
        copies.push(copy);
      }
    }
    return new BoundCopies(this.#indexes, copies);
  }
}

export class BoundCopies {
  readonly #indexes: ReadonlyMap<object, number>;
  readonly #copies: readonly object[];

  constructor(indexes: ReadonlyMap<object, number>, copies: readonly object[]) {
    this.#indexes = indexes;
    this.#copies = copies;
  }

  /** The copy of an object that was added, or that one of those contains. */
  of<T extends object>(original: T): T {
    const index = this.#indexes.get(original) ?? NONE;
    return index === NONE ? original : (this.#copies[index] as T);
  }
}

const copyWith = ({ object, edits }: Original, copies: readonly object[], values: readonly number[]): object =>
  object instanceof Map ? mapWith(object, edits, copies) : objectWith(object, edits, copies, values);

function objectWith(
  original: object,
  edits: readonly Edit[],
  copies: readonly object[],
  values: readonly number[],
): object {
  // Not a spread, which takes five times as long for objects of many kinds.
  const copy = (Array.isArray(original) ? original.slice() : Object.assign({}, original)) as Record<string, unknown>;
  for (const edit of edits) {
    switch (edit.from) {
      case 'value':
        copy[edit.member] = values[edit.slot];
        break;
      case 'copy':
        copy[edit.member] = copies[edit.copy];
        break;
      case 'text': {
        const text = edit.text.with(values);
        copy[edit.member] = edit.isShortened ? shortened(text) : text;
        break;
      }
    }
  }
  return copy;
}

function mapWith(original: ReadonlyMap<object, unknown>, edits: readonly Edit[], copies: readonly object[]): object {
  const keys = [...original.keys()];
  for (const edit of edits) if (edit.from === 'copy') keys[Number(edit.member)] = copies[edit.copy];
  const values = [...original.values()];
  return new Map(keys.map((key, place) => [key, values[place]]));
}
