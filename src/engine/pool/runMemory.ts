// The memory of a run: what it is admitted with, and what it takes beyond that as it makes more trades than expected.
import type { Lease } from './admission.ts';
import type { MemoryAnswer } from './control.ts';

export class RunMemory {
  readonly #estimate: number;
  readonly #maxBytes: number;
  readonly #tables: number;
  /** Bytes beyond the estimate, as the run counts them: those granted, or those it needs before it runs again. */
  #more = 0;
  #isRefused = false;

  /**
   * @param estimate bytes that the run is first admitted with
   * @param maxBytes the most that any task may have
   * @param tables how many tables of its trades it may hold at the same time
   */
  constructor(estimate: number, maxBytes: number, tables = 1) {
    this.#estimate = estimate;
    this.#maxBytes = maxBytes;
    this.#tables = tables;
  }

  /** The bytes to ask admission for. */
  get bytes(): number {
    return this.#total(this.#more);
  }

  get more(): number {
    return this.#more;
  }

  #total = (more: number): number => this.#estimate + this.#tables * more;

  /** Answers a run that asks for `more` bytes beyond the estimate. */
  answer(more: number, lease: Pick<Lease, 'raise'>): MemoryAnswer {
    if (this.#total(more) > this.#maxBytes) return 'never';
    const isGranted = lease.raise(this.#total(more));
    // A run that is refused gets twice as much when it starts over, so that it rarely starts over again.
    const most = (this.#maxBytes - this.#estimate) / this.#tables;
    this.#more = isGranted ? more : Math.min(2 * more, most);
    this.#isRefused ||= !isGranted;
    return isGranted ? 'yes' : 'later';
  }

  /** Whether the run was refused memory and so must start over. Resets the answer. */
  takeRefusal(): boolean {
    const isRefused = this.#isRefused;
    this.#isRefused = false;
    return isRefused;
  }
}
