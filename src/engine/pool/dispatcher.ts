// The dispatcher: sends messages to the threads and watches what runs there: time limits, threads that do not respond,
// and runs that ask for memory.
import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import { SLOW_MS } from './admission.ts';
import { Bell } from './bell.ts';
import { PoolClosedError, type Dispatch, type Dispatched, type ThreadAnswer } from './job.ts';
import type { ThreadMessage, ThreadSettings } from './messages.ts';
import { closeGate, closeGatesAtExit } from './nativeCalls.ts';

interface DispatcherOptions extends Limits {
  /** Threads that are always kept. */
  readonly minThreads: number;
  readonly maxThreads: number;
  readonly thread: Omit<ThreadSettings, 'bell'>;
  /** Called every WATCH_MS. */
  readonly onTick: () => void;
}

interface Limits {
  /** A run that takes longer is stopped with reason time_limit, unless it has a limit of its own. */
  readonly timeLimitMs: number;
  /** A run that ignores its stop flag for this long loses its thread. */
  readonly killGraceMs: number;
}

/** By default, V8 collects a thread's short-lived objects when they take 128 MB; with about a third it is no slower. */
const YOUNG_GENERATION_MB = 48;
/** How often time limits and unresponsive runs are checked. */
const WATCH_MS = 50;
/**
 * How long outcomes may wait in the port of a batch. A batch of small backtests ends sooner, and its outcomes are taken
 * together: a statement that stores them costs a millisecond however little it stores. Next to a long run, the results
 * of short ones appear after this time.
 */
const OUTCOMES_WAIT_MS = 100;
/** A thread beyond those that are always kept ends after being idle for this long: loading one takes half a second. */
const RELIEF_IDLE_MS = 60_000;

/** Threads that load at a time before tasks need them. */
const LOADED_AHEAD = 2;

/** A message on a thread. */
interface Watched extends Dispatched {
  readonly abort: AbortController;
  /** When its port was last taken from (performance.now). */
  collectedAt: number;
  /** The run seen last, and when it started (performance.now). */
  run: number;
  since: number;
  stoppedAt: number | undefined;
  /** Its thread is about to be ended. */
  isEnding?: boolean;
  /** When the thread was first seen to work on it. */
  beganAt?: number;
}

const neverMore = (): 'never' => 'never';

export class Dispatcher implements AsyncDisposable {
  readonly #bell = new Bell();
  readonly #piscina: Piscina<ThreadMessage, ThreadAnswer>;
  readonly #watched = new Set<Watched>();
  readonly #timer: NodeJS.Timeout;
  readonly #atExit = closeGatesAtExit(() => this.#gates());
  readonly #maxThreads: number;
  #isLoading = false;
  #isClosed = false;

  constructor({ minThreads, maxThreads, thread, onTick, ...limits }: DispatcherOptions) {
    this.#piscina = new Piscina({
      filename: fileURLToPath(new URL('./thread.ts', import.meta.url)),
      // Threads are kept: a new one interprets its first runs and opens every snapshot again.
      minThreads,
      maxThreads,
      idleTimeout: RELIEF_IDLE_MS,
      concurrentTasksPerWorker: 1,
      // 10 µs per dispatch instead of 19 to 48. It stops a waiting thread's event loop, on which ours have nothing.
      atomics: 'sync',
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
      workerData: { ...thread, bell: this.#bell.memory } satisfies ThreadSettings,
    });
    this.#maxThreads = maxThreads;
    this.#timer = setInterval(() => {
      const now = performance.now();
      for (const task of this.#watched) {
        if (watch(task, now, limits)) void this.#endThread(task);
        if (now - task.collectedAt < OUTCOMES_WAIT_MS) continue;
        task.collectedAt = now;
        task.collect?.();
      }
      this.#loadAhead(now);
      onTick();
    }, WATCH_MS);
    this.#timer.unref();
    void this.#bell.listen(() => {
      for (const { control, mayTake = neverMore } of this.#watched) control.answerAsk(mayTake);
    });
  }

  /** Sends a message to a thread and resolves with its answer. Rejects when the thread dies or the pool is closed. */
  readonly dispatch: Dispatch = async (dispatched) => {
    if (this.#isClosed) throw new PoolClosedError();
    const { message, port } = dispatched;
    const task: Watched = {
      ...dispatched,
      abort: new AbortController(),
      collectedAt: performance.now(),
      run: -1,
      since: 0,
      stoppedAt: undefined,
    };
    this.#watched.add(task);
    try {
      return await this.#piscina.run(message, { signal: task.abort.signal, ...(port && { transferList: [port] }) });
    } catch (error) {
      throw this.#isClosed ? new PoolClosedError() : error;
    } finally {
      this.#watched.delete(task);
    }
  };

  /**
   * Once all threads are busy with slow runs, further ones load before a task needs them: on a busy machine, loading
   * takes seconds, and the next tasks may be somebody's quick backtest and quick sweep.
   */
  #loadAhead(now: number): void {
    const { length } = this.#piscina.threads;
    if (this.#isLoading || length >= this.#maxThreads || this.#watched.size < length) return;
    for (const { run, since } of this.#watched) if (run === -1 || now - since < SLOW_MS) return;
    this.#isLoading = true;
    const count = Math.min(LOADED_AHEAD, this.#maxThreads - length);
    const loading = Array.from({ length: count }, () => this.#piscina.run({ kind: 'load' }));
    // A thread that could not be loaded is loaded when it is needed.
    void Promise.allSettled(loading).then(() => (this.#isLoading = false));
  }

  #gates(): Int32Array[] {
    return [...this.#watched].map(({ control }) => control.gate);
  }

  /** The last resort: Piscina ends the thread, once no native call runs there, and starts another. */
  async #endThread(task: Watched): Promise<void> {
    task.isEnding = true;
    await closeGate(task.control.gate);
    if (this.#watched.has(task)) task.abort.abort();
  }

  /** Ends every thread as soon as no native call runs there. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#bell.close();
    clearInterval(this.#timer);
    await Promise.all(this.#gates().map(closeGate));
    await this.#piscina.destroy();
    this.#atExit[Symbol.dispose]();
  }
}

/** @returns true when the thread ignores its stop flag and is to be ended */
function watch(task: Watched, now: number, limits: Limits): boolean {
  const run = task.control.runningRun();
  if (run !== task.run || run === -1) {
    task.lease.renew();
    task.run = run;
    task.since = now;
    task.stoppedAt = undefined;
  }
  if (run === -1) return false;
  task.beganAt ??= now;
  if (now - task.beganAt >= SLOW_MS) task.split?.();
  if (now - task.since > (task.timeLimitsMs[run] ?? limits.timeLimitMs)) task.control.stop(run, 'time_limit');
  if (!task.control.stopReason(run)) return false;
  task.stoppedAt ??= now;
  return task.isEnding !== true && now - task.stoppedAt > limits.killGraceMs;
}
