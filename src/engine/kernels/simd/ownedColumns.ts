// Owned columns: those that a plan computes. Long ones lie in a WebAssembly memory each, so that kernels write them
// where they are: copying results out takes longer than computing a mean.
import { PAGE_BYTES } from './sharedMemory.ts';

const NUMBER_BYTES = 8;
/** A memory takes a third of a millisecond to make, and saves 0.7 ns per row each time it is written on. */
const LEAST_ROWS = 1 << 18;
const MOST_PAGES = 65_536;

/**
 * The first cell of each memory in turn. Memories begin gigabytes apart, at addresses that differ in no bit by which an
 * AMD processor tells apart what its first cache holds: read or written row by row, columns that began at the same place
 * of theirs would push each other out on every row. MACD, which writes three, took 34 ns per bar in place of 2.
 */
const PLACE_BYTES = 4096 + 64;
const PLACES = Math.floor(PAGE_BYTES / PLACE_BYTES);
let places = 0;

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
  // A bar column begins near the start of its memory.
  const byteOffset = (1 + (places++ % (PLACES - 1))) * PLACE_BYTES;
  const pages = Math.ceil((byteOffset + length * NUMBER_BYTES) / PAGE_BYTES);
  if (length < leastRows || pages > MOST_PAGES) return new Float64Array(length);
  let memory: WebAssembly.Memory;
  try {
    memory = new WebAssembly.Memory({ initial: pages, maximum: pages });
  } catch (error) {
    // A process whose address space is limited (ulimit -v), of which a memory takes 8 GiB.
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
