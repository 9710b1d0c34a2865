// The executor: runs a share of claimed backtests through the pool, and tracks active runs so that they can be stopped
// and reported.
import type { Sql } from '../db/connect.ts';
import type { Claim, ProgressRow } from '../db/claims.ts';
import { ATTEMPTS_ERROR, MAX_ATTEMPTS } from '../db/crashSuspects.ts';
import { addTickets } from '../db/tickets.ts';
import type { Log } from '../log.ts';
import { TIER_LIMITS } from '../tiers.ts';
import type { Outcome, Pool, PoolJob, PoolRun } from '../engine/index.ts';
import { isPoolRun } from './inputs.ts';
import type { InputReader, Inputs, NoteMissing } from './inputs.ts';
import type { Outlast } from './outages.ts';
import { endingOf, failedWith, type Results } from './results.ts';
import { QUICK_COST } from './shares.ts';

interface Active {
  readonly claim: Claim;
  readonly job: PoolJob;
  /** Index of the run in the job; equal runs share one. */
  readonly run: number;
  /** This backtest was cancelled, whatever happens to the run it shares. */
  isCancelled: boolean;
}

/** A cancel notification may arrive between the commit of a claim and the moment the run is registered here. */
const REMEMBER_CANCEL_MS = 10_000;

export class Executor {
  readonly #sql: Sql;
  readonly #pool: Pool;
  readonly #inputs: InputReader;
  readonly #results: Results;
  readonly #log: Log;
  readonly #noteMissing: NoteMissing;
  readonly #outlast: Outlast;
  readonly #active = new Map<string, Active>();
  /** When ids that were not running here were cancelled. */
  readonly #recentCancels = new Map<string, number>();
  #isStopping = false;
  /** When a share was last taken, or the process started. */
  #lastShareAt = performance.now();

  constructor(parts: {
    readonly sql: Sql;
    readonly pool: Pool;
    readonly inputs: InputReader;
    readonly results: Results;
    readonly log: Log;
    readonly noteMissing?: NoteMissing;
    readonly outlast?: Outlast;
  }) {
    this.#sql = parts.sql;
    this.#pool = parts.pool;
    this.#inputs = parts.inputs;
    this.#results = parts.results;
    this.#log = parts.log;
    this.#noteMissing = parts.noteMissing ?? (async (names) => new Set(names));
    this.#outlast = parts.outlast ?? ((work) => work());
  }

  /**
   * Runs claimed backtests and stores how each ended. Rejects only when Postgres cannot be written to; the claims then
   * go back.
   */
  async run(claims: readonly Claim[]): Promise<void> {
    this.#lastShareAt = performance.now();
    try {
      await this.#runAll(claims);
    } catch (error) {
      // If they were not given back, they would stay claimed for as long as this process lives.
      await this.#outlast(() => this.#failOrReturn(claims));
      throw error;
    } finally {
      // A claim that went back may be running here again.
      for (const claim of claims) if (this.#active.get(claim.id)?.claim === claim) this.#active.delete(claim.id);
    }
  }

  /** Ids that are not running here are remembered for a moment. */
  cancel(ids: readonly string[]): void {
    const now = performance.now();
    for (const [id, at] of this.#recentCancels) if (now - at > REMEMBER_CANCEL_MS) this.#recentCancels.delete(id);
    for (const id of ids) {
      const active = this.#active.get(id);
      if (active) this.#cancelActive(active);
      else this.#recentCancels.set(id, now);
    }
  }

  /** Stops every run and returns it to the queue; runs that have not started return at once. */
  returnAll(): void {
    this.#isStopping = true;
    for (const { job, run } of this.#active.values()) job.stop(run, 'returned');
  }

  /** How long no share has been taken; 0 while one is being run. */
  get idleSeconds(): number {
    return this.#active.size > 0 ? 0 : (performance.now() - this.#lastShareAt) / 1_000;
  }

  activeIds(): string[] {
    return [...this.#active.keys()];
  }

  /** Bars done of every backtest that has started. */
  progress(): ProgressRow[] {
    return [...this.#active.values()].flatMap(({ claim, job, run }) => {
      const { state, barsDone, barsTotal } = job.progress(run);
      return state === 'running' && barsTotal > 0
        ? [{ id: claim.id, attempt: claim.attempt, barsDone, barsTotal }]
        : [];
    });
  }

  #cancelActive(active: Active): void {
    active.isCancelled = true;
    const others = [...this.#active.values()].filter(
      (other) => other.job === active.job && other.run === active.run && !other.isCancelled,
    );
    // Another backtest still wants the result of the run they share.
    if (others.length === 0) active.job.stop(active.run, 'cancelled');
  }

  async #runAll(claims: readonly Claim[]): Promise<void> {
    const { snapshots, runs, missing } = await this.#inputs.read(claims);
    const missingEverywhere = missing.length > 0 ? await this.#noteMissing(missing) : new Set<string>();
    const { poolRuns, runOf } = shareEqualRuns(claims, runs);
    // Endings that are stored together share a promise.
    const stored = new Set<Promise<void>>();
    const claimsOf: Claim[][] = poolRuns.map(() => []);
    for (const [index, claim] of claims.entries()) claimsOf[runOf[index]]?.push(claim);
    const settle = (run: number, outcome: Outcome): void => {
      for (const [at, claim] of claimsOf[run].entries()) {
        const isCancelled = outcome.kind !== 'completed' && this.#active.get(claim.id)?.isCancelled;
        const own: Outcome = isCancelled ? { kind: 'stopped', reason: 'cancelled' } : outcome;
        this.#logBug(claim, own);
        stored.add(this.#results.add(claim, endingOf(claim, own, job.progress(run), at > 0)));
      }
    };
    // In a microtask, since the pool may report an outcome before it has returned the job that `settle` reads.
    const job = this.#pool.run({ snapshots, runs: poolRuns }, (run, outcome) =>
      queueMicrotask(() => settle(run, outcome)),
    );
    this.#register(
      claims.flatMap((claim, index) =>
        runOf[index] === -1 ? [] : [{ claim, job, run: runOf[index], isCancelled: false }],
      ),
    );
    for (const [index, claim] of claims.entries()) {
      const run = runs[index];
      if (isPoolRun(run)) continue;
      // A claim that cannot be run here goes back when another worker may be able to run it.
      const mayRunElsewhere = this.#inputs.mayRunElsewhere(claim, missing, missingEverywhere);
      stored.add(this.#results.add(claim, mayRunElsewhere ? null : failedWith(claim, run)));
    }
    try {
      await job.outcomes;
    } finally {
      await Promise.all(stored);
    }
    // Tickets for the workers that can open what is missing here.
    if (missing.length > 0) await addTickets(this.#sql, 2);
  }

  /** From here on the runs can be stopped; those that were cancelled before are stopped at once. */
  #register(active: readonly Active[]): void {
    for (const each of active) this.#active.set(each.claim.id, each);
    for (const each of active)
      if (each.claim.isCancelled || this.#recentCancels.delete(each.claim.id)) this.#cancelActive(each);
    if (this.#isStopping) this.returnAll();
  }

  /** Claims that have been tried often enough fail: the cause may lie in one of them. The others go back. */
  async #failOrReturn(claims: readonly Claim[]): Promise<void> {
    const stored = claims.map((claim) =>
      this.#results.add(claim, claim.attempt < MAX_ATTEMPTS ? null : failedWith(claim, ATTEMPTS_ERROR)),
    );
    await Promise.all(stored);
  }

  /** The stack of a defect belongs in the log, not in an answer. */
  #logBug({ id }: Claim, outcome: Outcome): void {
    if (outcome.kind !== 'failed' || outcome.error.code !== 'INTERNAL_ERROR') return;
    const { message: stack } = outcome.error;
    this.#log.error({ backtestId: id, stack }, 'a run failed because of a defect of the service');
  }
}

/** The runs of a share, equal ones once; `runOf` has the index of the run of each claim, or -1: it cannot be run. */
function shareEqualRuns(
  claims: readonly Claim[],
  runs: Inputs['runs'],
): { readonly poolRuns: readonly PoolRun[]; readonly runOf: readonly number[] } {
  const indexes = new Map<string, number>();
  const poolRuns: PoolRun[] = [];
  const runOf = claims.map((claim, index) => {
    const run = runs[index];
    if (!isPoolRun(run)) return -1;
    // Equal keys give equal results. Only within one workspace: a tenant must learn nothing from another's runs.
    const key = `${claim.workspaceId} ${claim.runKey}`;
    const known = indexes.get(key);
    if (known !== undefined) return known;
    indexes.set(key, poolRuns.length);
    const timeLimitMs = 1_000 * TIER_LIMITS[claim.tier].runSeconds;
    const { workspaceId: owner, memoryBytes } = claim;
    const isQuick = claim.cost <= QUICK_COST;
    return poolRuns.push({ ...run, owner, isQuick, timeLimitMs, ...(memoryBytes > 0 && { memoryBytes }) }) - 1;
  });
  return { poolRuns, runOf };
}
