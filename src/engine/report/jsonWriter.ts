// JSON with many numbers, piece by piece: texts are collected, and a kernel writes the numbers between them.
import { numbersBetweenOnce } from '../kernels/simd/decimals.ts';

export class JsonWriter {
  readonly #texts: string[] = [];
  readonly #numbers: number[] = [];
  /** Since the last number. */
  #text = '';

  /** JSON as it is. */
  add(json: string): this {
    this.#text += json;
    return this;
  }

  /** A text, and a number behind it; null where it is missing or not finite. */
  number(text: string, value: number | null): this {
    this.#texts.push(this.#text + text);
    this.#numbers.push(value ?? NaN);
    this.#text = '';
    return this;
  }

  /** Everything that was added, in UTF-8. */
  bytes(): Uint8Array {
    return numbersBetweenOnce([...this.#texts, this.#text], this.#numbers);
  }
}
