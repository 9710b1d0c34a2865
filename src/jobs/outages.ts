// Outages: what a worker does while its database is away. Tickets wait instead of failing, so that work goes on as soon
// as the database returns.
import { setTimeout as sleep } from 'node:timers/promises';
import { waitForDatabase } from '../db/availability.ts';
import { isDatabaseAway, isDiskFull } from '../db/sqlErrors.ts';
import type { Log } from '../log.ts';

/** The pause before another try. Waiting for the database may not be enough: it also answers while its disk is full. */
const PAUSE_MS = 100;

/** Repeats `work` until it meets no outage. @throws any other error, and outages too once the process stops */
export type Outlast = <Result>(work: () => Promise<Result>) => Promise<Result>;

export class Outages {
  readonly #url: string;
  readonly #log: Log;
  readonly #stopping = new AbortController();
  /** Resolves when the database is back; one probe serves all that wait. */
  #returning: Promise<void> | undefined;

  constructor(url: string, log: Log) {
    this.#url = url;
    this.#log = log;
  }

  readonly outlast: Outlast = async (work) => {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (this.#stopping.signal.aborted || !(isDatabaseAway(error) || isDiskFull(error))) throw error;
        this.#log.warn({ err: error }, 'the database is away; this goes on when it is back');
      }
      await sleep(PAUSE_MS * (0.5 + Math.random()));
      await this.waitForDatabase();
    }
  };

  /** Resolves when the database answers. @throws once the process stops */
  waitForDatabase(): Promise<void> {
    return (this.#returning ??= waitForDatabase(this.#url, this.#stopping.signal, this.#log).finally(
      () => (this.#returning = undefined),
    ));
  }

  /** Ends all waiting, because the process stops. */
  close(): void {
    this.#stopping.abort();
  }
}
