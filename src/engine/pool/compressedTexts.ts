// Texts that are compressed once: with their numbers apart, the details of a strategy have few texts.
import { LruMap } from './lruMap.ts';

interface Known {
  readonly text: Uint8Array;
  readonly compressed: Uint8Array;
}

/** A text has about eight kilobytes, and a strategy one to ten texts. */
const MAX_TEXTS = 128;
/** Larger ones are rare. */
const MAX_BYTES = 64 << 10;

/** The last texts of a thread. */
export class CompressedTexts {
  readonly #known = new LruMap<string, Known>(MAX_TEXTS);

  /** @param key the same for equal texts, and seldom for others */
  compressed(text: Uint8Array, key: string, compress: (value: Uint8Array) => Uint8Array): Uint8Array {
    if (text.length > MAX_BYTES) return compress(text);
    // Copies: the text is overwritten, and zlib gives a part of a larger buffer.
    const known = this.#known.get(key, () => ({
      text: Uint8Array.from(text),
      compressed: Uint8Array.from(compress(text)),
    }));
    return Buffer.compare(known.text, text) === 0 ? known.compressed : compress(text);
  }
}
