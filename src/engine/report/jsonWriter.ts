// JSON with many numbers, piece by piece: texts are collected, and a kernel writes the numbers between them.
import { numbersWithin } from '../kernels/simd/decimals.ts';

/** More numbers than this are rare; their memory is not kept. */
const MOST_KEPT = 8_192;

/** Written to again and again, one text after the other. */
export class JsonWriter {
  #text = '';
  #count = 0;
  #numbers = new Float64Array(512);
  /** Where each number stands in the text. */
  #places = new Uint32Array(512);

  /** A new text. What an error has left of another is forgotten. */
  begin(): this {
    this.#text = '';
    this.#count = 0;
    return this;
  }

  /** JSON as it is. */
  add(json: string): this {
    this.#text += json;
    return this;
  }

  /** A text, and a number behind it; null where it is missing or not finite. */
  number(text: string, value: number | null): this {
    this.#text += text;
    if (this.#count === this.#numbers.length) this.#grow();
    this.#numbers[this.#count] = value ?? NaN;
    this.#places[this.#count++] = this.#text.length;
    return this;
  }

  #grow(): void {
    const [numbers, places] = [this.#numbers, this.#places];
    this.#numbers = new Float64Array(2 * numbers.length);
    this.#numbers.set(numbers);
    this.#places = new Uint32Array(2 * places.length);
    this.#places.set(places);
  }

  /** Everything that was added, in UTF-8. */
  bytes(): Uint8Array {
    const count = this.#count;
    const bytes = numbersWithin(this.#text, this.#places.subarray(0, count), this.#numbers.subarray(0, count));
    this.begin();
    if (count > MOST_KEPT) {
      this.#numbers = new Float64Array(512);
      this.#places = new Uint32Array(512);
    }
    return bytes;
  }
}
