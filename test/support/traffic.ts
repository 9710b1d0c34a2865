// Traffic: clients of a workspace that queue backtests, each under an Idempotency-Key that they repeat until it is
// answered, and readers beside them.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { config } from './backtestApi.ts';
import { isLong } from './scale.ts';

/** A backtest that the service has acknowledged. */
export interface Acknowledged {
  readonly id: string;
  /** No two backtests have the same, so that none is a copy of another's result. */
  readonly initialBalance: number;
}

const BATCH = 10;
const WRITERS = 2;
const PAUSE_MS = isLong ? 250 : 1_000;
const RETRY_MS = 50;
/** Between two reads of the reader. */
const READ_PAUSE_MS = isLong ? 50 : 250;
/** A connection that a killed process left open answers nothing. */
const GIVE_UP_MS = 10_000;
const SYMBOLS = ['SPX', 'AAPL', 'IBM'];

export class Traffic {
  readonly acknowledged: Acknowledged[] = [];
  /** Statuses of all answers; 0: none came. */
  readonly statuses = new Map<number, number>();
  /** Answers that no client should ever see. */
  readonly unexpected: string[] = [];
  readonly #url: string;
  readonly #apiKey: string;
  readonly #strategyVersionId: string;
  readonly #stopped = new AbortController();
  readonly #running: Promise<unknown>;
  #sent = 0;

  constructor(url: string, apiKey: string, strategyVersionId: string) {
    this.#url = url;
    this.#apiKey = apiKey;
    this.#strategyVersionId = strategyVersionId;
    const writers = Array.from({ length: WRITERS }, (_, index) => this.#write(index > 0));
    this.#running = Promise.all([...writers, this.#read()]);
  }

  /** Resolves when every request that was begun has been answered. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#running;
  }

  async #write(isBatch: boolean): Promise<void> {
    while (!this.#stopped.signal.aborted) {
      const bodies = Array.from({ length: isBatch ? BATCH : 1 }, () => this.#newBody());
      const answer = await this.#sendUntilAnswered(isBatch, bodies);
      const data = isBatch
        ? (answer as { data: { index: number; id?: string }[] }).data
        : [{ ...(answer as { id: string }), index: 0 }];
      for (const { index, id } of data)
        if (id !== undefined) this.acknowledged.push({ id, initialBalance: bodies[index].config.initialBalance });
      await sleep(PAUSE_MS);
    }
  }

  async #sendUntilAnswered(isBatch: boolean, bodies: readonly object[]): Promise<unknown> {
    const key = randomUUID();
    for (;;) {
      const body = isBatch ? { items: bodies } : bodies[0];
      const { status, answer } = await this.#request('POST', `/backtests${isBatch ? '/batch' : ''}`, body, key);
      if (status === 200 || status === 201) return answer;
      // In progress under the same key, a full queue, a database that is away, an API that is.
      if (![0, 409, 429, 503].includes(status))
        this.unexpected.push(`${status} ${JSON.stringify(answer).slice(0, 300)}`);
      await sleep(RETRY_MS);
    }
  }

  async #read(): Promise<void> {
    while (!this.#stopped.signal.aborted) {
      const last = this.acknowledged.at(-1);
      const path = last === undefined ? '/backtests?limit=5' : `/backtests/${last.id}?wait=2`;
      for (const each of ['/backtests?limit=20&status=completed', path]) {
        const { status, answer } = await this.#request('GET', each);
        if (![0, 200, 503].includes(status)) this.unexpected.push(`${status} ${JSON.stringify(answer).slice(0, 300)}`);
      }
      await sleep(READ_PAUSE_MS);
    }
  }

  #newBody() {
    const at = this.#sent++;
    const params = { fast: 3 + (at % 20), slow: 30 + (at % 50) };
    const signalInstrument = { symbol: SYMBOLS[at % SYMBOLS.length] };
    const initialBalance = 10_000 + at;
    return {
      strategyVersionId: this.#strategyVersionId,
      config: { ...config({ params, signalInstrument }), initialBalance },
    };
  }

  async #request(
    method: string,
    path: string,
    body?: unknown,
    key?: string,
  ): Promise<{ readonly status: number; readonly answer: unknown }> {
    let status = 0;
    let answer: unknown;
    try {
      const response = await fetch(`${this.#url}/public/v1${path}`, {
        method,
        headers: {
          'x-api-key': this.#apiKey,
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...(key !== undefined && { 'idempotency-key': key }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(GIVE_UP_MS),
      });
      answer = await response.json();
      ({ status } = response);
    } catch {
      // The connection broke, before or within the answer: the client cannot know, and asks again.
    }
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
    return { status, answer };
  }
}
