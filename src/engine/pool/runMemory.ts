// The memory of a run: what it is admitted by, and what it takes beyond as it makes more trades than were expected.
import type { Lease } from './admission.ts';
import type { MemoryAnswer } from './control.ts';

export class RunMemory {
  readonly #estimate: number;
  readonly #maxBytes: number;
  readonly #tables: number;
  /** Beyond the estimate, as the run counts them: granted, or to be had before it runs again. */
  #more = 0;
  #isRefused = false;

  /**
   * @param estimate bytes by which it is admitted first
   * @param maxBytes the most that any task may have
   * @param tables how many tables as large as the trades that it logs it may hold
   */
  constructor(estimate: number, maxBytes: number, tables = 1) {
    this.#estimate = estimate;
    this.#maxBytes = maxBytes;
    this.#tables = tables;
  }

  /** What to enter with. */
  get bytes(): number {
    return this.#total(this.#more);
  }

  get more(): number {
    return this.#more;
  }

  #total = (more: number): number => this.#estimate + this.#tables * more;

  /** Answers the run, which asks for so many bytes beyond the estimate. */
  answer(more: number, lease: Pick<Lease, 'raise'>): MemoryAnswer {
    if (this.#total(more) > this.#maxBytes) return 'never';
    const isGranted = lease.raise(this.#total(more));
    // The next time it is to have enough: each time it runs again, it has twice as much.
    const most = (this.#maxBytes - this.#estimate) / this.#tables;
    this.#more = isGranted ? more : Math.min(2 * more, most);
    this.#isRefused ||= !isGranted;
    return isGranted ? 'yes' : 'later';
  }

  /** Whether it has ended because it could not have more memory at once, and must run again; asked once. */
  takeRefusal(): boolean {
    const isRefused = this.#isRefused;
    this.#isRefused = false;
    return isRefused;
  }
}
