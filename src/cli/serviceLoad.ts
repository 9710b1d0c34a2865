// Whether the processes of a service have work: a process that stands by starts and warms up while they have none.
import { EventEmitter, once } from 'node:events';

export class ServiceLoad {
  readonly #changes = new EventEmitter<{ change: [isBusy: boolean] }>();
  readonly #busy = new Set<object>();

  get isBusy(): boolean {
    return this.#busy.size > 0;
  }

  /** `source` has work, or has none any more. */
  report(source: object, isBusy: boolean): void {
    const before = this.isBusy;
    if (isBusy) this.#busy.add(source);
    else this.#busy.delete(source);
    if (this.isBusy !== before) this.#changes.emit('change', this.isBusy);
  }

  /** Calls `listener` now and at every change, until `signal` aborts. */
  follow(listener: (isBusy: boolean) => void, signal: AbortSignal): void {
    if (signal.aborted) return;
    listener(this.isBusy);
    this.#changes.on('change', listener);
    signal.addEventListener('abort', () => this.#changes.off('change', listener), { once: true });
  }

  /** Resolves when nothing has work, or after `withinMs`, or when `signal` aborts. */
  async waitUntilIdle(withinMs: number, signal: AbortSignal): Promise<void> {
    if (!this.isBusy) return;
    const late = AbortSignal.any([signal, AbortSignal.timeout(withinMs)]);
    await once(this.#changes, 'change', { signal: late }).catch(() => {});
  }
}
