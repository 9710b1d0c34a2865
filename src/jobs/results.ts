// Results: collects finished runs and writes them in batches; each statement takes all that arrived during the previous
// one.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from '../db/connect.ts';
import { finishRuns } from '../db/claims.ts';
import type { FinishedRun } from '../db/claims.ts';
import { isDataError } from '../db/sqlErrors.ts';
import type { Log } from '../log.ts';

/** A batch is one statement, bounded in runs and in bytes. */
const MAX_RUNS = 400;
const MAX_BYTES = 16 << 20;
/** Postgres is away for a second or two when it restarts. A worker that cannot write can only wait, but not forever. */
const RETRIES = 20;
const RETRY_MS = 250;

const sizeOf = ({ result }: FinishedRun): number =>
  result === null ? 0 : result.summary.length + result.detail.length + result.trades.length;

interface Entry {
  readonly runs: readonly FinishedRun[];
  readonly done: () => void;
  readonly fail: (error: unknown) => void;
}

export class ResultWriter {
  readonly #sql: Sql;
  readonly #log: Log;
  #queue: Entry[] = [];
  #isWriting = false;

  constructor(sql: Sql, log: Log) {
    this.#sql = sql;
    this.#log = log;
  }

  /** Resolves when the runs are in Postgres and their waiters have been notified. */
  write(runs: readonly FinishedRun[]): Promise<void> {
    if (runs.length === 0) return Promise.resolve();
    return new Promise((done, fail) => {
      this.#queue.push({ runs, done, fail });
      if (!this.#isWriting) void this.#writeAll();
    });
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    while (this.#queue.length > 0) {
      const entries = this.#takeBatch();
      try {
        await this.#writeBatch(entries.flatMap((entry) => entry.runs));
        for (const entry of entries) entry.done();
      } catch (error) {
        for (const entry of entries) entry.fail(error);
      }
    }
    this.#isWriting = false;
  }

  #takeBatch(): Entry[] {
    let runs = 0;
    let bytes = 0;
    const count = this.#queue.findIndex((entry) => {
      runs += entry.runs.length;
      bytes += entry.runs.reduce((sum, run) => sum + sizeOf(run), 0);
      return runs > MAX_RUNS || bytes > MAX_BYTES;
    });
    return this.#queue.splice(0, count === -1 ? this.#queue.length : Math.max(1, count));
  }

  async #writeBatch(runs: readonly FinishedRun[]): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#store(runs);
      } catch (error) {
        if (isDataError(error)) return this.#writeSingly(runs, error);
        if (tries === RETRIES) throw error;
        this.#log.warn({ err: error, tries }, 'results could not be written, trying again');
        await sleep(RETRY_MS);
      }
    }
  }

  /**
   * Postgres cannot store a value of one of the results (a NUL character in a text): that run fails, the others are
   * kept.
   */
  async #writeSingly(runs: readonly FinishedRun[], error: unknown): Promise<void> {
    if (runs.length > 1) {
      for (const run of runs) await this.#writeBatch([run]);
      return;
    }
    const [run] = runs;
    this.#log.error({ err: error, backtestId: run.id }, 'a result cannot be stored');
    const message = 'The result holds a text that cannot be stored, probably a NUL character in a name.';
    await this.#store([
      {
        ...run,
        status: 'failed',
        result: null,
        error: { code: 'RESULT_NOT_STORABLE', path: '', message },
      },
    ]);
  }

  async #store(runs: readonly FinishedRun[]): Promise<void> {
    const written = await finishRuns(this.#sql, runs);
    if (written.length < runs.length)
      this.#log.info({ lost: runs.length - written.length }, 'claims were no longer ours; their results were dropped');
  }
}
