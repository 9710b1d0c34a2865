// The pool: the main thread's typed interface to the engine's threads. One task is a batch of runs over shared
// snapshots.
import { totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import type { ArtifactOutcome, ArtifactRequest } from '../task.ts';
import { Admission, SLOW_MS } from './admission.ts';
import type { TakeChunk } from './artifactChunks.ts';
import { buildArtifact } from './artifactRun.ts';
import { Bell } from './bell.ts';
import { Job, PoolClosedError } from './job.ts';
import type { Dispatch, Dispatched, OnOutcome, PoolJob, ThreadAnswer } from './job.ts';
import { estimateRunBytes } from './memory.ts';
import type {
  PoolBatch,
  RobustnessBatch,
  RobustnessOutcome,
  SweepBatch,
  SweepOutcome,
  ThreadMessage,
  ThreadSettings,
} from './messages.ts';
import { startPart, type PartRun } from './partRun.ts';
import { WARM_UP_BATCHES, warmUpBatch } from './warmUp.ts';

export { PoolClosedError, type PoolJob } from './job.ts';

export interface PoolOptions {
  readonly threads: number;
  /**
   * Bytes that all active runs may need, besides snapshots, with what threads keep between them; default half of the
   * machine's memory.
   */
  readonly memoryBytes?: number;
  /** A run that takes longer is stopped with reason time_limit. */
  readonly timeLimitMs?: number;
  /** A run that ignores its stop flag for this long loses its thread. */
  readonly killGraceMs?: number;
  /** Keep no columns between tasks, for a pool that lives as long as a few runs do. */
  readonly keepsColumns?: boolean;
  /** Run synthetic backtests on every thread until there is work: two seconds of processor time for each. */
  readonly warmUp?: boolean;
  /** URL of the module that threads run (messages.ts `Runner`); default: the engine. */
  readonly runner?: string;
}

export type { PartRun };
type SweepRun = PartRun<SweepOutcome>;

export interface Pool {
  readonly threads: number;
  /** Share of the threads that are busy, 0 to 1. */
  readonly busyShare: number;
  /** `onOutcome` is called once per run, as soon as it has ended. */
  run(batch: PoolBatch, onOutcome?: OnOutcome): PoolJob;
  /** `take` is given the file chunk by chunk; while it has not resolved, the thread gets only a few chunks ahead. */
  build(batch: PoolBatch, request: ArtifactRequest, take: TakeChunk): Promise<ArtifactOutcome>;
  /** One part of a sweep on one thread. */
  sweep(batch: SweepBatch): SweepRun;
  /** Some steps of a robustness check on one thread. */
  robustness(batch: RobustnessBatch): PartRun<RobustnessOutcome>;
  /**
   * Waits until there is memory for a run of another process of this machine, as much as may be had at most.
   * @returns a function to call when that has ended
   */
  holdMemory(owner: string, bytes: number): Promise<() => void>;
  /** Ends every thread at once; outcomes that are still awaited reject. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Ten minutes: a hundred million bars, the limit of the largest tier, take less than one minute at 500 ns per bar. */
const TIME_LIMIT_MS = 600_000;
/**
 * Simulations poll their flag every 65,536 bars, within a millisecond; evaluation polls between plan steps, some
 * seconds at worst.
 */
const KILL_GRACE_MS = 5_000;
/** V8 lets the short-lived objects of a thread take 128 MB before it looks at them; with a third it is no slower. */
const YOUNG_GENERATION_MB = 48;
/** How often time limits and unresponsive runs are checked, and whether a task has become slow. */
const WATCH_MS = 50;
/** A thread beyond those that are always kept ends after being idle for this long. */
const RELIEF_IDLE_MS = 10_000;

/**
 * Threads for owners who would otherwise wait for slow runs of others: one more than the others together, so that a
 * single slow run of each of two owners cannot hold a process of one thread.
 */
export const reliefThreads = (threads: number): number => threads + 1;
/**
 * Threads for quick tasks alone: however many workspaces have slow runs, a small backtest waits for no more than other
 * small ones.
 */
export const QUICK_THREADS = 1;
const allThreads = (threads: number): number => threads + reliefThreads(threads) + QUICK_THREADS;

/**
 * What threads keep between tasks, as a part of the memory there is and at the most: columns of backtests and of
 * sweeps, and as much again in buffers (engineRunner.ts).
 */
const KEPT_SHARE = 1 / 4;
const MAX_KEPT_BYTES = 640 << 20;

/** The most that each thread may keep between tasks, relief and quick threads included. */
export function keptBytesPerThread(options: PoolOptions): number {
  const { threads, memoryBytes = totalmem() / 2, keepsColumns = true } = options;
  if (!keepsColumns) return 0;
  return Math.min(MAX_KEPT_BYTES, (memoryBytes * KEPT_SHARE) / allThreads(threads));
}

export function createPool(options: PoolOptions): Pool {
  const { threads, memoryBytes = totalmem() / 2 } = options;
  const keptBytes = keptBytesPerThread(options);
  const bell = new Bell();
  const settings: ThreadSettings = {
    bell: bell.memory,
    runner: options.runner ?? new URL('./engineRunner.ts', import.meta.url).href,
    keptBytes,
  };
  const piscina = new Piscina<ThreadMessage, ThreadAnswer>({
    filename: fileURLToPath(new URL('./thread.ts', import.meta.url)),
    // Threads are kept: a new one interprets its first runs and opens every snapshot again.
    minThreads: options.threads,
    maxThreads: allThreads(options.threads),
    idleTimeout: RELIEF_IDLE_MS,
    concurrentTasksPerWorker: 1,
    // 10 µs per dispatch instead of 19 to 48. A waiting thread's event loop stands still, and ours have nothing on it.
    atomics: 'sync',
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
    workerData: settings,
  });
  const admission = new Admission({
    threads: options.threads,
    reliefThreads: reliefThreads(options.threads),
    quickThreads: QUICK_THREADS,
    // What threads keep between tasks takes memory whatever runs.
    memoryBytes: memoryBytes - keptBytes * allThreads(threads),
  });
  const watched = new Set<Watched>();
  const limits = {
    timeLimitMs: options.timeLimitMs ?? TIME_LIMIT_MS,
    killGraceMs: options.killGraceMs ?? KILL_GRACE_MS,
  };
  const timer = setInterval(() => {
    const now = performance.now();
    for (const task of watched) watch(task, now, limits);
    admission.admitAll();
  }, WATCH_MS);
  timer.unref();
  const neverMore = (): 'never' => 'never';
  void bell.listen(() => {
    for (const { control, mayTake = neverMore } of watched) control.answerAsk(mayTake);
  });

  let isClosed = false;
  const dispatch: Dispatch = async (dispatched) => {
    if (isClosed) throw new PoolClosedError();
    const { message, port } = dispatched;
    const task: Watched = { ...dispatched, abort: new AbortController(), run: -1, since: 0, stoppedAt: undefined };
    watched.add(task);
    try {
      return await piscina.run(message, { signal: task.abort.signal, ...(port && { transferList: [port] }) });
    } catch (error) {
      throw isClosed ? new PoolClosedError() : error;
    } finally {
      watched.delete(task);
    }
  };
  let hasHadWork = false;
  const noteWork = (): void => void (hasHadWork = true);
  if (options.warmUp === true) {
    const mayGoOn = (): boolean => !hasHadWork && !isClosed;
    // A thread that could not be warmed up is slower for a while, and nothing else.
    for (let thread = 0; thread < threads; thread++) warmUp(admission, dispatch, mayGoOn).catch(() => {});
  }
  return {
    threads: options.threads,
    get busyShare() {
      return Math.min(1, admission.heldCount / options.threads);
    },
    run: (batch, onOutcome) => {
      noteWork();
      return new Job(batch, admission, dispatch, onOutcome);
    },
    build: (batch, request, take) => {
      noteWork();
      return buildArtifact(batch, request, take, admission, dispatch);
    },
    sweep: ({ owner = '', job, ...sent }) => {
      noteWork();
      return startPart<SweepOutcome>((control) => ({ kind: 'sweep', ...sent, job: { ...job, owner }, control }), {
        owner,
        bytes: SWEEP_BYTES,
        admission,
        dispatch,
      });
    },
    robustness: ({ owner = '', job, ...sent }) => {
      noteWork();
      const messageWith = (control: SharedArrayBuffer) =>
        ({ kind: 'robustness', ...sent, job: ownedBy(owner, job), control }) as const;
      return startPart<RobustnessOutcome>(messageWith, {
        owner,
        bytes: SWEEP_BYTES + 2 * estimateRunBytes(job.task, sent.snapshots),
        tables: TABLES_OF_CHECK,
        admission,
        dispatch,
      });
    },
    holdMemory: async (owner, bytes) => {
      const lease = await admission.enter({ owner, bytes: Math.min(bytes, admission.maxBytes), isElsewhere: true });
      return () => lease.leave();
    },
    async [Symbol.asyncDispose]() {
      isClosed = true;
      bell.close();
      clearInterval(timer);
      await piscina.destroy();
    },
  };
}

/** Warms one thread up, batch by batch. */
async function warmUp(admission: Admission, dispatch: Dispatch, mayGoOn: () => boolean): Promise<void> {
  for (let batch = 0; batch < WARM_UP_BATCHES && mayGoOn(); batch++)
    await new Job(warmUpBatch(batch), admission, dispatch).outcomes;
}

/** A message on a thread. */
interface Watched extends Dispatched {
  readonly abort: AbortController;
  /** The run seen last, and when it started (performance.now). */
  run: number;
  since: number;
  stoppedAt: number | undefined;
  /** When the thread was first seen to work on it. */
  beganAt?: number;
}

function watch(task: Watched, now: number, limits: { timeLimitMs: number; killGraceMs: number }): void {
  const run = task.control.runningRun();
  if (run !== task.run || run === -1) {
    task.lease.renew();
    task.run = run;
    task.since = now;
    task.stoppedAt = undefined;
  }
  if (run === -1) return;
  task.beganAt ??= now;
  if (now - task.beganAt >= SLOW_MS) task.split?.();
  if (now - task.since > (task.timeLimitsMs[run] ?? limits.timeLimitMs)) task.control.stop(run, 'time_limit');
  if (!task.control.stopReason(run)) return;
  task.stoppedAt ??= now;
  // The last resort: Piscina ends the thread and starts another.
  if (now - task.stoppedAt > limits.killGraceMs) task.abort.abort();
}

/** The memory of one run, and the rows of a shard (docs/sweeps.md); kept columns are counted by thread. */
const SWEEP_BYTES = 192 << 20;
/** The trades of the baseline are kept while others are run. */
const TABLES_OF_CHECK = 2;

const ownedBy = (owner: string, job: RobustnessBatch['job']): RobustnessBatch['job'] => ({
  ...job,
  task: { ...job.task, owner },
});
