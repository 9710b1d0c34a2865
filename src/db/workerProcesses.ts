// Worker processes: who is alive, and what becomes of the work of one that is not.
//
// A live process holds a session advisory lock on a connection of its own. When it dies, whatever the way, Postgres frees the lock with the
// connection, and the next process to look takes its work over: within half a second instead of the four hours after which Graphile
// Worker gives a locked job up.
import type { Queryable, Sql, Transaction } from './connect.ts';
import { addTickets, TICKET_TASK } from './tickets.ts';

/** First key of the two-key advisory locks; the second is the process's own. */
const LOCK_CLASS = 7_233_021;
/** Only one process at a time looks for dead ones. */
const SWEEP_LOCK = 7_233_022;
/** A process that is cut off from Postgres keeps its lock until TCP gives up; after this long without a sign of life it counts as dead. */
const SILENT_AFTER_SECONDS = 30;
/** A backtest under which so many processes died is failed. The first death only makes it run alone, so two more are its own doing. */
const MAX_KILLS = 3;

export interface WorkerProcess {
  readonly id: string;
  /** Graphile Worker's name for it. */
  readonly poolId: string;
  readonly host: string;
  readonly pid: number;
  readonly threads: number;
}

/**
 * Registers the process and takes its lock for as long as the connection lives; the row is not seen before the lock is held. `connection` is a
 * pool of one that keeps its connection. Call it again after a lost connection.
 */
export async function registerWorker(connection: Sql, worker: WorkerProcess): Promise<void> {
  await connection.begin(async (tx) => {
    const [{ lockKey }] = await tx<[{ lockKey: number }]>`
      insert into worker_processes (id, pool_id, host, pid, threads)
      values (${worker.id}, ${worker.poolId}, ${worker.host}, ${worker.pid}, ${worker.threads})
      on conflict (id) do update set seen_at = now() returning lock_key as "lockKey"`;
    await tx`select pg_advisory_lock(${LOCK_CLASS}, ${lockKey})`;
  });
}

/** What a worker has done since it started. */
export interface WorkerTotals {
  /** Share of its threads that are busy, 0 to 1. */
  readonly busyShare: number;
  readonly runsDone: number;
  readonly barsDone: number;
  /** Sum of the times from accepted to ended. */
  readonly latencySeconds: number;
}

/** @returns false when another process has declared this one dead: it must register again. */
export async function showLife(connection: Queryable, id: string, totals: WorkerTotals): Promise<boolean> {
  const rows = await connection`
    update worker_processes set seen_at = now(), busy_share = ${totals.busyShare}, runs_done = ${totals.runsDone},
      bars_done = ${totals.barsDone}, latency_seconds = ${totals.latencySeconds}
    where id = ${id} returning 1`;
  return rows.length > 0;
}

export interface QueueNumbers {
  /** Queued, and running. */
  readonly due: number;
  readonly running: number;
  readonly workers: readonly (WorkerTotals & { readonly id: string; readonly threads: number })[];
}

/** For /metrics. */
export async function readQueueNumbers(sql: Queryable): Promise<QueueNumbers> {
  const [turns] = await sql<[{ due: number; open: number }]>`
    select coalesce(sum(due), 0)::int as due, coalesce(sum(open), 0)::int as open from workspace_turns`;
  const workers = await sql<(WorkerTotals & { id: string; threads: number })[]>`
    select id, threads, busy_share as "busyShare", runs_done as "runsDone", bars_done as "barsDone", latency_seconds as "latencySeconds"
    from worker_processes`;
  const [{ running }] = await sql<[{ running: number }]>`
    select count(*)::int as running from backtests where status = 'running'`;
  return { due: turns.due, running, workers };
}

export async function unregisterWorker(connection: Queryable, id: string): Promise<void> {
  await connection`delete from worker_processes where id = ${id}`;
  await connection`select pg_advisory_unlock_all()`;
}

export interface Sweep {
  /** Backtests whose state was changed, for those who wait for them. */
  readonly changedIds: readonly string[];
  readonly deadWorkers: readonly string[];
}

/**
 * Takes over what dead processes held, and mends what no living process would: jobs and backtests of processes nobody knows, queued
 * backtests without a ticket, jobs that have failed for good. Undefined when another process is at it.
 */
export async function sweep(sql: Sql): Promise<Sweep | undefined> {
  return sql.begin(async (tx) => {
    const [{ isOurs }] = await tx<[{ isOurs: boolean }]>`select pg_try_advisory_xact_lock(${SWEEP_LOCK}) as "isOurs"`;
    if (!isOurs) return undefined;
    const dead = await tx<{ id: string; poolId: string }[]>`
      select id, pool_id as "poolId" from worker_processes
      where seen_at < now() - make_interval(secs => ${SILENT_AFTER_SECONDS})
        or pg_try_advisory_xact_lock(${LOCK_CLASS}, lock_key)`;
    await tx`delete from worker_processes where id = any (${dead.map((worker) => worker.id)}::uuid[])`;
    const changedIds = await takeOver(tx);
    await mendJobs(tx);
    return { changedIds, deadWorkers: dead.map((worker) => worker.id) };
  });
}

/**
 * Backtests held by a process that is not registered any more. One that ran alone has killed its process. Of several beside each
 * other one may have: they are suspects, queued again to be run alone, which acquits all but the guilty.
 */
async function takeOver(tx: Transaction): Promise<string[]> {
  const message = `The worker process ended ${MAX_KILLS} times while it ran this backtest. It probably needs more memory than there is: use fewer nodes, a shorter range or a coarser timeframe.`;
  const rows = await tx<{ id: string }[]>`
    with orphan as (
      select b.id, b.cancel_requested_at is not null as is_cancelled, b.kills + 1 as deaths
      from backtests b
      where b.status = 'running' and not exists (select 1 from worker_processes w where w.id = b.claimed_by)
      order by b.id for update
    )
    update backtests as b set claimed_by = null, is_alone = false, bars_done = 0, bars_total = 0, kills = orphan.deaths,
      status = case when is_cancelled then 'cancelled' when deaths >= ${MAX_KILLS} then 'failed' else 'queued' end,
      started_at = case when is_cancelled or deaths >= ${MAX_KILLS} then b.started_at end,
      finished_at = case when is_cancelled or deaths >= ${MAX_KILLS} then now() end,
      error = case when not is_cancelled and deaths >= ${MAX_KILLS} then ${JSON.stringify({ code: 'RESOURCE_LIMIT', path: '', message })}::text::json end
    from orphan where b.id = orphan.id
    returning b.id`;
  return rows.map((row) => row.id);
}

async function mendJobs(tx: Transaction): Promise<void> {
  // Nobody answers for the pool. One that is just starting may lose a ticket that way; it is then done twice, and finds nothing the second time.
  const orphans = await tx<{ poolId: string }[]>`
    select distinct locked_by as "poolId" from graphile_worker.jobs
    where locked_by is not null and not exists (select 1 from worker_processes w where w.pool_id = locked_by)`;
  if (orphans.length > 0) {
    const poolIds = orphans.map((orphan) => orphan.poolId);
    const tickets = await tx<{ id: number }[]>`
      select id from graphile_worker.jobs where locked_by = any (${poolIds}) and task_identifier = ${TICKET_TASK}`;
    await tx`select graphile_worker.force_unlock_workers(${poolIds})`;
    // A ticket is never at fault: it gets the attempt back that died with its process.
    await tx`
      select count(*) from graphile_worker.reschedule_jobs(${tickets.map((ticket) => ticket.id)}::bigint[], run_at => now(), attempts => 0)`;
  }
  await tx`
    select count(*) from graphile_worker.complete_jobs(array(
      select id from graphile_worker.jobs where attempts >= max_attempts and locked_at is null))`;
  const [{ isStranded }] = await tx<[{ isStranded: boolean }]>`
    select exists (select 1 from backtests where status = 'queued') and not exists (
      select 1 from graphile_worker.jobs where task_identifier = ${TICKET_TASK}) as "isStranded"`;
  // An unlocked ticket is seen at the next poll; a new one wakes the workers at once.
  if (isStranded || orphans.length > 0) await addTickets(tx, 1);
}
