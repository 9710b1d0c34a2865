// Shared memory: columns that every thread reads, where a kernel can read them in place.

/** What WebAssembly counts memory in. */
export const PAGE_BYTES = 65_536;

/**
 * How far apart columns in different memories begin when they are read or written row by row: another page of 4 KiB and
 * another cache line. Memories begin gigabytes apart, at addresses that agree in every bit by which an AMD processor
 * places data in its L1 cache. Columns at the same offset would push each other out of it: MACD, which writes three,
 * took 34 ns per bar instead of 2.
 */
export const APART_BYTES = 4096 + 64;

/** A WebAssembly memory or, when none can be made, plain memory, which only TypeScript reads. */
interface SharedMemory {
  readonly buffer: SharedArrayBuffer;
}

/** A message to a thread carries it without copying. It has the memory, because kernels cannot use a buffer alone. */
export interface SharedBytes {
  readonly memory: SharedMemory;
  /** The memory is longer: whole pages. */
  readonly byteLength: number;
}

/** Allocates zeros; nothing may write to them once other threads have them. */
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
    // More than 4 GiB; or the address space of the process is limited (ulimit -v), and a memory takes 8 GiB of it.
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
 * The garbage collector counts the bytes of a buffer, and runs earlier because of them. It does not count those of a
 * WebAssembly memory. A buffer that nothing touches, and that therefore takes no memory, stands for a part of them:
 * enough for memories that nobody holds to be given back a few hundred MB later.
 */
const PRESSURE_SHARE = 1 / 4;

/** Lets kernels read what lies in this memory; needed for a memory that came in a message. */
export function knowMemory(memory: SharedMemory): void {
  const { buffer } = memory;
  if (!(memory instanceof WebAssembly.Memory) || known.has(buffer)) return;
  const bytes = Math.floor(buffer.byteLength * PRESSURE_SHARE);
  known.set(buffer, { memory: memory as KnownMemory['memory'], pressure: new ArrayBuffer(bytes) });
}

/** The memory that this column lies in, at its byteOffset; undefined: only TypeScript can read it. */
export const memoryUnder = ({ buffer }: Float64Array): WebAssembly.Memory<SharedArrayBuffer> | undefined =>
  known.get(buffer)?.memory;
