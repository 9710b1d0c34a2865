// Owned columns: those that a plan computes. Each long one lies in a WebAssembly memory of its own, so that kernels can
// write it in place: copying results out takes longer than computing a mean.
import { APART_BYTES, PAGE_BYTES } from './sharedMemory.ts';

const NUMBER_BYTES = 8;
/** A memory takes a third of a millisecond to make, and saves 0.7 ns per row each time it is written to. */
const LEAST_ROWS = 1 << 18;
const MOST_PAGES = 65_536;

/**
 * Columns begin at this many places in their memories, in turn. None is at the start, because a market's columns begin
 * near there.
 */
const PLACES = Math.floor(PAGE_BYTES / APART_BYTES) - 1;
let made = 0;

interface Owned {
  readonly memory: WebAssembly.Memory;
  /** Where in it the column begins. */
  readonly byteOffset: number;
  /** The garbage collector counts the bytes of this buffer, which nothing touches, and not those of a memory. */
  readonly pressure: ArrayBuffer;
}
const owned = new WeakMap<ArrayBufferLike, Owned>();

/** A column of zeros; shorter ones than `leastRows` have no memory of their own. */
export function newColumn(length: number, leastRows = LEAST_ROWS): Float64Array {
  const byteOffset = (1 + (made++ % PLACES)) * APART_BYTES;
  const pages = Math.ceil((byteOffset + length * NUMBER_BYTES) / PAGE_BYTES);
  if (length < leastRows || pages > MOST_PAGES) return new Float64Array(length);
  let memory: WebAssembly.Memory;
  try {
    memory = new WebAssembly.Memory({ initial: pages, maximum: pages });
  } catch (error) {
    // The address space of the process is limited (ulimit -v), and a memory takes 8 GiB of it.
    if (error instanceof RangeError) return new Float64Array(length);
    throw error;
  }
  owned.set(memory.buffer, { memory, byteOffset, pressure: new ArrayBuffer(memory.buffer.byteLength) });
  return new Float64Array(memory.buffer, byteOffset, length);
}

/** The memory in which a column of `newColumn`, or a part of it, lies; undefined: kernels cannot write to it. */
export const memoryUnderOwned = ({ buffer }: Float64Array | Int32Array): WebAssembly.Memory | undefined =>
  owned.get(buffer)?.memory;

/** Whether the column is all of a buffer of its own: nothing else reads or writes there. */
export const ownsBuffer = ({ buffer, byteLength, byteOffset }: Float64Array): boolean =>
  buffer instanceof ArrayBuffer && (byteLength === buffer.byteLength || owned.get(buffer)?.byteOffset === byteOffset);
