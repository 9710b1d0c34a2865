// The executor: takes a share of claimed backtests through the pool, and knows what is running so that it can be stopped and watched.
import type { Sql } from '../db/connect.ts';
import { returnRuns } from '../db/claims.ts';
import type { Claim, ProgressRow } from '../db/claims.ts';
import { tell } from '../db/news.ts';
import type { Log } from '../log.ts';
import type { Pool, PoolJob, PoolOutcome, PoolRun } from '../engine/index.ts';
import { EndingBuffer, NOTHING_DONE, endingOf } from './endings.ts';
import type { Ending } from './endings.ts';
import { isPoolRun } from './inputs.ts';
import type { InputReader } from './inputs.ts';
import type { ResultWriter } from './results.ts';

interface Active {
  readonly claim: Claim;
  readonly job: PoolJob;
  /** Index of the run in the job; equal runs share one. */
  readonly run: number;
  /** Cancelled by itself, whatever becomes of the run it shares. */
  isCancelled: boolean;
}

/** A cancel may be told between the commit of a claim and the moment the run is known here. */
const REMEMBER_CANCEL_MS = 10_000;

export class Executor {
  readonly #sql: Sql;
  readonly #pool: Pool;
  readonly #inputs: InputReader;
  readonly #results: ResultWriter;
  readonly #log: Log;
  readonly #active = new Map<string, Active>();
  readonly #recentCancels = new Map<string, number>();
  #isStopping = false;
  /** Since the start, of what ended here. */
  readonly #totals = { runsDone: 0, barsDone: 0, latencySeconds: 0 };

  constructor(parts: {
    readonly sql: Sql;
    readonly pool: Pool;
    readonly inputs: InputReader;
    readonly results: ResultWriter;
    readonly log: Log;
  }) {
    this.#sql = parts.sql;
    this.#pool = parts.pool;
    this.#inputs = parts.inputs;
    this.#results = parts.results;
    this.#log = parts.log;
  }

  /** Runs claimed backtests and stores how each ended. Rejects only when Postgres cannot be written to; the claims then go back. */
  async run(claims: readonly Claim[]): Promise<void> {
    try {
      await this.#runAll(claims);
    } catch (error) {
      await this.#giveBack(claims);
      throw error;
    } finally {
      for (const claim of claims) this.#active.delete(claim.id);
    }
  }

  /** Ids that do not run here are remembered for a moment. */
  cancel(ids: readonly string[]): void {
    const now = performance.now();
    for (const [id, at] of this.#recentCancels) if (now - at > REMEMBER_CANCEL_MS) this.#recentCancels.delete(id);
    for (const id of ids) {
      const active = this.#active.get(id);
      if (active) this.#cancelActive(active);
      else this.#recentCancels.set(id, now);
    }
  }

  /** Tells every run to stop and go back to the queue; what is not begun yet goes back at once. */
  returnAll(): void {
    this.#isStopping = true;
    for (const { job, run } of this.#active.values()) job.stop(run, 'returned');
  }

  get totals(): Readonly<{ runsDone: number; barsDone: number; latencySeconds: number }> {
    return this.#totals;
  }

  activeIds(): string[] {
    return [...this.#active.keys()];
  }

  /** Bars done of every backtest that has begun. */
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
    const { snapshots, runs } = await this.#inputs.read(claims);
    const shared = new Map<string, number>();
    const poolRuns: PoolRun[] = [];
    const runOf = claims.map((claim, index) => {
      const run = runs[index];
      if (!isPoolRun(run)) return -1;
      // Equal keys give equal results, within one workspace: what one tenant runs tells another nothing.
      const key = `${claim.workspaceId} ${claim.runKey}`;
      const known = shared.get(key);
      if (known !== undefined) return known;
      shared.set(key, poolRuns.length);
      return poolRuns.push(run) - 1;
    });
    const store = new EndingBuffer((endings) => this.#store(endings));
    const settle = (run: number, outcome: PoolOutcome): void => {
      let isCopy = false;
      for (const [index, claim] of claims.entries()) {
        if (runOf[index] !== run) continue;
        const isCancelled = outcome.kind !== 'completed' && this.#active.get(claim.id)?.isCancelled;
        const own: PoolOutcome = isCancelled ? { kind: 'stopped', reason: 'cancelled' } : outcome;
        store.add(endingOf(claim, own, job.progress(run), isCopy));
        isCopy = true;
      }
    };
    const job = this.#pool.run({ snapshots, runs: poolRuns }, (run, outcome) =>
      queueMicrotask(() => settle(run, outcome)),
    );
    const active = claims.flatMap((claim, index) =>
      runOf[index] === -1 ? [] : [{ claim, job, run: runOf[index], isCancelled: false }],
    );
    for (const each of active) this.#active.set(each.claim.id, each);
    for (const each of active)
      if (each.claim.isCancelled || this.#recentCancels.delete(each.claim.id)) this.#cancelActive(each);
    if (this.#isStopping) this.returnAll();
    for (const [index, claim] of claims.entries()) {
      const run = runs[index];
      if (!isPoolRun(run)) store.add(endingOf(claim, { kind: 'failed', error: run }, NOTHING_DONE, false));
    }
    try {
      await job.outcomes;
    } finally {
      await store.flush();
    }
  }

  async #store(endings: readonly Ending[]): Promise<void> {
    this.#logBugs(endings);
    await this.#results.write(endings.flatMap((ending) => (ending.kind === 'finished' ? [ending.run] : [])));
    await this.#giveBack(endings.flatMap((ending) => (ending.kind === 'returned' ? [ending.claim] : [])));
    for (const ending of endings) {
      this.#active.delete(ending.claim.id);
      if (ending.kind === 'finished') this.#count(ending.claim, ending.run.barsDone);
    }
  }

  #count({ createdAt }: Claim, barsDone: number): void {
    this.#totals.runsDone++;
    this.#totals.barsDone += barsDone;
    this.#totals.latencySeconds += Math.max(0, Date.now() - createdAt.getTime()) / 1_000;
  }

  async #giveBack(claims: readonly Claim[]): Promise<void> {
    if (claims.length > 0) await tell(this.#sql, 'changed', await returnRuns(this.#sql, claims));
  }

  /** The stack of a bug belongs in the log and not in an answer. */
  #logBugs(endings: readonly Ending[]): void {
    for (const ending of endings) {
      if (ending.kind === 'finished' && ending.bug !== undefined)
        this.#log.error({ backtestId: ending.run.id, stack: ending.bug }, 'a run failed by a bug of ours');
    }
  }
}
