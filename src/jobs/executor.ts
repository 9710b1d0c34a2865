// The executor: runs a share of claimed backtests through the pool, and tracks active runs so that they can be stopped
// and reported.
import type { Sql } from '../db/connect.ts';
import { returnRuns } from '../db/claims.ts';
import type { Claim, ProgressRow } from '../db/claims.ts';
import { ATTEMPTS_ERROR, MAX_ATTEMPTS } from '../db/crashSuspects.ts';
import { notify } from '../db/notifications.ts';
import { addTickets } from '../db/tickets.ts';
import type { Log } from '../log.ts';
import { TIER_LIMITS } from '../tiers.ts';
import type { Pool, PoolJob, PoolOutcome, PoolRun } from '../engine/index.ts';
import { OutcomeBuffer, NOTHING_DONE, claimOutcomeOf, finishedWith } from './outcomes.ts';
import type { ClaimOutcome } from './outcomes.ts';
import { isPoolRun } from './inputs.ts';
import type { InputReader, Inputs, NoteMissing } from './inputs.ts';
import type { Outlast } from './outages.ts';
import type { ResultWriter } from './results.ts';
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
  readonly #results: ResultWriter;
  readonly #log: Log;
  readonly #noteMissing: NoteMissing;
  readonly #outlast: Outlast;
  readonly #active = new Map<string, Active>();
  readonly #outcomes = new OutcomeBuffer((outcomes) => this.#store(outcomes));
  /** When ids that were not running here were cancelled. */
  readonly #recentCancels = new Map<string, number>();
  #isStopping = false;
  /** When a share was last taken, or the process started. */
  #lastShareAt = performance.now();
  /** Totals of the runs that ended here since the process started. */
  readonly #totals = { runsDone: 0, barsDone: 0, latencySeconds: 0 };

  constructor(parts: {
    readonly sql: Sql;
    readonly pool: Pool;
    readonly inputs: InputReader;
    readonly results: ResultWriter;
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
      for (const claim of claims) this.#active.delete(claim.id);
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

  get totals(): Readonly<{ runsDone: number; barsDone: number; latencySeconds: number }> {
    return this.#totals;
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
    const inputs = await this.#inputs.read(claims);
    const { snapshots, runs, missing } = inputs;
    const missingEverywhere = missing.length > 0 ? await this.#noteMissing(missing) : new Set<string>();
    const { poolRuns, runOf } = shareEqualRuns(claims, runs);
    const stored = new Set<Promise<void>>();
    const claimsOf: Claim[][] = poolRuns.map(() => []);
    for (const [index, claim] of claims.entries()) claimsOf[runOf[index]]?.push(claim);
    const settle = (run: number, outcome: PoolOutcome): void => {
      for (const [at, claim] of claimsOf[run].entries()) {
        const isCancelled = outcome.kind !== 'completed' && this.#active.get(claim.id)?.isCancelled;
        const own: PoolOutcome = isCancelled ? { kind: 'stopped', reason: 'cancelled' } : outcome;
        stored.add(this.#outcomes.add(claimOutcomeOf(claim, own, job.progress(run), at > 0)));
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
    for (const outcome of this.#withoutInputs(claims, inputs, missingEverywhere))
      stored.add(this.#outcomes.add(outcome));
    try {
      await job.outcomes;
    } finally {
      this.#outcomes.send();
      await Promise.all(stored);
    }
    // Tickets for the workers that can open what is missing here.
    if (missing.length > 0) await addTickets(this.#sql, 2);
  }

  /** The claims that cannot be run here: those that another worker may run go back, the others fail. */
  #withoutInputs(
    claims: readonly Claim[],
    { runs, missing }: Inputs,
    missingEverywhere: ReadonlySet<string>,
  ): ClaimOutcome[] {
    return claims.flatMap((claim, index) => {
      const run = runs[index];
      if (isPoolRun(run)) return [];
      if (this.#inputs.mayRunElsewhere(claim, missing, missingEverywhere)) return [{ kind: 'returned', claim }];
      return [claimOutcomeOf(claim, { kind: 'failed', error: run }, NOTHING_DONE, false)];
    });
  }

  /** From here on the runs can be stopped; those that were cancelled before are stopped at once. */
  #register(active: readonly Active[]): void {
    for (const each of active) this.#active.set(each.claim.id, each);
    for (const each of active)
      if (each.claim.isCancelled || this.#recentCancels.delete(each.claim.id)) this.#cancelActive(each);
    if (this.#isStopping) this.returnAll();
  }

  async #store(outcomes: readonly ClaimOutcome[]): Promise<void> {
    this.#logBugs(outcomes);
    await this.#results.write(outcomes.flatMap((outcome) => (outcome.kind === 'finished' ? [outcome.run] : [])));
    await this.#returnClaims(outcomes.flatMap((outcome) => (outcome.kind === 'returned' ? [outcome.claim] : [])));
    for (const outcome of outcomes) {
      this.#active.delete(outcome.claim.id);
      if (outcome.kind === 'finished') this.#count(outcome.claim, outcome.run.barsDone);
    }
  }

  #count({ createdAt }: Claim, barsDone: number): void {
    this.#totals.runsDone++;
    this.#totals.barsDone += barsDone;
    this.#totals.latencySeconds += Math.max(0, Date.now() - createdAt.getTime()) / 1_000;
  }

  async #returnClaims(claims: readonly Claim[]): Promise<void> {
    if (claims.length > 0) await notify(this.#sql, 'changed', await returnRuns(this.#sql, claims));
  }

  /** Claims that have been tried often enough fail: the cause may lie in one of them. The others go back. */
  async #failOrReturn(claims: readonly Claim[]): Promise<void> {
    const spent = claims.filter(({ attempt }) => attempt >= MAX_ATTEMPTS);
    await this.#results.write(spent.map((claim) => finishedWith(claim, ATTEMPTS_ERROR)));
    await this.#returnClaims(claims.filter(({ attempt }) => attempt < MAX_ATTEMPTS));
  }

  /** The stack of a defect belongs in the log, not in an answer. */
  #logBugs(outcomes: readonly ClaimOutcome[]): void {
    for (const outcome of outcomes) {
      if (outcome.kind === 'finished' && outcome.bug !== undefined)
        this.#log.error(
          { backtestId: outcome.run.id, stack: outcome.bug },
          'a run failed because of a defect of the service',
        );
    }
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
