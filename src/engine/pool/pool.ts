// The pool: the main side's typed door to the engine's threads. One task is a batch of runs over shared snapshots.
import { totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads';
import type { MessagePort } from 'node:worker_threads';
import { Piscina } from 'piscina';
import { BatchControl } from './control.ts';
import type { RunProgress } from './control.ts';
import { MemoryGate, estimateRunBytes } from './memory.ts';
import type {
  ArtifactOutcome,
  ArtifactRequest,
  BatchMessage,
  OutcomeMessage,
  PoolBatch,
  PoolOutcome,
  PoolRun,
  RunError,
  StopReason,
  ThreadMessage,
} from './messages.ts';
import type { StrategyAst } from '../language/ast.ts';

export interface PoolOptions {
  readonly threads: number;
  /** Bytes that runs may need together, beside snapshots; default half of the machine's memory. */
  readonly memoryBytes?: number;
  /** A run that takes longer is stopped with reason time_limit. */
  readonly timeLimitMs?: number;
  /** A run that does not heed its stop flag for so long loses its thread. */
  readonly killGraceMs?: number;
  /** URL of the module that threads run (messages.ts `Runner`); default: the engine. */
  readonly runner?: string;
}

export type OnOutcome = (run: number, outcome: PoolOutcome) => void;

/** A batch under way. Indexes are those of `batch.runs`. */
export interface PoolJob {
  /** One outcome a run, in order. Never rejects for what a run did; a rejection is a bug of the pool or the module it runs. */
  readonly outcomes: Promise<PoolOutcome[]>;
  /** Reaches a running simulation at its next look, a waiting run before it starts. */
  stop(run: number, reason: StopReason): void;
  progress(run: number): RunProgress;
}

export interface Pool {
  readonly threads: number;
  /** Share of the threads that are busy, 0 to 1. */
  readonly busyShare: number;
  /** `onOutcome` is called as soon as a run has ended, once a run. */
  run(batch: PoolBatch, onOutcome?: OnOutcome): PoolJob;
  build(batch: PoolBatch, request: ArtifactRequest): Promise<ArtifactOutcome>;
  /** Ends every thread at once; outcomes that are still awaited reject. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Ten minutes: a hundred million bars, the largest tier, at ten times the cost a bar that is our goal, take less than one. */
const TIME_LIMIT_MS = 600_000;
/** Simulations look at their flag every 65,536 bars, a fraction of a millisecond; evaluation between two steps of a plan, some seconds at worst. */
const KILL_GRACE_MS = 5_000;
/** How often time limits and deaf runs are looked for. */
const WATCH_MS = 50;

export function createPool(options: PoolOptions): Pool {
  const piscina = new Piscina<ThreadMessage, ArtifactOutcome | undefined>({
    filename: fileURLToPath(new URL('./thread.ts', import.meta.url)),
    // Threads stay: a cold one takes its first runs through the interpreter and opens every snapshot again.
    minThreads: options.threads,
    maxThreads: options.threads,
    concurrentTasksPerWorker: 1,
    // 10 µs a dispatch instead of 19 to 48; the price is that a waiting thread's event loop stands still, and ours have nothing on it.
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

type Dispatch = (
  message: ThreadMessage,
  control: BatchControl,
  port?: MessagePort,
) => Promise<ArtifactOutcome | undefined>;

/** A batch at a thread or in the queue before it. */
interface Watched {
  readonly control: BatchControl;
  readonly abort: AbortController;
  /** The run seen last, and since when it runs (performance.now). */
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

/** Runs a batch to its last outcome, whatever happens to the threads it is given to. */
class Job implements PoolJob {
  readonly outcomes: Promise<PoolOutcome[]>;
  readonly #batch: PoolBatch;
  readonly #found: (PoolOutcome | undefined)[];
  readonly #control: BatchControl;
  readonly #onOutcome: OnOutcome | undefined;
  /** The control of the dispatch under way: a repeated one has memory of its own, since a killed thread may still write to the old. */
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
    const needs = this.#batch.runs.map((run) => bytesOf(this.#batch, run));
    needs.forEach((bytes, run) => {
      if (bytes > gate.limit) this.#settle(run, { kind: 'failed', error: tooLarge(bytes, gate.limit) });
    });
    const fitting = needs.filter((bytes) => bytes <= gate.limit);
    if (fitting.length === 0) return this.#found as PoolOutcome[];
    const leave = await gate.enter(Math.max(...fitting));
    try {
      for (let open = this.#open(); open.length > 0; open = this.#open()) await this.#dispatchOnce(open, dispatch);
    } finally {
      leave();
    }
    return this.#found as PoolOutcome[];
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
    const failure = await dispatch(message, control, far).then(() => null, (error: unknown) => ({ error })); // prettier-ignore
    // What a thread has posted lies in the port by the time the task settles, even when the thread is gone.
    near.off('message', settle);
    for (let last = receiveMessageOnPort(near); last; last = receiveMessageOnPort(near)) settle(last.message as never);
    near.close();
    if (failure) this.#blame(failure.error, control, runs);
  }

  /** A thread is gone. The run it was at is settled; those after it go to another. */
  #blame(error: unknown, control: BatchControl, runs: readonly number[]): void {
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
    return (await dispatch({ kind: 'artifact', batch: inputs, request }, control))!;
  } catch (error) {
    if (control.runningRun() === -1 || error instanceof PoolClosedError) throw error;
    return { ok: false, error: threadLost(error) };
  } finally {
    leave();
  }
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
    const { id, settings, config, strategyHash } = task;
    return { id, strategy, settings, config, strategyHash, snapshots };
  });
  return { kind: 'batch', snapshots, strategies: [...strategies.keys()], runs: listed, control };
}

const tooLarge = (bytes: number, limit: number): RunError => ({
  code: 'RESOURCE_LIMIT',
  path: '',
  message: `This run may need ${Math.ceil(bytes / 2 ** 20)} MiB and the worker allows ${Math.floor(limit / 2 ** 20)} MiB. Use fewer nodes, a coarser timeframe, or a worker with more memory.`,
});

const threadLost = (error: unknown): RunError => ({
  code: 'RESOURCE_LIMIT',
  path: '',
  message: `The thread that ran this backtest ended: ${error instanceof Error ? error.message : String(error)}`,
});
