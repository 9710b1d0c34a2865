// The pool: the main thread's typed interface to the engine's threads. One task is a batch of runs over shared
// snapshots.
import { totalmem } from 'node:os';
import { isPortfolio } from '../config.ts';
import type { ArtifactOutcome, ArtifactRequest } from '../task.ts';
import { Admission } from './admission.ts';
import type { TakeChunk } from './artifactChunks.ts';
import { buildArtifact } from './artifactRun.ts';
import { Dispatcher } from './dispatcher.ts';
import { IdleWarmUp } from './idleWarmUp.ts';
import { Job, type OnOutcome, type PoolJob } from './job.ts';
import { estimateRunBytes } from './memory.ts';
import type { PoolBatch, RobustnessBatch, RobustnessOutcome, SweepBatch, SweepOutcome } from './messages.ts';
import { startPart, type PartRun } from './partRun.ts';
import { isWarmUp } from './warmUp.ts';

export { PoolClosedError, type PoolJob } from './job.ts';

export interface PoolOptions {
  readonly threads: number;
  /**
   * Bytes for all active runs and for what threads keep between runs, not counting snapshots; default: half of the
   * machine's memory.
   */
  readonly memoryBytes?: number;
  /** A run that takes longer is stopped with reason time_limit; default: TIME_LIMIT_MS. */
  readonly timeLimitMs?: number;
  /** A run that ignores its stop flag for this long loses its thread; default: KILL_GRACE_MS. */
  readonly killGraceMs?: number;
  /** Whether threads keep columns between tasks; default true. False is for a pool that ends after a few runs. */
  readonly keepsColumns?: boolean;
  /**
   * Whether the threads that are always kept run synthetic backtests while there is no work; default false. Relief and
   * quick threads start cold. From the start of the process, warming up took 4 s of processor time with one thread and
   * 8 s with two (docs/performance.md).
   */
  readonly warmUp?: boolean;
  /** Says whether warming up waits at the moment, for instance while another process needs the processor. */
  readonly holdsWarmUp?: () => boolean;
  /**
   * Whether one thread more is always kept, for the first quick task that comes while all others are busy with long
   * ones; default false.
   */
  readonly keepsSpareThread?: boolean;
  /**
   * Whether all work is of one owner, or comes one task at a time, so that no thread beyond `threads` would ever be
   * given any; default false.
   */
  readonly hasOneOwner?: boolean;
  /** URL of the module that threads run (messages.ts `Runner`); default: the engine. */
  readonly runner?: string;
}

export type { PartRun };
type SweepRun = PartRun<SweepOutcome>;

export interface Pool {
  readonly threads: number;
  /** Share of the threads that are busy, 0 to 1; those that warm up do not count. */
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
   * Waits until there is memory for a run in another process on this machine, but for no more than one run may have.
   * @returns a function to call when that run has ended
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

/**
 * Threads for owners who would otherwise wait for slow runs of others. There is one more than there are regular
 * threads: in a process of one thread, two owners with a slow run each must not block a third.
 */
export const reliefThreads = (threads: number): number => threads + 1;
/**
 * Threads for quick tasks only: however many workspaces have slow runs, a small backtest waits only for other small
 * ones.
 */
export const QUICK_THREADS = 1;
/** As many for quick shards of sweeps and robustness checks, which take ten times as long as a quick backtest. */
export const QUICK_SHARD_THREADS = 1;
const allThreads = (threads: number): number => threads + reliefThreads(threads) + QUICK_THREADS + QUICK_SHARD_THREADS;

/**
 * What all threads together may keep between tasks, as a share of the memory, and the most that one thread may keep:
 * columns of backtests and of sweeps, as much again in buffers, and a trade log (engineRunner.ts).
 */
const KEPT_SHARE = 1 / 4;
const MAX_KEPT_BYTES = 640 << 20;

/** The most that each thread may keep between tasks, relief and quick threads included. */
export function keptBytesPerThread(options: PoolOptions): number {
  const { threads, memoryBytes = totalmem() / 2, keepsColumns = true } = options;
  if (!keepsColumns) return 0;
  return Math.min(MAX_KEPT_BYTES, (memoryBytes * KEPT_SHARE) / allThreads(threads));
}

/** Starts the threads. Whoever creates a pool disposes of it (`await using`). */
export const createPool = (options: PoolOptions): Pool => new ThreadPool(options);

class ThreadPool implements Pool {
  readonly threads: number;
  readonly #admission: Admission;
  readonly #dispatcher: Dispatcher;
  readonly #warmUp: IdleWarmUp;

  constructor(options: PoolOptions) {
    const { threads, memoryBytes = totalmem() / 2 } = options;
    const keptBytes = keptBytesPerThread(options);
    this.threads = threads;
    this.#admission = new Admission({
      threads,
      reliefThreads: reliefThreads(threads),
      quickThreads: QUICK_THREADS,
      quickShardThreads: QUICK_SHARD_THREADS,
      // What threads keep between tasks takes memory no matter what runs.
      memoryBytes: memoryBytes - keptBytes * allThreads(threads),
    });
    this.#dispatcher = new Dispatcher({
      minThreads: options.keepsSpareThread === true ? threads + 1 : threads,
      maxThreads: options.hasOneOwner === true ? threads : allThreads(threads),
      thread: { runner: options.runner ?? new URL('./engineRunner.ts', import.meta.url).href, keptBytes },
      timeLimitMs: options.timeLimitMs ?? TIME_LIMIT_MS,
      killGraceMs: options.killGraceMs ?? KILL_GRACE_MS,
      // A task becomes slow by lasting, which may let another one in.
      onTick: () => this.#admission.admitAll(),
    });
    this.#warmUp = new IdleWarmUp(
      (batch) => new Job(batch, this.#admission, this.#dispatcher.dispatch).outcomes,
      options.holdsWarmUp,
    );
    if (options.warmUp === true) this.#warmUp.start(threads);
  }

  get busyShare(): number {
    return Math.min(1, this.#admission.heldCountOf((owner) => !isWarmUp(owner)) / this.threads);
  }

  run(batch: PoolBatch, onOutcome?: OnOutcome): PoolJob {
    const job = new Job(batch, this.#admission, this.#dispatcher.dispatch, onOutcome);
    void this.#warmUp.waitFor(job.outcomes);
    return job;
  }

  build(batch: PoolBatch, request: ArtifactRequest, take: TakeChunk): Promise<ArtifactOutcome> {
    return this.#warmUp.waitFor(buildArtifact(batch, request, take, this.#admission, this.#dispatcher.dispatch));
  }

  sweep({ owner = '', isQuick = false, job, ...sent }: SweepBatch): SweepRun {
    const messageWith = (control: SharedArrayBuffer) =>
      ({ kind: 'sweep', ...sent, job: { ...job, owner }, control }) as const;
    const part = startPart<SweepOutcome>(messageWith, {
      owner,
      isQuick,
      bytes: SWEEP_BYTES,
      admission: this.#admission,
      dispatch: this.#dispatcher.dispatch,
    });
    void this.#warmUp.waitFor(part.outcome);
    return part;
  }

  robustness({ owner = '', isQuick = false, job, ...sent }: RobustnessBatch): PartRun<RobustnessOutcome> {
    const messageWith = (control: SharedArrayBuffer) =>
      ({ kind: 'robustness', ...sent, job: ownedBy(owner, job), control }) as const;
    const part = startPart<RobustnessOutcome>(messageWith, {
      owner,
      isQuick,
      bytes: SWEEP_BYTES + 2 * estimateRunBytes(job.task, sent.snapshots) + historyBytes(job, sent.snapshots),
      tables: TABLES_OF_CHECK,
      admission: this.#admission,
      dispatch: this.#dispatcher.dispatch,
    });
    void this.#warmUp.waitFor(part.outcome);
    return part;
  }

  async holdMemory(owner: string, bytes: number): Promise<() => void> {
    const admission = this.#admission;
    const lease = await admission.enter({ owner, bytes: Math.min(bytes, admission.maxBytes), isElsewhere: true });
    return () => lease.leave();
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#warmUp.close();
    return this.#dispatcher[Symbol.asyncDispose]();
  }
}

/** The memory of one run and of the rows of a shard (docs/sweeps.md). Kept columns are counted per thread instead. */
const SWEEP_BYTES = 192 << 20;
/** Tables of trades at once: those of the baseline are kept while other steps run. */
const TABLES_OF_CHECK = 2;

/** The bars of a drawn history of a portfolio, or of one that is cut; those of one instrument are in SWEEP_BYTES. */
const historyBytes = ({ task }: RobustnessBatch['job'], snapshots: RobustnessBatch['snapshots']): number =>
  isPortfolio(task.config) ? snapshots.reduce((sum, { byteLength }) => sum + byteLength, 0) : 0;

const ownedBy = (owner: string, job: RobustnessBatch['job']): RobustnessBatch['job'] => ({
  ...job,
  task: { ...job.task, owner },
});
