// Results: how each claimed backtest ended, on its way into the database. This is the only place where outcomes wait:
// all that arrive during a statement are stored by the next one.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from '../db/connect.ts';
import { finishRuns, returnRuns } from '../db/claims.ts';
import type { Claim, FinishedRun } from '../db/claims.ts';
import { notify } from '../db/notifications.ts';
import { isDataError } from '../db/sqlErrors.ts';
import type { Outcome, RunError, RunProgress, StopReason } from '../engine/index.ts';
import type { Log } from '../log.ts';
import { TIER_LIMITS } from '../tiers.ts';

/** A statement is bounded in runs and in bytes. */
const MAX_RUNS = 400;
const MAX_BYTES = 16 << 20;
/** Postgres is away for a second or two when it restarts. A worker that cannot write can only wait, but not forever. */
const RETRIES = 20;
const RETRY_MS = 250;

/** What is to be stored of a claim; null: it goes back to the queue. */
type Ending = FinishedRun | null;

interface Waiting {
  readonly claim: Claim;
  readonly ending: Ending;
}

export class Results {
  readonly #sql: Sql;
  readonly #log: Log;
  #waiting: Waiting[] = [];
  /** Settles when the last statement so far has ended. */
  #last: Promise<void> = Promise.resolve();
  /** Settles when all that waits is stored; undefined: nothing waits. */
  #next: Promise<void> | undefined;
  /** Totals of the runs that ended here since the process started. */
  readonly #totals = { runsDone: 0, barsDone: 0, latencySeconds: 0 };

  constructor(sql: Sql, log: Log) {
    this.#sql = sql;
    this.#log = log;
  }

  get totals(): Readonly<{ runsDone: number; barsDone: number; latencySeconds: number }> {
    return this.#totals;
  }

  /**
   * Resolves when the ending is in Postgres and its waiters have been notified; rejects if it could not be stored,
   * which need not be observed.
   */
  add(claim: Claim, ending: Ending): Promise<void> {
    this.#waiting.push({ claim, ending });
    if (this.#next === undefined) {
      this.#next = this.#last.catch(() => {}).then(() => this.#storeWaiting());
      this.#next.catch(() => {});
    }
    return this.#next;
  }

  #storeWaiting(): Promise<void> {
    const waiting = this.#waiting.splice(0);
    this.#next = undefined;
    this.#last = this.#storeAll(waiting);
    return this.#last;
  }

  async #storeAll(waiting: readonly Waiting[]): Promise<void> {
    for (const runs of inStatements(waiting.flatMap(({ ending }) => ending ?? []))) await this.#storeRuns(runs);
    const returned = waiting.flatMap(({ claim, ending }) => (ending === null ? [claim] : []));
    if (returned.length > 0) await notify(this.#sql, 'changed', await returnRuns(this.#sql, returned));
    for (const { claim, ending } of waiting) if (ending !== null) this.#count(claim, ending);
  }

  #count({ createdAt }: Claim, { barsDone }: FinishedRun): void {
    this.#totals.runsDone++;
    this.#totals.barsDone += barsDone;
    this.#totals.latencySeconds += Math.max(0, Date.now() - createdAt.getTime()) / 1_000;
  }

  async #storeRuns(runs: readonly FinishedRun[]): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        const written = await finishRuns(this.#sql, runs);
        const lost = runs.length - written.length;
        if (lost > 0) this.#log.info({ lost }, 'claims were no longer ours; their results were dropped');
        return;
      } catch (error) {
        if (isDataError(error)) return this.#storeSingly(runs, error);
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
  async #storeSingly(runs: readonly FinishedRun[], error: unknown): Promise<void> {
    if (runs.length > 1) {
      for (const run of runs) await this.#storeRuns([run]);
      return;
    }
    const [run] = runs;
    this.#log.error({ err: error, backtestId: run.id }, 'a result cannot be stored');
    await finishRuns(this.#sql, [{ ...run, status: 'failed', result: null, error: NOT_STORABLE }]);
  }
}

const NOT_STORABLE: RunError = {
  code: 'RESULT_NOT_STORABLE',
  path: '',
  message: 'The result holds a text that cannot be stored, probably a NUL character in a name.',
};

/** Divides the runs in order, so that no statement exceeds its bounds, unless a single run does. */
function inStatements(runs: readonly FinishedRun[]): FinishedRun[][] {
  const statements: FinishedRun[][] = [];
  let bytes = Infinity;
  for (const run of runs) {
    const size = sizeOf(run);
    bytes += size;
    if (bytes <= MAX_BYTES && statements.at(-1)!.length < MAX_RUNS) statements.at(-1)!.push(run);
    else {
      statements.push([run]);
      bytes = size;
    }
  }
  return statements;
}

const sizeOf = ({ result }: FinishedRun): number =>
  result === null ? 0 : result.summary.length + result.detail.length + result.trades.length;

const NOTHING_DONE = { barsDone: 0, barsTotal: 0 };

const emptyRun = ({ id, attempt }: Claim) => ({ id, attempt, isCached: false, result: null, ...NOTHING_DONE });

/** What is stored of a claim that fails without having run. */
export const failedWith = (claim: Claim, error: RunError): FinishedRun => ({
  ...emptyRun(claim),
  status: 'failed',
  error,
});

/**
 * What is stored of a claim once its run has an outcome.
 * @param isCopy an equal backtest of the same share already has the result
 */
export function endingOf(
  claim: Claim,
  outcome: Outcome,
  { barsDone, barsTotal }: Pick<RunProgress, 'barsDone' | 'barsTotal'>,
  isCopy: boolean,
): Ending {
  const ended = { ...emptyRun(claim), barsDone, barsTotal };
  switch (outcome.kind) {
    case 'stopped':
      return outcome.reason === 'returned' ? null : { ...ended, ...STOPPED_RUNS[outcome.reason](claim) };
    case 'failed': {
      const { error, issues } = outcome;
      const shown = error.code === 'INTERNAL_ERROR' ? BUG_ERROR : error;
      return { ...ended, status: 'failed', error: { ...shown, ...(issues && { issues }) } };
    }
    case 'completed': {
      const { result } = outcome;
      return { ...ended, status: 'completed', result, isCached: isCopy, error: null, barsDone: barsTotal };
    }
  }
}

const STOPPED_RUNS: Readonly<
  Record<Exclude<StopReason, 'returned'>, (claim: Claim) => Pick<FinishedRun, 'status' | 'error'>>
> = {
  cancelled: () => ({ status: 'cancelled', error: null }),
  time_limit: (claim) => ({ status: 'failed', error: timeLimitError(claim) }),
};

const timeLimitError = ({ tier }: Claim): RunError => ({
  code: 'RESOURCE_LIMIT',
  path: '',
  message:
    `This backtest ran for ${TIER_LIMITS[tier].runSeconds} seconds, which is the limit of the ${tier} tier. Use a ` +
    'shorter range, a coarser timeframe, shorter periods or fewer nodes.',
});

const BUG_ERROR: RunError = {
  code: 'INTERNAL_ERROR',
  path: '',
  message:
    'This run failed because of an error in the service. It has been logged; queue it again or report it with its id.',
};
