// A job: takes one batch of runs through the threads until each run has an outcome, even when threads die.
import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads';
import type { MessagePort } from 'node:worker_threads';
import type { RunError } from '../task.ts';
import type { StrategyAst } from '../language/grammar/ast.ts';
import type { Admission, Lease } from './admission.ts';
import { BatchControl } from './control.ts';
import type { MemoryAnswer, RunProgress } from './control.ts';
import { estimateRunBytes, RunMemory } from './memory.ts';
import type {
  ArtifactAnswer,
  BatchMessage,
  EndedRun,
  Outcome,
  PoolBatch,
  PoolRun,
  RobustnessOutcome,
  StopReason,
  SweepOutcome,
  ThreadMessage,
} from './messages.ts';

export type OnOutcome = (run: number, outcome: Outcome) => void;

/** A batch under way. Indexes are those of `batch.runs`. */
export interface PoolJob {
  /**
   * One outcome per run, in order. A rejection is a defect of the pool or of the module it runs, never the result of a
   * run.
   */
  readonly outcomes: Promise<Outcome[]>;
  /** Stops an active run the next time it polls its flag, a waiting run before it starts. */
  stop(run: number, reason: StopReason): void;
  progress(run: number): RunProgress;
}

/** Outcomes that are still awaited reject with this when the pool is disposed of. */
export class PoolClosedError extends Error {
  override readonly name = 'PoolClosedError';
  constructor() {
    super('The pool was closed while runs were under way.');
  }
}

/** A message for a thread, and what the pool watches while it is there. */
export interface Dispatched {
  readonly message: ThreadMessage;
  readonly control: BatchControl;
  readonly lease: Lease;
  readonly port?: MessagePort;
  /** The time limit of each run; undefined: the limit of the pool. */
  readonly timeLimitsMs: readonly (number | undefined)[];
  /** Takes what the thread has posted so far; called every now and then while it is at work. */
  readonly collect?: () => void;
  /** Called when the thread has been busy with the message for a while; takes back the runs that it has not begun. */
  readonly split?: () => void;
  /** Answers a run that asks for memory beyond what it was admitted with; absent: always refused. */
  readonly mayTake?: (run: number, bytes: number) => MemoryAnswer;
}
export type Dispatch = (dispatched: Dispatched) => Promise<ThreadAnswer>;
export type ThreadAnswer = ArtifactAnswer | SweepOutcome | RobustnessOutcome | undefined;

/** Where a run is: its index in the memory of a dispatch. */
interface Place {
  readonly control: BatchControl;
  readonly index: number;
}

/** Runs a batch to its last outcome, in parts of one owner each. A slow run splits off the runs that wait behind it. */
export class Job implements PoolJob {
  readonly outcomes: Promise<Outcome[]>;
  readonly #batch: PoolBatch;
  readonly #admission: Admission;
  readonly #dispatch: Dispatch;
  readonly #onOutcome: OnOutcome | undefined;
  readonly #found: (Outcome | undefined)[];
  readonly #memory: (RunMemory | null)[];
  /** Why runs were told to stop, before and between their dispatches. */
  readonly #control: BatchControl;
  /** Each dispatch has its own memory, since a killed thread may still write to its old one. */
  readonly #places = new Map<number, Place>();
  readonly #parts: Promise<void>[] = [];

  constructor(batch: PoolBatch, admission: Admission, dispatch: Dispatch, onOutcome?: OnOutcome) {
    this.#batch = batch;
    this.#admission = admission;
    this.#dispatch = dispatch;
    this.#onOutcome = onOutcome;
    this.#found = batch.runs.map(() => undefined);
    this.#control = BatchControl.create(batch.runs.length);
    this.#memory = batch.runs.map((_, run) => this.#prepare(run));
    for (const runs of this.#byOwner()) this.#start(runs);
    this.outcomes = this.#allOutcomes();
  }

  stop(run: number, reason: StopReason): void {
    this.#control.stop(run, reason);
    const place = this.#places.get(run);
    place?.control.stop(place.index, reason);
  }

  progress(run: number): RunProgress {
    const place = this.#places.get(run) ?? { control: this.#control, index: run };
    const progress = place.control.progress(place.index);
    if (this.#found[run]) return { ...progress, state: 'done' };
    return progress.state === 'withdrawn' ? { ...progress, state: 'waiting' } : progress;
  }

  /** Not Promise.all, because parts are added while it waits. */
  async #allOutcomes(): Promise<Outcome[]> {
    for (let at = 0; at < this.#parts.length; at++) await this.#parts[at];
    return this.#found as Outcome[];
  }

  /** What the run may need; null when it has been settled because it is too large or cannot be prepared. */
  #prepare(run: number): RunMemory | null {
    const { maxBytes } = this.#admission;
    try {
      const bytes = bytesNeeded(this.#batch, this.#batch.runs[run]);
      if (bytes <= maxBytes) return new RunMemory(bytes, maxBytes);
      this.#settle(run, { kind: 'failed', error: tooLarge(bytes, maxBytes) });
    } catch (error) {
      this.#settle(run, { kind: 'failed', error: notPrepared(error) });
    }
    return null;
  }

  #byOwner(): Iterable<number[]> {
    const owners = Map.groupBy(
      this.#batch.runs.flatMap((_, run) => (this.#memory[run] === null ? [] : [run])),
      (run) => ownerOf(this.#batch.runs[run]),
    );
    return owners.values();
  }

  #start(runs: readonly number[]): void {
    const part = this.#runPart(runs);
    // Awaited in #allOutcomes; until then a rejection must not end the process.
    part.catch(() => {});
    this.#parts.push(part);
  }

  async #runPart(runs: readonly number[]): Promise<void> {
    const owner = ownerOf(this.#batch.runs[runs[0]]);
    for (let open = runs; open.length > 0;) {
      const bytes = open.reduce((most, run) => Math.max(most, this.#memory[run]!.bytes), 0);
      const isQuick = open.every((run) => this.#batch.runs[run].isQuick);
      const lease = await this.#admission.enter({ owner, bytes, isQuick });
      try {
        const moved = await this.#dispatchOnce(open, lease);
        open = open.filter((run) => !this.#found[run] && !moved.has(run));
      } finally {
        lease.leave();
      }
    }
  }

  /**
   * Every call settles or moves at least one run, so that the loop around it ends.
   * @returns the runs that were taken back, or need more memory than could be had, and run in other parts.
   */
  async #dispatchOnce(runs: readonly number[], lease: Lease): Promise<ReadonlySet<number>> {
    const control = BatchControl.create(runs.length);
    const moved = new Set<number>();
    for (const [index, run] of runs.entries()) {
      this.#places.set(run, { control, index });
      control.grant(index, this.#memory[run]!.more);
      const reason = this.#control.stopReason(run);
      if (reason) control.stop(index, reason);
    }
    const chosen = runs.map((run) => this.#batch.runs[run]);
    const { port1: near, port2: far } = new MessageChannel();
    const collect = (): void => {
      for (const { run: index, outcome } of postedTo(near)) {
        const run = runs[index];
        if (outcome.kind !== 'failed' || !this.#memory[run]!.takeRefusal()) this.#settle(run, outcome);
        else this.#runAgain(run, moved);
      }
    };
    const { snapshots, collectsGarbage = false } = this.#batch;
    // `collectsGarbage` is always set, so that every message has the same shape.
    const message = { ...batchMessage(snapshots, chosen, control.buffer), collectsGarbage, port: far };
    const split = (): void => {
      const withdrawn = control.withdraw().map((index) => runs[index]);
      for (const run of withdrawn) moved.add(run);
      for (const part of inParts(withdrawn, this.#admission.freeCount)) this.#start(part);
    };
    const timeLimitsMs = chosen.map((run) => run.timeLimitMs);
    const mayTake = (index: number, more: number): MemoryAnswer => this.#memory[runs[index]]!.answer(more, lease);
    const dispatched = { message, control, lease, port: far, timeLimitsMs, collect, split, mayTake };
    const failure = await this.#dispatch(dispatched).then(
      () => null,
      (error: unknown) => ({ error }),
    );
    // Whatever a thread has posted is in the port by the time the task settles, even when the thread is gone.
    collect();
    near.close();
    if (failure) this.#settleCrashed(failure.error, control, runs);
    return moved;
  }

  /** Starts the run over once there is memory for it: a simulation cannot be suspended. Until then it holds none. */
  #runAgain(run: number, moved: Set<number>): void {
    moved.add(run);
    this.#places.delete(run);
    this.#start([run]);
  }

  /** A thread has died. The run it was executing is settled; the runs after it go to another thread. */
  #settleCrashed(error: unknown, control: BatchControl, runs: readonly number[]): void {
    const index = control.runningRun();
    if (index === -1 || error instanceof PoolClosedError) throw error;
    const reason = control.stopReason(index);
    this.#settle(runs[index], reason ? { kind: 'stopped', reason } : { kind: 'failed', error: threadLost(error) });
  }

  #settle(run: number, outcome: Outcome): void {
    if (this.#found[run]) return;
    this.#found[run] = outcome;
    this.#onOutcome?.(run, outcome);
  }
}

/** The runs that have ended since the last call. The port has no listener: outcomes wait in it until they are taken. */
function* postedTo(port: MessagePort): Generator<EndedRun, void, undefined> {
  for (;;) {
    const posted = receiveMessageOnPort(port);
    if (posted === undefined) return;
    yield posted.message as EndedRun;
  }
}

/** The owner of a run; runs that name none share one. */
export const ownerOf = ({ owner = '' }: { readonly owner?: string }): string => owner;

/** Bytes that a run may need at its peak, besides the snapshots. */
export function bytesNeeded(batch: PoolBatch, run: PoolRun): number {
  if (run.memoryBytes !== undefined) return run.memoryBytes;
  const read = run.snapshots.map((index) => batch.snapshots[index]);
  return estimateRunBytes(run.task, read);
}

/** Divides the runs in order into one part per free thread; one part when none is free. */
function inParts(runs: readonly number[], free: number): number[][] {
  const size = Math.ceil(runs.length / Math.max(1, free));
  return Array.from({ length: Math.ceil(runs.length / size) || 0 }, (_, at) => runs.slice(at * size, (at + 1) * size));
}

/** A message that runs these runs in this order; `control` is the memory of a `BatchControl` of as many. */
export function batchMessage(
  snapshots: PoolBatch['snapshots'],
  runs: readonly PoolRun[],
  control: SharedArrayBuffer,
): Omit<BatchMessage, 'port'> {
  const strategies = new Map<StrategyAst, number>();
  const listed = runs.map((run) => {
    const { task, snapshots } = run;
    const strategy = strategies.get(task.strategyAst) ?? strategies.size;
    strategies.set(task.strategyAst, strategy);
    const { strategyAst: _, ...sent } = task;
    return { ...sent, owner: ownerOf(run), strategy, snapshots };
  });
  return { kind: 'batch', snapshots, strategies: [...strategies.keys()], runs: listed, control };
}

/** The error of a run that needs more bytes than any run may have. */
export const tooLarge = (bytes: number, limit: number): RunError => ({
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

/** The error of a run whose thread has died, by its own fault or because it ignored its stop flag. */
export const threadLost = (error: unknown): RunError => ({
  code: 'RESOURCE_LIMIT',
  path: '',
  message: `The thread that ran this backtest ended: ${error instanceof Error ? error.message : String(error)}`,
});
