// The shared memory of one batch: per run a stop flag, a state and the bars done, readable from both sides at any time.
import type { RunControl } from '../task.ts';
import { STOP_REASONS } from './messages.ts';
import type { StopReason } from './messages.ts';

/** `withdrawn`: it was taken back before its thread came to it, to run elsewhere. */
const RUN_STATES = ['waiting', 'running', 'done', 'withdrawn'] as const;
export type RunState = (typeof RUN_STATES)[number];

export interface RunProgress {
  readonly state: RunState;
  readonly barsDone: number;
  /** 0 until the run has begun. */
  readonly barsTotal: number;
}

const BYTES_PER_RUN = 2 * Int32Array.BYTES_PER_ELEMENT + 2 * Float64Array.BYTES_PER_ELEMENT;

/** Views on that memory. Layout for n runs: barsDone f64[n], barsTotal f64[n], stop i32[n], state i32[n]. */
export class BatchControl {
  readonly buffer: SharedArrayBuffer;
  readonly size: number;
  readonly #barsDone: Float64Array;
  readonly #barsTotal: Float64Array;
  readonly #stop: Int32Array;
  readonly #state: Int32Array;

  private constructor(buffer: SharedArrayBuffer, size: number) {
    this.buffer = buffer;
    this.size = size;
    this.#barsDone = new Float64Array(buffer, 0, size);
    this.#barsTotal = new Float64Array(buffer, 8 * size, size);
    this.#stop = new Int32Array(buffer, 16 * size, size);
    this.#state = new Int32Array(buffer, 20 * size, size);
  }

  static create(size: number): BatchControl {
    return new BatchControl(new SharedArrayBuffer(size * BYTES_PER_RUN), size);
  }

  static over(buffer: SharedArrayBuffer): BatchControl {
    return new BatchControl(buffer, buffer.byteLength / BYTES_PER_RUN);
  }

  /** The first reason stands: a canceled run is not returned to the queue afterwards. */
  stop(run: number, reason: StopReason): void {
    Atomics.compareExchange(this.#stop, run, 0, STOP_REASONS.indexOf(reason) + 1);
  }

  stopReason(run: number): StopReason | null {
    const flag = Atomics.load(this.#stop, run);
    return flag === 0 ? null : STOP_REASONS[flag - 1];
  }

  /** @returns false when the run was withdrawn: it is not this thread's any more. */
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

  /** Plain stores: a reader may see a slightly older count, never half a number. */
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

  /**
   * What the simulation is given.
   * @param onPoll called whenever it looks at its stop flag
   */
  controlOf(run: number, onPoll: () => void = () => {}): RunControl {
    return {
      isCancelled: () => {
        onPoll();
        return Atomics.load(this.#stop, run) !== 0;
      },
      report: (barsDone, barsTotal) => {
        this.#barsDone[run] = barsDone;
        this.#barsTotal[run] = barsTotal;
      },
    };
  }
}
