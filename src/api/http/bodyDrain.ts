// The drain: reads bodies that were refused before they had arrived, in turns and not too fast, and throws them away.
import type { Readable } from 'node:stream';

/**
 * The limit of all connections of a process together. A client on a fast network can send gigabytes per second. Each
 * gigabyte costs the event loop half a second, and every 16 MiB cost a garbage collection. A refused body only has to
 * be read so that its sender gets to read the answer; the largest one sent by mistake takes a second or two.
 */
const BYTES_PER_SECOND = 8 * 1024 * 1024;
const TICK_MS = 20;
/** How much Node reads from a socket at a time. */
const PART_BYTES = 64 * 1024;

interface BodyDrain {
  /** Reads what is left of a body. Call it before the answer is sent: after that, Node would read on at full speed. */
  read(body: Readable): void;
}

/** @param bytesPerTick the most that all bodies together are read per TICK_MS */
export function createBodyDrain(bytesPerTick = (BYTES_PER_SECOND * TICK_MS) / 1_000): BodyDrain {
  /** The bodies that wait for a turn, in order. */
  const waiting = new Set<Readable>();
  let left = bytesPerTick;
  let timer: NodeJS.Timeout | undefined;
  const takeTurns = (): void => {
    for (const body of waiting) {
      if (left <= 0) break;
      // Assumes a full part until it is known how much was read.
      left -= PART_BYTES;
      waiting.delete(body);
      body.resume();
    }
  };
  const tick = (): void => {
    left = bytesPerTick;
    takeTurns();
    if (waiting.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
  return {
    read(body) {
      body.on('data', (part: Buffer) => {
        left += PART_BYTES - part.length;
        body.pause();
        waiting.add(body);
        takeTurns();
        if (waiting.size > 0) timer ??= setInterval(tick, TICK_MS).unref();
      });
      body.once('close', () => waiting.delete(body));
      // Begins at once, so that Node knows that the body has a reader.
      body.read(0);
    },
  };
}
