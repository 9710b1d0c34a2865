// A shared buffer: the small arrays of a run, side by side. V8 allocates each array of more than 64 bytes with the
// system's allocator and frees each separately, which takes 0.9 µs of CPU time; a part of a shared buffer takes 0.15.
// Once nobody reads the arrays of a run any more, they are given back, and the next run writes to the same memory.

/** Five times what the arrays of one result take. A single array in use keeps its whole buffer alive. */
const BUFFER_BYTES = 64 * 1024;
/** Larger arrays have a buffer of their own. */
const MOST_BYTES = BUFFER_BYTES / 2;

/** The current buffer of this thread. A full one is left to the garbage collector. */
let buffer = new ArrayBuffer(0);
let used = 0;

/** Reserves zeroed bytes, in a new buffer when they do not fit. @returns their offset, a multiple of 8 */
function take(bytes: number): number {
  const from = Math.ceil(used / 8) * 8;
  if (from + bytes <= buffer.byteLength) {
    used = from + bytes;
    return from;
  }
  buffer = new ArrayBuffer(BUFFER_BYTES);
  used = bytes;
  return 0;
}

/** An array of zeros. */
export function newNumbers(length: number): Float64Array {
  if (8 * length > MOST_BYTES) return new Float64Array(length);
  const from = take(8 * length);
  return new Float64Array(buffer, from, length);
}

/** An array of zeros. */
export function newWords(length: number): Uint32Array {
  if (4 * length > MOST_BYTES) return new Uint32Array(length);
  const from = take(4 * length);
  return new Uint32Array(buffer, from, length);
}

/**
 * The size of a buffer for arrays that stay after their run. It is less than BUFFER_BYTES, because one array keeps all
 * of the buffer alive.
 */
const KEPT_BYTES = 16 * 1024;
let keptBuffer = new ArrayBuffer(0);
let keptUsed = 0;

/** Reserves zeroed bytes that are never given back. @returns their offset; -1: they take an array of their own */
function takeKept(bytes: number): number {
  // V8 keeps the smallest arrays in its own heap.
  if (bytes <= 64 || bytes > KEPT_BYTES / 4) return -1;
  const from = Math.ceil(keptUsed / 8) * 8;
  if (from + bytes <= keptBuffer.byteLength) {
    keptUsed = from + bytes;
    return from;
  }
  keptBuffer = new ArrayBuffer(KEPT_BYTES);
  keptUsed = bytes;
  return 0;
}

/** An array of zeros that is never given back, such as the bits of a column that later runs read. */
export function newKeptWords(length: number): Uint32Array {
  const from = takeKept(4 * length);
  return from < 0 ? new Uint32Array(length) : new Uint32Array(keptBuffer, from, length);
}

/** An array of zeros that is never given back, such as what the runs over one range share. */
export function newKeptNumbers(length: number): Float64Array {
  const from = takeKept(8 * length);
  return from < 0 ? new Float64Array(length) : new Float64Array(keptBuffer, from, length);
}

/** An array of zeros. */
export function newIntegers(length: number): Int32Array {
  if (4 * length > MOST_BYTES) return new Int32Array(length);
  const from = take(4 * length);
  return new Int32Array(buffer, from, length);
}

/** An array of zeros. */
export function newBytes(length: number): Uint8Array {
  if (length > MOST_BYTES) return new Uint8Array(length);
  const from = take(length);
  return new Uint8Array(buffer, from, length);
}

/** All arrays that are made between its construction and `close`: those of one run. */
export class SharedSpan {
  readonly #firstBuffer = buffer;
  readonly #from = used;
  /** The current buffer when the span was closed; null: it is open, or was given back. */
  #lastBuffer: ArrayBuffer | null = null;
  #to = 0;

  close(): this {
    this.#lastBuffer = buffer;
    this.#to = used;
    return this;
  }

  /**
   * Frees the arrays, which must not be read afterwards: they are zeroed, and the next run writes to them. When another
   * array was made after `close`, they are left to the garbage collector instead.
   * @throws Error when it was given back before: what was read in between may have been overwritten
   */
  giveBack(): void {
    if (this.#lastBuffer === null) throw new Error('The memory of this result was given back before.');
    const isLast = this.#lastBuffer === buffer && this.#to === used;
    this.#lastBuffer = null;
    if (!isLast) return;
    used = this.#firstBuffer === buffer ? this.#from : 0;
    new Uint8Array(buffer, used, this.#to - used).fill(0);
  }
}
