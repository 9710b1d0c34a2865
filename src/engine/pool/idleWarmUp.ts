// When threads are warmed up: whenever the pool has had no work for a while, until each has run every synthetic batch.
import { runWarmUpBatch, WARM_UP_BATCHES } from './warmUp.ts';
import type { PoolBatch } from './messages.ts';

/** How long the pool must have had no work, so that a client that sends one request after another is not delayed. */
const IDLE_MS = 200;

export class IdleWarmUp {
  readonly #run: (batch: PoolBatch) => Promise<unknown>;
  readonly #isHeld: () => boolean;
  #open = 0;
  #lastEnd = -Infinity;
  #isClosed = false;

  /** @param isHeld whether warming up waits although the pool has no work */
  constructor(run: (batch: PoolBatch) => Promise<unknown>, isHeld: () => boolean = () => false) {
    this.#run = run;
    this.#isHeld = isHeld;
  }

  /** Warms up this many threads: each loop keeps one busy. */
  start(threads: number): void {
    // A thread that could not be warmed up is only slower for a while.
    this.#runAll(threads).catch(() => {});
  }

  /** Sends no warm-up batch until `work` has ended. */
  waitFor<Outcome>(work: Promise<Outcome>): Promise<Outcome> {
    this.#open++;
    const end = (): void => {
      this.#open--;
      this.#lastEnd = performance.now();
    };
    work.then(end, end);
    return work;
  }

  close(): void {
    this.#isClosed = true;
  }

  async #runAll(threads: number): Promise<void> {
    // Until every thread has loaded the engine, V8's flags stay as they are.
    await Promise.allSettled(Array.from({ length: threads }, () => runWarmUpBatch(0, this.#run)));
    await Promise.all(Array.from({ length: threads }, () => this.#runFrom(1)));
  }

  async #runFrom(first: number): Promise<void> {
    for (let batch = first; batch < WARM_UP_BATCHES; batch++) {
      while (this.#isBusy()) await pause();
      if (this.#isClosed) return;
      await runWarmUpBatch(batch, this.#run);
    }
  }

  #isBusy(): boolean {
    if (this.#isClosed) return false;
    return this.#open > 0 || this.#isHeld() || performance.now() - this.#lastEnd < IDLE_MS;
  }
}

/** Does not keep the process alive. */
const pause = (): Promise<void> => new Promise((done) => void setTimeout(done, IDLE_MS).unref());
