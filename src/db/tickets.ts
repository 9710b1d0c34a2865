// Tickets: the Graphile Worker jobs that say "run what is due next", and the jobs that repeat one run on demand.
import type { Queryable, Transaction } from './connect.ts';

export const TICKET_TASK = 'run_due_backtests';
export const RERUN_TASK = 'rerun_backtest';
export const SWEEP_TASK = 'run_sweep_shards';
export const WEBHOOK_TASK = 'deliver_webhook';

/** Each kind of ticket, and the rows that need one: ours, never a caller's text. */
const TICKETS = {
  [TICKET_TASK]: 'select 1 from backtest_queue where claimed_by is null',
  [SWEEP_TASK]: `select 1 from sweep_shards where status = 'queued'`,
} as const;

/** A ticket fails only when Postgres does; when its attempts are used up, `repairTickets` adds another. */
const TICKET_ATTEMPTS = 5;
/** A ticket or job that a busy process passes on is hidden for this long. */
export const PASS_ON_MS = 500;
/**
 * Graphile Worker starts jobs of a lower number first, and those of one number in the order of their times. However
 * many shards are due, a backtest's ticket is started next; a ticket that finds no room takes a few milliseconds. A
 * flood of small batches has tickets of backtests without end: no other work may wait until there is none, so one
 * ticket of shards stands among them.
 */
const PRIORITIES: Readonly<Record<string, number>> = {
  [TICKET_TASK]: 0,
  [RERUN_TASK]: 0,
  [WEBHOOK_TASK]: 0,
  [SWEEP_TASK]: 1,
};
const FIRST_SHARDS_KEY = 'first shards';
/** A repeated run that crashed a worker is not retried: the request that asked for it has ended. */
const RERUN_ATTEMPTS = 1;

/**
 * What a ticket takes at a time, a share. A dispatch to a thread costs 10 µs and a claim a millisecond or two; spread
 * over a hundred small backtests, both are negligible.
 */
export const RUNS_PER_SHARE = 100;
/** Bars of work: a few tens of milliseconds, which is the longest that a newly arrived workspace waits for its turn. */
export const COST_PER_SHARE = 500_000;
/**
 * A ticket keeps working until nothing is due, so more tickets than a few hosts have threads would find nothing to do.
 */
const MAX_TICKETS = 64;

/** Adds as many tickets as the backtests make shares. */
export async function addTicketsFor(tx: Queryable, backtests: readonly { readonly cost: number }[]): Promise<void> {
  const cost = backtests.reduce((sum, backtest) => sum + backtest.cost, 0);
  const shares = Math.max(Math.ceil(backtests.length / RUNS_PER_SHARE), Math.ceil(cost / COST_PER_SHARE));
  await addTickets(tx, Math.min(shares, backtests.length, MAX_TICKETS));
}

/** Adds tickets; inside a transaction they appear with what it inserts, or not at all. */
export async function addTickets(sql: Queryable, count: number): Promise<void> {
  await addJobs(sql, TICKET_TASK, {}, count, TICKET_ATTEMPTS);
}

/** Of each kind of ticket, the key of the one that is passed on. */
const PASSED_ON_KEYS = { [TICKET_TASK]: 'left', [SWEEP_TASK]: 'left shards' } as const;

/**
 * The ticket of a busy process: passes due work on to another process, or to this one a little later. One such ticket
 * is enough, so none is added while the last one of this process is still hidden.
 */
export class PassedOnTicket {
  readonly #sql: Queryable;
  readonly #task: keyof typeof TICKETS;
  #addedAt = -Infinity;

  constructor(sql: Queryable, task: keyof typeof TICKETS) {
    this.#sql = sql;
    this.#task = task;
  }

  async add(): Promise<void> {
    const now = performance.now();
    if (now - this.#addedAt < PASS_ON_MS / 2) return;
    this.#addedAt = now;
    try {
      await addJobs(this.#sql, this.#task, {}, 1, TICKET_ATTEMPTS, PASS_ON_MS, PASSED_ON_KEYS[this.#task]);
    } catch (error) {
      this.#addedAt = -Infinity;
      throw error;
    }
  }
}

/** Adds tickets of shards, and the one that stands among those of backtests unless it is there. */
export async function addSweepTickets(sql: Queryable, count: number): Promise<void> {
  await addJobs(sql, SWEEP_TASK, {}, count, TICKET_ATTEMPTS);
  await sql`
    select 1 from graphile_worker.add_job(${SWEEP_TASK}, '{}'::json, job_key => ${FIRST_SHARDS_KEY},
      job_key_mode => 'preserve_run_at', max_attempts => ${TICKET_ATTEMPTS}::integer,
      priority => ${PRIORITIES[TICKET_TASK]}::integer)`;
}

/** @param delayMs how long it waits before it is seen. */
export async function addRerunJob(sql: Queryable, rerunId: string, workspaceId: string, delayMs = 0): Promise<void> {
  await addJobs(sql, RERUN_TASK, { rerunId, workspaceId }, 1, RERUN_ATTEMPTS, delayMs);
}

/** Adds the job that delivers what is due at a webhook, in place of one that waits (add_webhook_messages.sql). */
export async function addWebhookJob(sql: Queryable, webhookId: string, delayMs = 0): Promise<void> {
  await addJobs(sql, WEBHOOK_TASK, { webhookId }, 1, TICKET_ATTEMPTS, delayMs, `webhook ${webhookId}`);
}

/**
 * Repairs what no living process would: tickets and jobs locked by a dead one, jobs that have failed for good, and work
 * of any kind that is due and has no ticket, messages of webhooks included.
 */
export async function repairTickets(tx: Transaction): Promise<void> {
  // No registered process owns the pool. A process that is just starting may lose a ticket this way; the ticket then
  // runs twice and finds nothing the second time.
  const orphans = await tx<{ poolId: string }[]>`
    select distinct locked_by as "poolId" from graphile_worker.jobs
    where locked_by is not null and not exists (select 1 from worker_processes w where w.pool_id = locked_by)`;
  if (orphans.length > 0) {
    const poolIds = orphans.map((orphan) => orphan.poolId);
    const tickets = await tx<{ id: number }[]>`
      select id from graphile_worker.jobs where locked_by = any (${poolIds})
        and task_identifier = any (${[...Object.keys(TICKETS), WEBHOOK_TASK]})`;
    await tx`select graphile_worker.force_unlock_workers(${poolIds})`;
    // A ticket is never at fault: it gets back the attempt that died with its process.
    await tx`
      select count(*) from graphile_worker.reschedule_jobs(${tickets.map((ticket) => ticket.id)}::bigint[],
        run_at => now(), attempts => 0)`;
  }
  await tx`
    select count(*) from graphile_worker.complete_jobs(array(
      select id from graphile_worker.jobs where attempts >= max_attempts and locked_at is null))`;
  for (const [task, rows] of Object.entries(TICKETS)) {
    const [{ isDue, isStranded }] = await tx<[{ isDue: boolean; isStranded: boolean }]>`
      select exists (${tx.unsafe(rows)}) as "isDue",
        not exists (select 1 from graphile_worker.jobs where task_identifier = ${task}) as "isStranded"`;
    // An unlocked ticket is seen at the next poll; a new one wakes the workers at once.
    if (isDue && (isStranded || orphans.length > 0)) await addJobs(tx, task, {}, 1, TICKET_ATTEMPTS);
  }
  await repairWebhookJobs(tx);
}

/** Adds a job for each webhook with messages that have been due for a minute, and none that would deliver them. */
async function repairWebhookJobs(tx: Transaction): Promise<void> {
  const stranded = await tx<{ id: string }[]>`
    select w.id from webhooks w
    where w.is_enabled and coalesce(w.rests_until <= now(), true)
      and exists (select 1 from webhook_messages m
        where m.webhook_id = w.id and m.due_at < now() - interval '1 minute')
      and not exists (select 1 from graphile_worker.jobs j where j.key = 'webhook ' || w.id)`;
  for (const { id } of stranded) await addWebhookJob(tx, id);
}

/** `job_spec` is (identifier, payload, queue_name, run_at, max_attempts, job_key, priority, flags). */
async function addJobs(
  sql: Queryable,
  task: string,
  payload: object,
  count: number,
  attempts: number,
  delayMs = 0,
  jobKey: string | null = null,
): Promise<void> {
  await sql`
    select count(*) from graphile_worker.add_jobs(array(
      select (${task}::text, ${JSON.stringify(payload)}::text::json, null,
        now() + make_interval(secs => ${delayMs / 1_000}), ${attempts}::smallint, ${jobKey}::text,
          ${PRIORITIES[task]}::smallint, null)::graphile_worker.job_spec
      from generate_series(1, ${count}::integer)))`;
}
