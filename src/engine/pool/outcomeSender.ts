// Outcomes on their way out of a thread: a few together, since waking the other side costs more than a small outcome.
import type { MessagePort } from 'node:worker_threads';
import type { OutcomeMessage, PoolOutcome } from './messages.ts';

/** How long the oldest one may wait; the results of a share are written after up to 100 ms (jobs/outcomes.ts). */
const SEND_AFTER_MS = 20;

export class OutcomeSender {
  readonly #port: MessagePort;
  #outcomes: OutcomeMessage[] = [];
  #since = 0;

  constructor(port: MessagePort) {
    this.#port = port;
  }

  add(outcome: OutcomeMessage): void {
    if (this.#outcomes.length === 0) this.#since = performance.now();
    this.#outcomes.push(outcome);
    this.sendDue();
  }

  /** Called while a run is under way, so that finished outcomes do not wait for its end. */
  sendDue(): void {
    if (this.#outcomes.length > 0 && performance.now() - this.#since >= SEND_AFTER_MS) this.send();
  }

  send(): void {
    if (this.#outcomes.length === 0) return;
    this.#port.postMessage(this.#outcomes, this.#outcomes.flatMap(buffersOf));
    this.#outcomes = [];
  }
}

/** Moved to the other thread, not copied. */
const buffersOf = ({ outcome }: { readonly outcome: PoolOutcome }): ArrayBuffer[] =>
  outcome.kind === 'completed' ? [outcome.result.detail.buffer as ArrayBuffer] : [];
