// The column store: columns that were computed, kept for the next run on the same bars, and buffers that can be written again.
import type { ConditionColumn, ValueColumn } from './column.ts';

export type Column = ValueColumn | ConditionColumn;

const bytesOf = (column: Column): number =>
  'values' in column ? column.values.byteLength : column.isTrue.byteLength + column.isUnknown.byteLength;

/**
 * One a worker. A key names the whole sub-expression and its bars (snapshot hashes included), so equal keys are equal columns: runs of
 * a batch, variants of a sweep and later backtests share them. `trim` is called between runs only; while a run lasts, nothing it was
 * given is written again.
 */
export class ColumnStore {
  readonly #columns = new Map<string, Column>();
  readonly #free = new Map<number, Float64Array[]>();
  readonly #maxBytes: number;
  #bytes = 0;
  #freeBytes = 0;

  /** @param maxBytes what is kept between runs; buffers waiting to be reused take at most as much again. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get(key: string): Column | undefined {
    const column = this.#columns.get(key);
    if (column !== undefined) {
      // A Map iterates in insertion order: what was read last goes last.
      this.#columns.delete(key);
      this.#columns.set(key, column);
    }
    return column;
  }

  set(key: string, column: Column): void {
    this.#columns.set(key, column);
    this.#bytes += bytesOf(column);
  }

  /** A buffer of that many numbers with whatever was last in it. Fresh memory costs about 2 ns a row in page faults; a used one nothing. */
  allocate(length: number): Float64Array {
    const buffer = this.#free.get(length)?.pop();
    if (buffer === undefined) return new Float64Array(length);
    this.#freeBytes -= buffer.byteLength;
    return buffer;
  }

  /** Drops the columns read longest ago until the rest fits. */
  trim(): void {
    for (const [key, column] of this.#columns) {
      if (this.#bytes <= this.#maxBytes) return;
      this.#columns.delete(key);
      this.#bytes -= bytesOf(column);
      if ('values' in column) this.#release(column.values);
    }
  }

  #release(values: Float64Array): void {
    // A view on shared bars, or a part of a larger buffer, is not ours to write on.
    const isOurs = values.buffer instanceof ArrayBuffer && values.byteLength === values.buffer.byteLength;
    if (!isOurs || this.#freeBytes + values.byteLength > this.#maxBytes) return;
    const list = this.#free.get(values.length);
    if (list) list.push(values);
    else this.#free.set(values.length, [values]);
    this.#freeBytes += values.byteLength;
  }
}
