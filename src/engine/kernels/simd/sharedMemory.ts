// Shared memory: columns that every thread reads, where a kernel can read them in place.

/** What WebAssembly counts memory in. */
export const PAGE_BYTES = 65_536;

/**
 * How far apart columns begin that lie in different memories and are read or written row by row: another page of 4 KiB
 * and another line of the cache. Memories begin gigabytes apart, at addresses that differ in no bit by which an AMD
 * processor tells apart what its first cache holds, so that columns at the same place of theirs push each other out:
 * MACD, which writes three, took 34 ns per bar in place of 2.
 */
export const APART_BYTES = 4096 + 64;

/** WebAssembly's, or where there is none to be had, plain memory, which only TypeScript reads. */
interface SharedMemory {
  readonly buffer: SharedArrayBuffer;
}

/** A message to a thread carries it without copying: the memory, because to a kernel a buffer alone is nothing. */
export interface SharedBytes {
  readonly memory: SharedMemory;
  /** The memory is longer: whole pages. */
  readonly byteLength: number;
}

/** Zeros; nothing may write to them once others know of them. */
export function allocateShared(byteLength: number): SharedBytes {
  const memory = allocatePages(Math.max(1, Math.ceil(byteLength / PAGE_BYTES)));
  knowMemory(memory);
  return { memory, byteLength };
}

export const bytesOf = ({ memory, byteLength }: SharedBytes): Uint8Array =>
  new Uint8Array(memory.buffer, 0, byteLength);

function allocatePages(pages: number): SharedMemory {
  try {
    return new WebAssembly.Memory<SharedArrayBuffer>({ initial: pages, maximum: pages, shared: true });
  } catch (error) {
    // More than 4 GiB; or a process whose address space is limited (ulimit -v), of which a memory takes 8 GiB.
    if (error instanceof RangeError || error instanceof TypeError)
      return { buffer: new SharedArrayBuffer(pages * PAGE_BYTES) };
    throw error;
  }
}

interface KnownMemory {
  readonly memory: WebAssembly.Memory<SharedArrayBuffer>;
  readonly pressure: ArrayBuffer;
}
const known = new WeakMap<ArrayBufferLike, KnownMemory>();

/**
 * The garbage collector counts the bytes of a buffer, and comes earlier for them, but not those of a WebAssembly
 * memory. A buffer that nothing touches, and that therefore takes no memory, stands for a part of them: enough for
 * memories that nobody holds to be given back a few hundred MB later.
 */
const PRESSURE_SHARE = 1 / 4;

/** Lets kernels read what lies in this memory: for one that came in a message. */
export function knowMemory(memory: SharedMemory): void {
  const { buffer } = memory;
  if (!(memory instanceof WebAssembly.Memory) || known.has(buffer)) return;
  const bytes = Math.floor(buffer.byteLength * PRESSURE_SHARE);
  known.set(buffer, { memory: memory as KnownMemory['memory'], pressure: new ArrayBuffer(bytes) });
}

/** The memory that this column lies in, at its byteOffset; undefined: only TypeScript can read it. */
export const memoryUnder = ({ buffer }: Float64Array): WebAssembly.Memory<SharedArrayBuffer> | undefined =>
  known.get(buffer)?.memory;
