// Chunks of an artifact on their way out of a thread. They are moved, not copied, and only a few wait for their reader
// at a time.
import { receiveMessageOnPort, type MessagePort } from 'node:worker_threads';

export const CHUNK_BYTES = 1 << 20;
/** How many chunks a thread may be ahead of its reader: enough that neither waits while the other works. */
export const MAX_CHUNKS_IN_FLIGHT = 4;
/** How often a thread that waits for its reader checks whether it was stopped. */
const POLL_MS = 50;

/** The artifact was stopped while it was written. */
export class WritingStopped extends Error {
  override readonly name = 'WritingStopped';
}

/** The thread's side: collects pieces into chunks and posts them, and waits while too many have not been taken. */
export class ChunkSender {
  readonly #port: MessagePort;
  readonly #taken: Int32Array;
  readonly #isStopped: () => boolean;
  #chunk = new Uint8Array(CHUNK_BYTES);
  #filled = 0;
  #sent = 0;

  /** @param taken shared with the receiver, which counts in it the chunks it has dealt with. */
  constructor(port: MessagePort, taken: SharedArrayBuffer, isStopped: () => boolean) {
    this.#port = port;
    this.#taken = new Int32Array(taken);
    this.#isStopped = isStopped;
  }

  /** @throws WritingStopped */
  write(piece: Uint8Array): void {
    for (let at = 0; at < piece.length;) {
      const part = piece.subarray(at, at + CHUNK_BYTES - this.#filled);
      this.#chunk.set(part, this.#filled);
      this.#filled += part.length;
      at += part.length;
      if (this.#filled < CHUNK_BYTES) return;
      this.#post(this.#chunk);
      this.#chunk = new Uint8Array(CHUNK_BYTES);
      this.#filled = 0;
    }
  }

  /** Sends what is left. @returns how many chunks there were */
  finish(): number {
    if (this.#filled > 0) this.#post(this.#chunk.slice(0, this.#filled));
    this.#filled = 0;
    return this.#sent;
  }

  #post(chunk: Uint8Array<ArrayBuffer>): void {
    for (;;) {
      if (this.#isStopped()) throw new WritingStopped();
      const taken = Atomics.load(this.#taken, 0);
      if (this.#sent - taken < MAX_CHUNKS_IN_FLIGHT) break;
      Atomics.wait(this.#taken, 0, taken, POLL_MS);
    }
    this.#sent++;
    this.#port.postMessage(chunk, [chunk.buffer]);
  }
}

/** Takes a chunk. The next one comes after the promise resolves. */
export type TakeChunk = (chunk: Uint8Array) => Promise<void>;

/** The reader's side: passes the chunks on, one at a time. */
export class ChunkReceiver {
  readonly taken = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  readonly #port: MessagePort;
  readonly #take: TakeChunk;
  readonly #onFailure: () => void;
  #received = 0;
  #last: Promise<void> = Promise.resolve();

  /** @param onFailure called when a chunk could not be taken; those after it are dropped. */
  constructor(port: MessagePort, take: TakeChunk, onFailure: () => void) {
    this.#port = port;
    this.#take = take;
    this.#onFailure = onFailure;
    port.on('message', this.#receive);
  }

  readonly #receive = (chunk: Uint8Array): void => {
    this.#received++;
    this.#last = this.#takeAfter(this.#last, chunk);
    // Awaited in finish; until then a rejection must not end the process.
    this.#last.catch(this.#onFailure);
  };

  async #takeAfter(earlier: Promise<void>, chunk: Uint8Array): Promise<void> {
    await earlier;
    await this.#take(chunk);
    const counter = new Int32Array(this.taken);
    Atomics.add(counter, 0, 1);
    Atomics.notify(counter, 0);
  }

  /**
   * To be called once the thread has posted its last chunk. Rejects when a chunk could not be taken.
   * @returns how many chunks there were
   */
  async finish(): Promise<number> {
    // Everything that the thread has posted is in the port, but not every 'message' event may have fired.
    this.#port.off('message', this.#receive);
    for (let last = receiveMessageOnPort(this.#port); last; last = receiveMessageOnPort(this.#port))
      this.#receive(last.message as Uint8Array);
    this.#port.close();
    await this.#last;
    return this.#received;
  }
}
