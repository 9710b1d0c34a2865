// The pool: the main thread's typed interface to the engine's threads. One task is a batch of runs over shared
// snapshots.
import { totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads';
import type { MessagePort } from 'node:worker_threads';
import { Piscina } from 'piscina';
import { BatchControl } from './control.ts';
import type { RunProgress } from './control.ts';
import { MemoryGate, estimateRunBytes } from './memory.ts';
import type { ArtifactOutcome, ArtifactRequest, RunError } from '../task.ts';
import type {
  BatchMessage,
  OutcomeMessage,
  PoolBatch,
  PoolOutcome,
  PoolRun,
  StopReason,
  ThreadMessage,
  SweepBatch,
  SweepOutcome,
} from './messages.ts';
import type { StrategyAst } from '../language/grammar/ast.ts';

export interface PoolOptions {
  readonly threads: number;
  /** Bytes that all active runs may need, besides snapshots; default half of the machine's memory. */
  readonly memoryBytes?: number;
  /** A run that takes longer is stopped with reason time_limit. */
  readonly timeLimitMs?: number;
  /** A run that ignores its stop flag for this long loses its thread. */
  readonly killGraceMs?: number;
  /** URL of the module that threads run (messages.ts `Runner`); default: the engine. */
  readonly runner?: string;
}

export type OnOutcome = (run: number, outcome: PoolOutcome) => void;

/** A batch under way. Indexes are those of `batch.runs`. */
export interface PoolJob {
  /**
   * One outcome per run, in order. A rejection is a defect of the pool or of the module it runs, never the result of a
   * run.
   */
  readonly outcomes: Promise<PoolOutcome[]>;
  /** Stops an active run the next time it polls its flag, a waiting run before it starts. */
  stop(run: number, reason: StopReason): void;
  progress(run: number): RunProgress;
}

/** A part of a sweep under way; `barsDone` of its progress counts variants. */
export interface SweepRun {
  readonly outcome: Promise<SweepOutcome>;
  stop(reason: StopReason): void;
  progress(): RunProgress;
}

export interface Pool {
  readonly threads: number;
  /** Share of the threads that are busy, 0 to 1. */
  readonly busyShare: number;
  /** `onOutcome` is called once per run, as soon as it has ended. */
  run(batch: PoolBatch, onOutcome?: OnOutcome): PoolJob;
  build(batch: PoolBatch, request: ArtifactRequest): Promise<ArtifactOutcome>;
  /** One part of a sweep on one thread. */
  sweep(batch: SweepBatch): SweepRun;
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
/** How often time limits and unresponsive runs are checked. */
const WATCH_MS = 50;

export function createPool(options: PoolOptions): Pool {
  const piscina = new Piscina<ThreadMessage, ThreadAnswer>({
    filename: fileURLToPath(new URL('./thread.ts', import.meta.url)),
    // Threads are kept: a new one interprets its first runs and opens every snapshot again.
    minThreads: options.threads,
    maxThreads: options.threads,
    concurrentTasksPerWorker: 1,
    // 10 µs per dispatch instead of 19 to 48. A waiting thread's event loop stands still, and ours have nothing on it.
    atomics: 'sync',
    workerData: { runner: options.runner ?? new URL('./engineRunner.ts', import.meta.url).href },
  });
  const gate = new MemoryGate(options.memoryBytes ?? totalmem() / 2);
  const watched = new Set<Watched>();
  const limits = {
    timeLimitMs: options.timeLimitMs ?? TIME_LIMIT_MS,
    killGraceMs: options.killGraceMs ?? KILL_GRACE_MS,
  };
  const timer = setInterval(() => {
    const now = performance.now();
    for (const task of watched) watch(task, now, limits);
  }, WATCH_MS);
  timer.unref();

  let isClosed = false;
  const dispatch: Dispatch = async (message, control, port) => {
    if (isClosed) throw new PoolClosedError();
    const task: Watched = { control, abort: new AbortController(), run: -1, since: 0, stoppedAt: undefined };
    watched.add(task);
    try {
      return await piscina.run(message, { signal: task.abort.signal, ...(port && { transferList: [port] }) });
    } catch (error) {
      throw isClosed ? new PoolClosedError() : error;
    } finally {
      watched.delete(task);
    }
  };
  return {
    threads: options.threads,
    get busyShare() {
      return watched.size === 0 ? 0 : Math.min(1, (watched.size - piscina.queueSize) / options.threads);
    },
    run: (batch, onOutcome) => new Job(batch, gate, dispatch, onOutcome),
    build: (batch, request) => build(batch, request, gate, dispatch),
    sweep: (batch) => startSweep(batch, gate, dispatch),
    async [Symbol.asyncDispose]() {
      isClosed = true;
      clearInterval(timer);
      await piscina.destroy();
    },
  };
}

/** What outcomes that are still awaited reject with when the pool is disposed of. */
export class PoolClosedError extends Error {
  override readonly name = 'PoolClosedError';
  constructor() {
    super('The pool was closed while runs were under way.');
  }
}

type Dispatch = (message: ThreadMessage, control: BatchControl, port?: MessagePort) => Promise<ThreadAnswer>;
type ThreadAnswer = ArtifactOutcome | SweepOutcome | undefined;

/** A batch on a thread or queued for one. */
interface Watched {
  readonly control: BatchControl;
  readonly abort: AbortController;
  /** The run seen last, and when it started (performance.now). */
  run: number;
  since: number;
  stoppedAt: number | undefined;
}

function watch(task: Watched, now: number, limits: { timeLimitMs: number; killGraceMs: number }): void {
  const run = task.control.runningRun();
  if (run !== task.run) {
    task.run = run;
    task.since = now;
    task.stoppedAt = undefined;
  }
  if (run === -1) return;
  if (now - task.since > limits.timeLimitMs) task.control.stop(run, 'time_limit');
  if (!task.control.stopReason(run)) return;
  task.stoppedAt ??= now;
  // The last resort: Piscina ends the thread and starts another.
  if (now - task.stoppedAt > limits.killGraceMs) task.abort.abort();
}

/** Runs a batch to its last outcome, whatever happens to the threads it runs on. */
class Job implements PoolJob {
  readonly outcomes: Promise<PoolOutcome[]>;
  readonly #batch: PoolBatch;
  readonly #found: (PoolOutcome | undefined)[];
  readonly #control: BatchControl;
  readonly #onOutcome: OnOutcome | undefined;
  /**
   * The control of the current dispatch: a repeated dispatch has its own memory, since a killed thread may still write
   * to the old one.
   */
  #current: { readonly control: BatchControl; readonly runs: readonly number[] };

  constructor(batch: PoolBatch, gate: MemoryGate, dispatch: Dispatch, onOutcome?: OnOutcome) {
    this.#batch = batch;
    this.#onOutcome = onOutcome;
    this.#found = batch.runs.map(() => undefined);
    this.#control = BatchControl.create(batch.runs.length);
    this.#current = { control: this.#control, runs: batch.runs.map((_, run) => run) };
    this.outcomes = this.#runAll(gate, dispatch);
  }

  stop(run: number, reason: StopReason): void {
    this.#control.stop(run, reason);
    const index = this.#current.runs.indexOf(run);
    if (index !== -1) this.#current.control.stop(index, reason);
  }

  progress(run: number): RunProgress {
    const index = this.#current.runs.indexOf(run);
    if (this.#found[run] || index === -1) return { ...this.#control.progress(run), state: 'done' };
    return this.#current.control.progress(index);
  }

  async #runAll(gate: MemoryGate, dispatch: Dispatch): Promise<PoolOutcome[]> {
    const fitting = this.#batch.runs.map((_, run) => this.#prepare(run, gate)).filter((bytes) => bytes !== null);
    if (fitting.length === 0) return this.#found as PoolOutcome[];
    const leave = await gate.enter(Math.max(...fitting));
    try {
      for (let open = this.#open(); open.length > 0; open = this.#open()) await this.#dispatchOnce(open, dispatch);
    } finally {
      leave();
    }
    return this.#found as PoolOutcome[];
  }

  /** Bytes the run may need; null when it has been settled because it is too large or cannot be prepared. */
  #prepare(run: number, gate: MemoryGate): number | null {
    try {
      const bytes = bytesOf(this.#batch, this.#batch.runs[run]);
      if (bytes <= gate.limit) return bytes;
      this.#settle(run, { kind: 'failed', error: tooLarge(bytes, gate.limit) });
    } catch (error) {
      this.#settle(run, { kind: 'failed', error: notPrepared(error) });
    }
    return null;
  }

  #open(): number[] {
    return this.#found.flatMap((outcome, run) => (outcome ? [] : [run]));
  }

  /** Every call settles at least one run, so that the loop around it ends. */
  async #dispatchOnce(runs: readonly number[], dispatch: Dispatch): Promise<void> {
    const control = runs.length === this.#control.size ? this.#control : BatchControl.create(runs.length);
    this.#current = { control, runs };
    runs.forEach((run, index) => {
      const reason = this.#control.stopReason(run);
      if (reason) control.stop(index, reason);
    });
    const chosen = runs.map((run) => this.#batch.runs[run]);
    const { port1: near, port2: far } = new MessageChannel();
    const settle = ({ run, outcome }: OutcomeMessage): void => this.#settle(runs[run], outcome);
    near.on('message', settle);
    const message = { ...messageOf(this.#batch.snapshots, chosen, control.buffer), port: far };
    const failure = await dispatch(message, control, far).then(
      () => null,
      (error: unknown) => ({ error }),
    );
    // Whatever a thread has posted is in the port by the time the task settles, even when the thread is gone.
    near.off('message', settle);
    for (let last = receiveMessageOnPort(near); last; last = receiveMessageOnPort(near)) settle(last.message as never);
    near.close();
    if (failure) this.#settleCrashed(failure.error, control, runs);
  }

  /** A thread has died. The run it was executing is settled; the runs after it go to another thread. */
  #settleCrashed(error: unknown, control: BatchControl, runs: readonly number[]): void {
    const index = control.runningRun();
    if (index === -1 || error instanceof PoolClosedError) throw error;
    const reason = control.stopReason(index);
    this.#settle(runs[index], reason ? { kind: 'stopped', reason } : { kind: 'failed', error: threadLost(error) });
  }

  #settle(run: number, outcome: PoolOutcome): void {
    if (this.#found[run]) return;
    this.#found[run] = outcome;
    this.#onOutcome?.(run, outcome);
  }
}

async function build(
  batch: PoolBatch,
  request: ArtifactRequest,
  gate: MemoryGate,
  dispatch: Dispatch,
): Promise<ArtifactOutcome> {
  const bytes = bytesOf(batch, batch.runs[0]);
  if (bytes > gate.limit) return { ok: false, error: tooLarge(bytes, gate.limit) };
  const leave = await gate.enter(bytes);
  const control = BatchControl.create(1);
  try {
    const inputs = messageOf(batch.snapshots, batch.runs.slice(0, 1), control.buffer);
    return (await dispatch({ kind: 'artifact', batch: inputs, request }, control)) as ArtifactOutcome;
  } catch (error) {
    if (control.runningRun() === -1 || error instanceof PoolClosedError) throw error;
    return { ok: false, error: threadLost(error) };
  } finally {
    leave();
  }
}

/** Columns kept and free, the memory of one run, and the rows of a shard (docs/sweeps.md). */
const SWEEP_BYTES = 320 << 20;

function startSweep(batch: SweepBatch, gate: MemoryGate, dispatch: Dispatch): SweepRun {
  const control = BatchControl.create(1);
  const run = async (): Promise<SweepOutcome> => {
    const leave = await gate.enter(Math.min(SWEEP_BYTES, gate.limit));
    try {
      const reason = control.stopReason(0);
      if (reason !== null) return { kind: 'stopped', reason };
      return (await dispatch({ kind: 'sweep', ...batch, control: control.buffer }, control)) as SweepOutcome;
    } catch (error) {
      if (control.runningRun() === -1 || error instanceof PoolClosedError) throw error;
      const reason = control.stopReason(0);
      return reason ? { kind: 'stopped', reason } : { kind: 'failed', error: threadLost(error) };
    } finally {
      leave();
    }
  };
  return { outcome: run(), stop: (reason) => control.stop(0, reason), progress: () => control.progress(0) };
}

function bytesOf(batch: PoolBatch, run: PoolRun): number {
  const read = run.snapshots.map((index) => batch.snapshots[index]);
  return estimateRunBytes(run.task.strategyAst, read);
}

function messageOf(
  snapshots: PoolBatch['snapshots'],
  runs: readonly PoolRun[],
  control: SharedArrayBuffer,
): Omit<BatchMessage, 'port'> {
  const strategies = new Map<StrategyAst, number>();
  const listed = runs.map(({ task, snapshots }) => {
    const strategy = strategies.get(task.strategyAst) ?? strategies.size;
    strategies.set(task.strategyAst, strategy);
    const { strategyAst: _, ...sent } = task;
    return { ...sent, strategy, snapshots };
  });
  return { kind: 'batch', snapshots, strategies: [...strategies.keys()], runs: listed, control };
}

const tooLarge = (bytes: number, limit: number): RunError => ({
  code: 'RESOURCE_LIMIT',
  path: '',
  message:
    `This run may need ${Math.ceil(bytes / 2 ** 20)} MiB and the worker allows ${Math.floor(limit / 2 ** 20)} MiB. ` +
    'Use fewer nodes, a coarser timeframe, or a worker with more memory.',
});

/** A defect of the service. The run is settled all the same, so that it cannot hold up the other runs of its batch. */
const notPrepared = (error: unknown): RunError => ({
  code: 'INTERNAL_ERROR',
  path: '',
  message: `This run could not be prepared: ${error instanceof Error ? error.message : String(error)}`,
});

const threadLost = (error: unknown): RunError => ({
  code: 'RESOURCE_LIMIT',
  path: '',
  message: `The thread that ran this backtest ended: ${error instanceof Error ? error.message : String(error)}`,
});
