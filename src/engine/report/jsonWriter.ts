// JSON with many numbers, piece by piece: texts that are written often are kept as bytes.
import { Accelerator } from '../kernels/accelerator.ts';
import { newBytes } from '../kernels/sharedBuffer.ts';

/** A part of a text; bytes are UTF-8. */
export type JsonPiece = string | Uint8Array;

/** Longer lists are rare; their memory is not kept. */
const MOST_KEPT = 16_384;

/** Where a text begins and ends: kept texts from KEPT_AT on, those of one JSON text from TEXTS_AT on. */
export class WrittenText {
  readonly from: number;
  readonly end: number;

  constructor(from: number, end: number) {
    this.from = from;
    this.end = end;
  }
}
/** What lies before is the accelerator's. */
export const KEPT_AT = 9_872;
export const TEXTS_AT = 2 ** 15;
/** A flag in the place where a text begins: no number follows it. */
export const NO_NUMBER = 0x8000_0000;

/** Everything that makes up one JSON text. */
export interface JsonPieces {
  /** The kept texts, at their addresses. */
  readonly kept: Uint8Array;
  /** The other texts, from TEXTS_AT on. */
  readonly texts: Uint8Array;
  /** Where each text begins and ends, with NO_NUMBER where no number follows it. */
  readonly places: Uint32Array;
  readonly values: Float64Array;
  /** The bytes of all texts, each counted as often as it is written. */
  readonly length: number;
}

/** Writes the texts, each followed by its number, in UTF-8; the bytes are valid until the next call. */
export const DECIMALS = new Accelerator<(pieces: JsonPieces) => Uint8Array>();

const keptTexts = Buffer.alloc(TEXTS_AT);
let keptEnd = KEPT_AT;

/** JSON that is the same in all results, kept for good: there is no room for texts that depend on a run. */
export function constantJson(json: string): WrittenText {
  const from = keptEnd;
  if (from + Buffer.byteLength(json) > TEXTS_AT) throw new Error('There is no room for another text.');
  keptEnd += keptTexts.write(json, from);
  return new WrittenText(from, keptEnd);
}

/** The longest number that JSON.stringify writes has 25 characters. */
const NUMBER_BYTES = 25;

/** Writes the texts, each followed by its number: null where that is not finite. */
export function writePieces({ kept, texts, places, values, length }: JsonPieces): Uint8Array {
  const out = Buffer.alloc(length + NUMBER_BYTES * values.length);
  let end = 0;
  let number = 0;
  for (let at = 0; at < places.length; at += 2) {
    const from = places[at] & ~NO_NUMBER;
    const [source, shift] = from < TEXTS_AT ? [kept, 0] : [texts, TEXTS_AT];
    const text = source.subarray(from - shift, places[at + 1] - shift);
    out.set(text, end);
    end += text.length;
    if (places[at] < NO_NUMBER) end += out.write(JSON.stringify(values[number++]), end);
  }
  return out.subarray(0, end);
}

const [NOTHING, COMMA, OPENING, CLOSING, LIST_OPENING, LIST_CLOSING] = ['', ',', '{', '}', '[', ']'].map(constantJson);
/** The names of members as they are written: of the first of an object, and of those after it. */
const FIRST_NAMES = new Map<string, WrittenText>();
const NEXT_NAMES = new Map<string, WrittenText>();

function keepName(names: Map<string, WrittenText>, name: string): WrittenText {
  const text = constantJson(`${names === FIRST_NAMES ? '' : ','}${JSON.stringify(name)}:`);
  names.set(name, text);
  return text;
}

/** Writes one text after the other, with the same buffers. */
export class JsonWriter {
  #texts = Buffer.alloc(4_096);
  #textsLength = 0;
  /** Where the text of each piece begins and ends. */
  #places = new Uint32Array(2_048);
  #placesLength = 0;
  #numbers = new Float64Array(512);
  #numberCount = 0;
  #length = 0;

  /** Begins a new text, and drops what an error may have left of another. */
  begin(): this {
    this.#textsLength = 0;
    this.#placesLength = 0;
    this.#numberCount = 0;
    this.#length = 0;
    return this;
  }

  /** A piece of JSON for the current text, which may be added to it any number of times. */
  text(json: string): WrittenText {
    const from = this.#textsLength;
    // A character takes three bytes at most.
    while (from + 3 * json.length > this.#texts.length) this.#texts = Buffer.concat([this.#texts, this.#texts]);
    this.#textsLength += this.#texts.write(json, from);
    return new WrittenText(TEXTS_AT + from, TEXTS_AT + this.#textsLength);
  }

  add(json: WrittenText): this {
    return this.#add(json, NO_NUMBER);
  }

  /** Adds a piece of JSON that occurs only once. */
  addText(json: string): this {
    return this.#add(this.text(json), NO_NUMBER);
  }

  /** Adds a piece and a number after it; a number that is missing or not finite is written as null. */
  number(json: WrittenText, value: number | null): this {
    if (this.#numberCount === this.#numbers.length) {
      const numbers = new Float64Array(2 * this.#numbers.length);
      numbers.set(this.#numbers);
      this.#numbers = numbers;
    }
    this.#numbers[this.#numberCount++] = value ?? NaN;
    return this.#add(json, 0);
  }

  /** Adds a value as JSON.stringify writes it; see `members`. */
  value(value: unknown): this {
    if (value === null || typeof value === 'number') return this.number(NOTHING, value);
    if (typeof value !== 'object') return this.addText(JSON.stringify(value));
    if (!Array.isArray(value)) return this.add(OPENING).members(value).add(CLOSING);
    this.add(LIST_OPENING);
    for (let index = 0; index < value.length; index++) {
      if (index > 0) this.add(COMMA);
      this.value(value[index]);
    }
    return this.add(LIST_CLOSING);
  }

  /**
   * Adds the members of an object, without its braces. Their names are kept for good, so they must not depend on a
   * strategy.
   */
  members(object: object): this {
    const members = object as Readonly<Record<string, unknown>>;
    let names = FIRST_NAMES;
    for (const name in members) {
      const value = members[name];
      const text = names.get(name) ?? keepName(names, name);
      names = NEXT_NAMES;
      if (value === null || typeof value === 'number') this.number(text, value);
      else this.add(text).value(value);
    }
    return this;
  }

  #add({ from, end }: WrittenText, flag: number): this {
    if (this.#placesLength === this.#places.length) {
      const places = new Uint32Array(2 * this.#places.length);
      places.set(this.#places);
      this.#places = places;
    }
    this.#places[this.#placesLength++] = from | flag;
    this.#places[this.#placesLength++] = end;
    this.#length += end - from;
    return this;
  }

  /** The whole text in UTF-8. */
  bytes(): Uint8Array {
    const written = (DECIMALS.current ?? writePieces)({
      kept: keptTexts.subarray(0, keptEnd),
      texts: this.#texts.subarray(0, this.#textsLength),
      places: this.#places.subarray(0, this.#placesLength),
      values: this.#numbers.subarray(0, this.#numberCount),
      length: this.#length,
    });
    const bytes = newBytes(written.length);
    bytes.set(written);
    this.begin();
    if (this.#texts.length > 8 * MOST_KEPT) this.#texts = Buffer.alloc(4_096);
    if (this.#places.length > MOST_KEPT) this.#places = new Uint32Array(2_048);
    if (this.#numbers.length > MOST_KEPT) this.#numbers = new Float64Array(512);
    return bytes;
  }
}
