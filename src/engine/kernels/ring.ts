// A ring: the latest values of a series that grows by one value at a time.

/** Room of a new ring, which grows as values are recorded: few positions last as long as the longest window. */
const FIRST_VALUES = 16;

/** The latest values; NaN before the first one recorded. */
export class Ring {
  readonly #size: number;
  #values: Float64Array;
  #count = 0;
  constructor(size: number) {
    this.#size = size;
    this.#values = new Float64Array(Math.min(size, FIRST_VALUES));
  }
  push(value: number): void {
    const at = this.#count++ % this.#size;
    if (at === this.#values.length) {
      const grown = new Float64Array(Math.min(this.#size, 2 * at));
      grown.set(this.#values);
      this.#values = grown;
    }
    this.#values[at] = value;
  }
  ago(bars: number): number {
    return bars < this.#count ? this.#values[(this.#count - 1 - bars) % this.#size] : NaN;
  }
  get isFull(): boolean {
    return this.#count >= this.#size;
  }
  /** The values of a full ring, oldest first. */
  toArray(): Float64Array {
    const oldest = this.#count % this.#size;
    const values = new Float64Array(this.#size);
    values.set(this.#values.subarray(oldest));
    values.set(this.#values.subarray(0, oldest), this.#size - oldest);
    return values;
  }
}
