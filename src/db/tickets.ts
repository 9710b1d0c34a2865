// Tickets: the Graphile Worker jobs that say "run what is due next", and the jobs that repeat one run on demand.
import type { Queryable } from './connect.ts';

export const TICKET_TASK = 'run_due_backtests';
export const RERUN_TASK = 'rerun_backtest';
export const SWEEP_TASK = 'run_sweep_shards';

/** A ticket fails only when Postgres does; the sweep of workerProcesses.ts writes new ones if all are spent. */
const TICKET_ATTEMPTS = 5;
/** A repeated run that crashed a worker is not retried: the request that asked for it has ended. */
const RERUN_ATTEMPTS = 1;

/** Adds tickets; inside a transaction they appear with what it inserts, or not at all. */
export async function addTickets(sql: Queryable, count: number): Promise<void> {
  await addJobs(sql, TICKET_TASK, {}, count, TICKET_ATTEMPTS);
}

/** @param delayMs how long they wait before they are seen. */
export async function addSweepTickets(sql: Queryable, count: number, delayMs = 0): Promise<void> {
  await addJobs(sql, SWEEP_TASK, {}, count, TICKET_ATTEMPTS, delayMs);
}

export async function addRerunJob(sql: Queryable, rerunId: string): Promise<void> {
  await addJobs(sql, RERUN_TASK, { rerunId }, 1, RERUN_ATTEMPTS);
}

/** `job_spec` is (identifier, payload, queue_name, run_at, max_attempts, job_key, priority, flags). */
async function addJobs(
  sql: Queryable,
  task: string,
  payload: object,
  count: number,
  attempts: number,
  delayMs = 0,
): Promise<void> {
  await sql`
    select count(*) from graphile_worker.add_jobs(array(
      select (${task}::text, ${JSON.stringify(payload)}::text::json, null, now() + make_interval(secs => ${delayMs / 1_000}), ${attempts}::smallint, null, null, null)::graphile_worker.job_spec
      from generate_series(1, ${count}::integer)))`;
}
