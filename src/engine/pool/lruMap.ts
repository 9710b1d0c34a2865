// A map with a bounded number of entries: the least recently used entry is evicted first.

export class LruMap<Key, Value> {
  readonly capacity: number;
  readonly #entries = new Map<Key, Value>();

  constructor(capacity: number) {
    this.capacity = capacity;
  }

  get size(): number {
    return this.#entries.size;
  }

  /**
   * The value of the key, made by `make` and kept if it is absent. A Map iterates in insertion order, so the first
   * entry is the oldest.
   */
  get(key: Key, make: () => Value): Value {
    const value = this.#entries.has(key) ? this.#entries.get(key)! : make();
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size > this.capacity) this.#entries.delete(this.#entries.keys().next().value!);
    return value;
  }

  delete(key: Key): void {
    this.#entries.delete(key);
  }
}
