// The column store: computed columns, kept for the next run on the same bars, and buffers that can be reused.
import type { ConditionColumn, ValueColumn } from '../kernels/column.ts';
import { newColumn, ownsBuffer } from '../kernels/ownedColumns.ts';

type Column = ValueColumn | ConditionColumn;

/**
 * What a column takes besides its values: its key, its objects and the buffers behind its arrays. For a short column
 * this is most of it.
 */
const BYTES_PER_COLUMN = 2_000;
const bytesOf = (column: Column): number =>
  BYTES_PER_COLUMN +
  ('values' in column ? column.values.byteLength : column.isTrue.byteLength + column.isUnknown.byteLength);

/** Empty sets are dropped when there are this many sets, or twice as many as were left after the last time. */
const MANY_SETS = 1_000;

/** A link of the list of all kept columns, which runs from the least to the most recently read one and is a ring. */
class Link {
  older: Link = this;
  newer: Link = this;

  unlink(): void {
    this.older.newer = this.newer;
    this.newer.older = this.older;
  }

  putBefore(newer: Link): void {
    this.newer = newer;
    this.older = newer.older;
    this.older.newer = this;
    newer.older = this;
  }
}

class Kept extends Link {
  readonly set: ColumnSet;
  readonly key: string;
  readonly column: Column;

  constructor(set: ColumnSet, key: string, column: Column) {
    super();
    this.set = set;
    this.key = key;
    this.column = column;
  }
}

/** The columns of one owner on the same bars, by a key that names the whole sub-expression. */
export class ColumnSet {
  readonly kept = new Map<string, Kept>();
  readonly #store: ColumnStore;

  constructor(store: ColumnStore) {
    this.#store = store;
  }

  has(key: string): boolean {
    return this.kept.has(key);
  }

  get(key: string): Column | undefined {
    const kept = this.kept.get(key);
    if (kept === undefined) return undefined;
    this.#store.read(kept);
    return kept.column;
  }

  set(key: string, column: Column): void {
    this.#store.keep(this, key, column);
  }
}

/**
 * The kept columns of one worker thread. Equal keys on equal bars are equal columns: the runs of a batch, the variants
 * of a sweep and later backtests share them. `trim` is only called between runs: during a run, no column that was
 * handed out is overwritten.
 */
export class ColumnStore {
  /** The sets by owner, then by bars. */
  readonly #sets = new Map<string, Map<string, ColumnSet>>();
  #setCount = 0;
  #manySets = MANY_SETS;
  /** The link between the newest and the oldest column. */
  readonly #end = new Link();
  readonly #free = new Map<number, Float64Array[]>();
  #maxBytes: number;
  #bytes = 0;
  #freeBytes = 0;

  /** @param maxBytes the most that is kept between runs; free buffers may take as much again. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Changes the most bytes that are kept, from the next `trim` on. */
  limit(maxBytes: number): void {
    this.#maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** @param bars identifies the bars, their snapshot hashes included */
  columnsOf(owner: string, bars: string): ColumnSet {
    const known = this.#sets.get(owner)?.get(bars);
    if (known !== undefined) return known;
    if (this.#setCount >= this.#manySets) this.#forgetEmptySets();
    let ofOwner = this.#sets.get(owner);
    if (ofOwner === undefined) this.#sets.set(owner, (ofOwner = new Map()));
    const set = new ColumnSet(this);
    ofOwner.set(bars, set);
    this.#setCount++;
    return set;
  }

  #forgetEmptySets(): void {
    for (const [owner, ofOwner] of this.#sets) {
      for (const [bars, { kept }] of ofOwner) if (kept.size === 0 && ofOwner.delete(bars)) this.#setCount--;
      if (ofOwner.size === 0) this.#sets.delete(owner);
    }
    this.#manySets = Math.max(MANY_SETS, 2 * this.#setCount);
  }

  /** Makes a column the most recently read one. */
  read(kept: Kept): void {
    if (this.#end.older === kept) return;
    kept.unlink();
    kept.putBefore(this.#end);
  }

  /** Keeps a column. It replaces one with the same key, which is equal. */
  keep(set: ColumnSet, key: string, column: Column): void {
    const known = set.kept.get(key);
    if (known !== undefined) this.#drop(known);
    const kept = new Kept(set, key, column);
    set.kept.set(key, kept);
    kept.putBefore(this.#end);
    this.#bytes += bytesOf(column);
  }

  #drop(kept: Kept): void {
    kept.unlink();
    kept.set.kept.delete(kept.key);
    this.#bytes -= bytesOf(kept.column);
  }

  /**
   * A buffer with undefined contents. Fresh memory costs about 2 ns per row in page faults, a reused buffer nothing.
   */
  allocate(length: number): Float64Array {
    const buffer = this.#free.get(length)?.pop();
    if (buffer === undefined) return newColumn(length);
    this.#freeBytes -= buffer.byteLength;
    return buffer;
  }

  /** Drops the least recently read columns until the rest fits. */
  trim(): void {
    for (
      let oldest = this.#end.newer;
      this.#bytes > this.#maxBytes && oldest instanceof Kept;
      oldest = this.#end.newer
    ) {
      this.#drop(oldest);
      if ('values' in oldest.column) this.#release(oldest.column.values);
    }
  }

  /** Drops every column and buffer, before work that reads no columns and needs memory itself. */
  clear(): void {
    for (let oldest = this.#end.newer; oldest instanceof Kept; oldest = this.#end.newer) this.#drop(oldest);
    this.#sets.clear();
    this.#setCount = 0;
    this.#free.clear();
    this.#freeBytes = 0;
  }

  #release(values: Float64Array): void {
    // A view of shared bars, or a part of a larger buffer, must not be overwritten.
    if (!ownsBuffer(values) || this.#freeBytes + values.byteLength > this.#maxBytes) return;
    const list = this.#free.get(values.length);
    if (list) list.push(values);
    else this.#free.set(values.length, [values]);
    this.#freeBytes += values.byteLength;
  }
}
