// Native calls: compression on a thread. Ending a thread at the moment at which Node has made a compressor and not yet
// initialized it aborts the whole process (`init_done_ && "close before init"`). So the thread enters a gate before
// each such call, and whoever ends the thread closes the gate first, once the thread is outside.
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';

/**
 * The states of a gate. A thread that is inside while its gate is to be closed closes it on its way out: the gate would
 * otherwise be missed by an owner who waits while the thread makes one call right after the other.
 */
const OUTSIDE = 0;
const INSIDE = 1;
const CLOSING = 2;
const CLOSED = 3;

/** The longest that a native call takes: unpacking a gigabyte on a busy machine. Then the thread is ended anyway. */
const MAX_CALL_MS = 10_000;

export const createGate = (): Int32Array<SharedArrayBuffer> =>
  new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

/** The gate of this thread; undefined in a thread that nobody ends. */
let own: Int32Array | undefined;

/** From now on, this thread enters this gate before native calls. Its owner closes it before it ends the thread. */
export function enterThrough(gate: Int32Array): void {
  own = gate;
}

function throughGate<Product>(call: () => Product): Product {
  const gate = own;
  if (gate === undefined) return call();
  // A thread whose gate is closed is about to be ended: it waits for that.
  while (Atomics.compareExchange(gate, 0, OUTSIDE, INSIDE) === CLOSED) Atomics.wait(gate, 0, CLOSED);
  try {
    return call();
  } finally {
    if (Atomics.compareExchange(gate, 0, INSIDE, OUTSIDE) === CLOSING) {
      Atomics.store(gate, 0, CLOSED);
      Atomics.notify(gate, 0);
    }
  }
}

/** `zstdCompressSync`, on a thread that may be ended meanwhile. */
export const compressed: (...parameters: Parameters<typeof zstdCompressSync>) => Buffer = (...parameters) =>
  throughGate(() => zstdCompressSync(...parameters));

/** `zstdDecompressSync`, on a thread that may be ended meanwhile. */
export const decompressed: (...parameters: Parameters<typeof zstdDecompressSync>) => Buffer = (...parameters) =>
  throughGate(() => zstdDecompressSync(...parameters));

/** Resolves when the thread is outside native calls and can no longer enter one: it may be ended. */
export async function closeGate(gate: Int32Array): Promise<void> {
  const until = performance.now() + MAX_CALL_MS;
  while (!tryClose(gate) && performance.now() < until) {
    const left = Atomics.waitAsync(gate, 0, CLOSING, until - performance.now());
    if (left.async) await left.value;
  }
}

/** Who has gates of threads that a process ends when it exits. */
const holders = new Set<() => Iterable<Int32Array>>();

/**
 * Closes these gates when the process exits, which ends its threads before any promise resolves.
 * @param gates those of the threads at that time
 * @returns to be disposed of when there are no more threads
 */
export function closeGatesAtExit(gates: () => Iterable<Int32Array>): Disposable {
  if (holders.size === 0) process.on('exit', closeAllGates);
  holders.add(gates);
  return {
    [Symbol.dispose]: () => {
      holders.delete(gates);
      if (holders.size === 0) process.off('exit', closeAllGates);
    },
  };
}

function closeAllGates(): void {
  for (const gates of holders) for (const gate of gates()) closeGateNow(gate);
}

function closeGateNow(gate: Int32Array): void {
  const until = performance.now() + MAX_CALL_MS;
  while (!tryClose(gate) && performance.now() < until) Atomics.wait(gate, 0, CLOSING, until - performance.now());
}

/** Closes a gate whose thread is outside; tells one that is inside to close it. @returns whether the gate is closed */
function tryClose(gate: Int32Array): boolean {
  if (Atomics.compareExchange(gate, 0, OUTSIDE, CLOSED) === OUTSIDE) return true;
  Atomics.compareExchange(gate, 0, INSIDE, CLOSING);
  return Atomics.load(gate, 0) === CLOSED;
}
