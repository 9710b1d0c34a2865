// Texts that are compressed only once: without their numbers, the details of a strategy have few different texts.
import { LruMap } from './lruMap.ts';

interface Known {
  readonly text: Uint8Array;
  readonly compressed: Uint8Array;
}

/** A text is about eight kilobytes, and a strategy has one to ten of them. */
const MAX_TEXTS = 128;
/** Larger texts are rare and are not kept. */
const MAX_BYTES = 64 << 10;

/** The most recent texts of a thread. */
export class CompressedTexts {
  readonly #known = new LruMap<string, Known>(MAX_TEXTS);

  /** @param key the same for equal texts, and rarely the same for different ones */
  compressed(text: Uint8Array, key: string, compress: (value: Uint8Array) => Uint8Array): Uint8Array {
    if (text.length > MAX_BYTES) return compress(text);
    // Copies, because the caller overwrites the text and zlib returns a part of a larger buffer.
    const known = this.#known.get(key, () => ({
      text: Uint8Array.from(text),
      compressed: Uint8Array.from(compress(text)),
    }));
    return Buffer.compare(known.text, text) === 0 ? known.compressed : compress(text);
  }
}
