// A bell: threads ring it, and the main thread hears it at once. A run that asks for memory blocks until it is
// answered, so it cannot wait for the next periodic check of its control.

export class Bell {
  readonly memory: SharedArrayBuffer;
  readonly #rings: Int32Array;
  #isClosed = false;

  constructor(memory = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)) {
    this.memory = memory;
    this.#rings = new Int32Array(memory);
  }

  ring(): void {
    Atomics.add(this.#rings, 0, 1);
    Atomics.notify(this.#rings, 0);
  }

  /** Calls `onRing` after each ring, once for several in a row, until it is closed. */
  async listen(onRing: () => void): Promise<void> {
    for (let heard = 0; !this.#isClosed; onRing()) {
      const ringing = Atomics.waitAsync(this.#rings, 0, heard);
      if (ringing.async) await ringing.value;
      heard = Atomics.load(this.#rings, 0);
    }
  }

  close(): void {
    this.#isClosed = true;
    this.ring();
  }
}
