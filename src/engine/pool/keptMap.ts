// A map with room for so many entries: what was not used for the longest time goes first.

export class KeptMap<Key, Value> {
  readonly capacity: number;
  readonly #entries = new Map<Key, Value>();

  constructor(capacity: number) {
    this.capacity = capacity;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** The value kept for the key, else what `make` gives, kept from now on. A Map iterates in order of insertion, so the first is the oldest. */
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
