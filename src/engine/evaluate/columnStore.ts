// The column store: computed columns, kept for the next run on the same bars, and buffers that can be reused.
import type { ConditionColumn, ValueColumn } from '../kernels/column.ts';

export type Column = ValueColumn | ConditionColumn;

/** The key, the column's objects and the buffers behind its arrays: of a short column they are more than its values. */
const BYTES_PER_COLUMN = 2_000;
const bytesOf = (column: Column): number =>
  BYTES_PER_COLUMN +
  ('values' in column ? column.values.byteLength : column.isTrue.byteLength + column.isUnknown.byteLength);

/** Names of sets of bars that are kept; beyond them all are forgotten, and sets that come again get new names. */
const MAX_NAMES = 1_000;

/**
 * One per worker thread. A key names the whole sub-expression and its bars (including snapshot hashes), so equal keys
 * are equal columns: the runs of a batch, the variants of a sweep and later backtests share them. `trim` is only called
 * between runs: during a run, no column that was handed out is overwritten.
 */
export class ColumnStore {
  readonly #columns = new Map<string, Column>();
  readonly #free = new Map<number, Float64Array[]>();
  readonly #names = new Map<string, string>();
  #nextName = 0;
  #maxBytes: number;
  #bytes = 0;
  #freeBytes = 0;

  /** @param maxBytes the most that is kept between runs; free buffers may take as much again. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Holds from the next `trim` on. */
  limit(maxBytes: number): void {
    this.#maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** What stands for a text at the beginning of keys, which are read several times in every run. */
  shortNameOf(text: string): string {
    let name = this.#names.get(text);
    if (name === undefined) {
      if (this.#names.size === MAX_NAMES) this.#names.clear();
      // No name is given twice: a key never means two columns.
      this.#names.set(text, (name = String(this.#nextName++)));
    }
    return name;
  }

  get(key: string): Column | undefined {
    const column = this.#columns.get(key);
    if (column !== undefined) {
      // A Map iterates in insertion order: the column read last moves to the end.
      this.#columns.delete(key);
      this.#columns.set(key, column);
    }
    return column;
  }

  set(key: string, column: Column): void {
    this.#columns.set(key, column);
    this.#bytes += bytesOf(column);
  }

  /**
   * A buffer with undefined contents. Fresh memory costs about 2 ns per row in page faults, a reused buffer nothing.
   */
  allocate(length: number): Float64Array {
    const buffer = this.#free.get(length)?.pop();
    if (buffer === undefined) return new Float64Array(length);
    this.#freeBytes -= buffer.byteLength;
    return buffer;
  }

  /** Drops the least recently read columns until the rest fits. */
  trim(): void {
    for (const [key, column] of this.#columns) {
      if (this.#bytes <= this.#maxBytes) return;
      this.#columns.delete(key);
      this.#bytes -= bytesOf(column);
      if ('values' in column) this.#release(column.values);
    }
  }

  /** Gives all memory back: before work that reads no columns, and needs memory itself. */
  clear(): void {
    this.#columns.clear();
    this.#free.clear();
    this.#bytes = 0;
    this.#freeBytes = 0;
  }

  #release(values: Float64Array): void {
    // A view of shared bars, or a part of a larger buffer, must not be overwritten.
    const isOurs = values.buffer instanceof ArrayBuffer && values.byteLength === values.buffer.byteLength;
    if (!isOurs || this.#freeBytes + values.byteLength > this.#maxBytes) return;
    const list = this.#free.get(values.length);
    if (list) list.push(values);
    else this.#free.set(values.length, [values]);
    this.#freeBytes += values.byteLength;
  }
}
