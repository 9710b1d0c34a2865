// Late refusals: a client that keeps sending requests after many refusals in a minute gets further refusals half a
// second late. Most clients wait for an answer before they send the next request, so that their number of connections
// then limits them, and not how fast the event loop can refuse.
import { setTimeout as wait } from 'node:timers/promises';
import type { FastifyRequest } from 'fastify';

const WINDOW_MS = 60_000;
/** Refusals per minute that are sent at once: as many as a client gets that tries again every second. */
const PROMPT_PER_MINUTE = 60;
const LATE_MS = 500;
/** The most refusals that are delayed at a time; each keeps its connection open. */
const MAX_WAITING = 1_000;
/** Beyond this many counters the oldest is dropped, so that inventing addresses cannot fill the memory. */
const MAX_NAMES = 20_000;

export class LateRefusals {
  #windowStart = 0;
  #waiting = 0;
  readonly #counts = new Map<string, number>();
  readonly #sleep: (ms: number) => Promise<unknown>;
  readonly #now: () => number;

  constructor(sleep: (ms: number) => Promise<unknown> = wait, now: () => number = () => Date.now()) {
    this.#sleep = sleep;
    this.#now = now;
  }

  /** Resolves when the refusal of a request may be sent. */
  async wait({ caller, member, ip }: FastifyRequest): Promise<void> {
    const count = this.#count((caller ?? member)?.workspaceId ?? ip);
    if (count <= PROMPT_PER_MINUTE || this.#waiting >= MAX_WAITING) return;
    this.#waiting++;
    await this.#sleep(LATE_MS);
    this.#waiting--;
  }

  /** Counts a refusal. @returns how many there were in this minute, this one included */
  #count(name: string): number {
    const now = this.#now();
    if (now - this.#windowStart >= WINDOW_MS) {
      this.#windowStart = now;
      this.#counts.clear();
    }
    const count = (this.#counts.get(name) ?? 0) + 1;
    if (!this.#counts.has(name) && this.#counts.size >= MAX_NAMES)
      this.#counts.delete(this.#counts.keys().next().value!);
    this.#counts.set(name, count);
    return count;
  }
}
