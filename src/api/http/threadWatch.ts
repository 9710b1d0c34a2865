// Thread watch: notices that a thread computes without end. It asks the thread for a sign of life while the thread has
// work, and looks at the processor time of a thread that gives none.
import type { Worker } from 'node:worker_threads';

/** How often a thread that works is looked at. */
export const TICK_MS = 500;
/** How long a thread may be silent. All work of a request is bounded to a fraction of a second. */
const SILENT_TICKS = 10;
/**
 * Of this time, a thread must have computed most: one that waits for a core on a busy machine is not to blame, and a
 * new one would have to wait as well.
 */
const COMPUTED_SHARE = 0.6;
/** A thread that is silent for so long is given up, whatever its processor time. */
const LOST_TICKS = 60;
/** Silent for so long, the thread counts as not answering. */
const DEGRADED_TICKS = 4;

/** How long a thread may be silent, in seconds. */
export const silentSeconds = (tickMs: number): number => (SILENT_TICKS * tickMs) / 1_000;

interface Watched {
  readonly thread: Worker;
  /** Whether the thread has work. An idle one is left to sleep. */
  readonly isBusy: () => boolean;
  /** Asks the thread for a message. */
  readonly ping: () => void;
  readonly onSilent: (silentSeconds: number) => void;
  readonly tickMs: number;
}

/** Ticks are counted, not time: a process that was suspended, or itself too busy to look, has one tick more. */
export class ThreadWatch {
  readonly #watched: Watched;
  readonly #timer: NodeJS.Timeout;
  /** Since the ping that has not been answered; null: every ping has. */
  #silentTicks: number | null = null;
  #computedBefore: Promise<number> | undefined;

  constructor(watched: Watched) {
    this.#watched = watched;
    this.#timer = setInterval(() => void this.#tick(), watched.tickMs).unref();
  }

  /** Call for every message of the thread. */
  heard(): void {
    this.#silentTicks = null;
  }

  get isAnswering(): boolean {
    return (this.#silentTicks ?? 0) < DEGRADED_TICKS;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #tick(): Promise<void> {
    const { thread, isBusy, ping, onSilent, tickMs } = this.#watched;
    if (this.#silentTicks === null) {
      if (!isBusy()) return;
      this.#silentTicks = 0;
      this.#computedBefore = computedMs(thread);
      return ping();
    }
    const ticks = ++this.#silentTicks;
    if (ticks < SILENT_TICKS) return;
    const seconds = (ticks * tickMs) / 1_000;
    if (ticks < LOST_TICKS) {
      // A thread in native code does not tell its time; the ticks go on meanwhile.
      const computed = (await computedMs(thread)) - (await this.#computedBefore!);
      if (this.#silentTicks === null || !(computed >= COMPUTED_SHARE * SILENT_TICKS * tickMs)) return;
    }
    this.stop();
    onSilent(seconds);
  }
}

/** Processor time of a thread so far; NaN when it has ended. */
const computedMs = (thread: Worker): Promise<number> =>
  thread.cpuUsage().then(
    ({ user, system }) => (user + system) / 1_000,
    () => NaN,
  );
