// A column that one call after the other writes to, because a fresh page costs more than writing to it.

/** Longer columns are not kept: 2 MiB, for each of the few that a thread has. */
const MOST_CELLS = 256 * 1024;

export class ReusedColumn {
  #cells = new Float64Array(0);

  /** A column with undefined contents, valid until the next call. */
  take(length: number): Float64Array {
    if (length > MOST_CELLS) return new Float64Array(length);
    // Half as many more, since runs of about the same length follow each other.
    if (this.#cells.length < length) this.#cells = new Float64Array(Math.min(MOST_CELLS, length + (length >> 1)));
    return this.#cells.subarray(0, length);
  }
}
