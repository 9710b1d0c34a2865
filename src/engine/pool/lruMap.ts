// A map with a bounded number of entries: the least recently used entry is evicted first.

/** What entries beyond the capacity may take together; they are evicted only while all take more. */
interface SpareRoom<Value> {
  readonly bytes: number;
  readonly bytesOf: (value: Value) => number;
}

export class LruMap<Key, Value> {
  readonly capacity: number;
  readonly #spare: SpareRoom<Value> | null;
  readonly #entries = new Map<Key, Value>();
  #bytes = 0;

  /** @param spare absent: there is no room beyond the capacity */
  constructor(capacity: number, spare: SpareRoom<Value> | null = null) {
    this.capacity = capacity;
    this.#spare = spare;
  }

  get size(): number {
    return this.#entries.size;
  }

  /**
   * The value of the key, made by `make` and kept if it is absent. A Map iterates in insertion order, so the first
   * entry is the oldest.
   */
  get(key: Key, make: () => Value): Value {
    const isKnown = this.#entries.has(key);
    const value = isKnown ? this.#entries.get(key)! : make();
    if (isKnown) this.#entries.delete(key);
    else this.#bytes += this.#spare?.bytesOf(value) ?? 0;
    this.#entries.set(key, value);
    while (this.#entries.size > this.capacity && this.#bytes >= (this.#spare?.bytes ?? 0))
      this.delete(this.#entries.keys().next().value!);
    return value;
  }

  delete(key: Key): void {
    const value = this.#entries.get(key);
    if (value !== undefined) this.#bytes -= this.#spare?.bytesOf(value) ?? 0;
    this.#entries.delete(key);
  }
}
