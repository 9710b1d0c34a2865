// The shared memory of one batch: per run a stop flag, a state, the bars done and a request for memory. Both sides can
// read it at any time.
import type { RunControl } from '../task.ts';
import { STOP_REASONS } from './messages.ts';
import type { StopReason } from './messages.ts';

/** `withdrawn`: it was taken back before its thread began it, to run elsewhere. */
const RUN_STATES = ['waiting', 'running', 'done', 'withdrawn'] as const;
type RunState = (typeof RUN_STATES)[number];

export interface RunProgress {
  readonly state: RunState;
  readonly barsDone: number;
  /** 0 until the run has begun. */
  readonly barsTotal: number;
}

/** The state of a run's request for memory. */
const ANSWERS = ['none', 'asked', 'yes', 'later', 'never'] as const;
export type MemoryAnswer = 'yes' | 'later' | 'never';

const BYTES_PER_RUN = 3 * Int32Array.BYTES_PER_ELEMENT + 3 * Float64Array.BYTES_PER_ELEMENT;
const GATE_BYTES = Int32Array.BYTES_PER_ELEMENT;

/**
 * Views on the shared memory. Layout for n runs: barsDone f64[n], barsTotal f64[n], more f64[n], stop i32[n],
 * state i32[n], answer i32[n], gate i32[1].
 */
export class BatchControl {
  readonly buffer: SharedArrayBuffer;
  readonly size: number;
  /** The thread of the batch enters native calls through it (nativeCalls.ts). */
  readonly gate: Int32Array;
  readonly #barsDone: Float64Array;
  readonly #barsTotal: Float64Array;
  /** Per run, the bytes beyond those it was admitted with: granted ones or, while it asks, requested ones. */
  readonly #more: Float64Array;
  readonly #stop: Int32Array;
  readonly #state: Int32Array;
  readonly #answer: Int32Array;

  private constructor(buffer: SharedArrayBuffer, size: number) {
    this.buffer = buffer;
    this.size = size;
    this.#barsDone = new Float64Array(buffer, 0, size);
    this.#barsTotal = new Float64Array(buffer, 8 * size, size);
    this.#more = new Float64Array(buffer, 16 * size, size);
    this.#stop = new Int32Array(buffer, 24 * size, size);
    this.#state = new Int32Array(buffer, 28 * size, size);
    this.#answer = new Int32Array(buffer, 32 * size, size);
    this.gate = new Int32Array(buffer, 36 * size, 1);
  }

  static create(size: number): BatchControl {
    return new BatchControl(new SharedArrayBuffer(size * BYTES_PER_RUN + GATE_BYTES), size);
  }

  static over(buffer: SharedArrayBuffer): BatchControl {
    return new BatchControl(buffer, (buffer.byteLength - GATE_BYTES) / BYTES_PER_RUN);
  }

  /** The first reason stands: a canceled run is not returned to the queue afterwards. */
  stop(run: number, reason: StopReason): void {
    Atomics.compareExchange(this.#stop, run, 0, STOP_REASONS.indexOf(reason) + 1);
  }

  stopReason(run: number): StopReason | null {
    const flag = Atomics.load(this.#stop, run);
    return flag === 0 ? null : STOP_REASONS[flag - 1];
  }

  /** @returns false when the run was withdrawn and no longer belongs to this thread. */
  begin(run: number): boolean {
    return this.#change(run, 'waiting', 'running');
  }

  end(run: number): void {
    Atomics.store(this.#state, run, RUN_STATES.indexOf('done'));
  }

  /** Takes back the runs that have not begun. */
  withdraw(): number[] {
    return Array.from({ length: this.size }, (_, run) => run).filter((run) =>
      this.#change(run, 'waiting', 'withdrawn'),
    );
  }

  /** One thread begins a run and another withdraws it; exactly one of them succeeds. */
  #change(run: number, from: RunState, to: RunState): boolean {
    const [before, after] = [RUN_STATES.indexOf(from), RUN_STATES.indexOf(to)];
    return Atomics.compareExchange(this.#state, run, before, after) === before;
  }

  /** Counts are plain stores: a reader may see a slightly older count, but never half a number. */
  progress(run: number): RunProgress {
    return {
      state: RUN_STATES[Atomics.load(this.#state, run)],
      barsDone: this.#barsDone[run],
      barsTotal: this.#barsTotal[run],
    };
  }

  /** The run that a thread is executing, -1 between runs. */
  runningRun(): number {
    return this.#state.indexOf(RUN_STATES.indexOf('running'));
  }

  /** Sets how many bytes the run may take without asking, beyond those it was admitted with. */
  grant(run: number, bytes: number): void {
    this.#more[run] = bytes;
  }

  /** Answers the run that waits for an answer, if any. */
  answerAsk(answer: (run: number, bytes: number) => MemoryAnswer): void {
    const run = this.#answer.indexOf(ANSWERS.indexOf('asked'));
    if (run === -1) return;
    Atomics.store(this.#answer, run, ANSWERS.indexOf(answer(run, this.#more[run])));
    Atomics.notify(this.#answer, run);
  }

  /** Blocks the thread until the main thread has answered, which it does at once. */
  #mayTake(run: number, bytes: number, ring: () => void): MemoryAnswer {
    if (bytes <= this.#more[run]) return 'yes';
    const asked = ANSWERS.indexOf('asked');
    const had = this.#more[run];
    this.#more[run] = bytes;
    Atomics.store(this.#answer, run, asked);
    ring();
    Atomics.wait(this.#answer, run, asked);
    const answer = ANSWERS[Atomics.load(this.#answer, run)] as MemoryAnswer;
    if (answer !== 'yes') this.#more[run] = had;
    return answer;
  }

  /**
   * The control that is passed to the simulation.
   * @param ring tells the main thread that a run asks for memory
   */
  controlOf(run: number, ring: () => void): RunControl {
    return {
      isCancelled: () => Atomics.load(this.#stop, run) !== 0,
      report: (barsDone, barsTotal) => {
        this.#barsDone[run] = barsDone;
        this.#barsTotal[run] = barsTotal;
      },
      mayTake: (bytes) => this.#mayTake(run, bytes, ring),
    };
  }
}
