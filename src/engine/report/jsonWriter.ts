// JSON with many numbers, piece by piece: texts that are written often are kept as bytes, and a kernel writes the
// numbers between them.
import { newBytes } from '../kernels/sharedBuffer.ts';
import { keptText, NO_NUMBER, numbersWithin, TEXTS_AT, WrittenText } from '../kernels/simd/decimals.ts';

export type { WrittenText };

/** A part of a text; bytes are UTF-8. */
export type JsonPiece = string | Uint8Array;

/** Longer lists are rare; their memory is not kept. */
const MOST_KEPT = 16_384;

/** JSON that is the same in all results, kept for good. */
export const constantJson = (json: string): WrittenText => keptText(json);

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
    const texts = this.#texts.subarray(0, this.#textsLength);
    const places = this.#places.subarray(0, this.#placesLength);
    const written = numbersWithin(texts, places, this.#numbers.subarray(0, this.#numberCount), this.#length);
    const bytes = newBytes(written.length);
    bytes.set(written);
    this.begin();
    if (this.#texts.length > 8 * MOST_KEPT) this.#texts = Buffer.alloc(4_096);
    if (this.#places.length > MOST_KEPT) this.#places = new Uint32Array(2_048);
    if (this.#numbers.length > MOST_KEPT) this.#numbers = new Float64Array(512);
    return bytes;
  }
}
