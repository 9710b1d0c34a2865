// Worker processes: which are alive, and what happens to the work of dead ones.
//
// A live process holds a session advisory lock on a connection of its own. However it dies, Postgres releases the lock
// with the connection, and the next process to look takes over its work: within three seconds, or at once if it knows
// of the death, instead of the four hours after which Graphile Worker releases a locked job.
import type { Queryable, Sql } from './connect.ts';
import { takeOverBacktests } from './crashSuspects.ts';
import { LOCKS } from './locks.ts';
import { takeOverShards } from './sweepShards.ts';
import { repairTickets } from './tickets.ts';

/**
 * A process cut off from Postgres keeps its lock until TCP times out; after this long without a heartbeat it counts as
 * dead.
 */
const SILENT_AFTER_SECONDS = 30;
/**
 * A living process that loses its connection, and with it its lock, has new ones within this time. After a restart of
 * the database, this goes for all processes.
 */
const RECONNECTED_WITHIN_SECONDS = 2;

export interface WorkerProcess {
  readonly id: string;
  /** Graphile Worker's id of the process. */
  readonly poolId: string;
  readonly host: string;
  readonly pid: number;
  readonly threads: number;
}

/**
 * Registers the process and takes its lock for as long as the connection lives; the row is not visible before the lock
 * is held. `connection` is a pool of one that keeps its connection. Call it again after a lost connection.
 */
export async function registerWorker(connection: Sql, worker: WorkerProcess): Promise<void> {
  await connection.begin(async (tx) => {
    const [{ lockKey }] = await tx<[{ lockKey: number }]>`
      insert into worker_processes (id, pool_id, host, pid, threads)
      values (${worker.id}, ${worker.poolId}, ${worker.host}, ${worker.pid}, ${worker.threads})
      on conflict (id) do update set seen_at = now(), pool_id = excluded.pool_id returning lock_key as "lockKey"`;
    await tx`select pg_advisory_lock(hashtextextended(${LOCKS.worker}, ${lockKey}))`;
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
  /** How long it has taken no work. */
  readonly idleSeconds: number;
}

/** @returns false when another process has declared this one dead; it must then register again. */
export async function renewHeartbeat(connection: Queryable, id: string, totals: WorkerTotals): Promise<boolean> {
  const rows = await connection`
    update worker_processes set seen_at = now(), busy_share = ${totals.busyShare}, runs_done = ${totals.runsDone},
      bars_done = ${totals.barsDone}, latency_seconds = ${totals.latencySeconds},
      took_at = now() - make_interval(secs => ${totals.idleSeconds})
    where id = ${id} returning 1`;
  return rows.length > 0;
}

export interface QueueNumbers {
  /** Backtests that wait, crash suspects included; `running`: those that run. */
  readonly queued: number;
  readonly running: number;
  /** Backtests that wait because their worker process died; they run in a process of their own. */
  readonly suspects: number;
  /** How long the oldest queued backtest has waited; 0: none is queued. */
  readonly oldestDueSeconds: number;
  readonly workers: readonly WorkerNumbers[];
}
interface WorkerNumbers extends WorkerTotals {
  readonly id: string;
  readonly threads: number;
  /** Snapshots that it could not open within the last minute. */
  readonly missingSnapshots: number;
}

/** The queue is stalled after this long; workers look for work every second. */
const STALLED_AFTER_SECONDS = 15;

/** Whether backtests are due and no worker takes any, though there are workers. */
export const isStalled = ({ oldestDueSeconds, workers }: QueueNumbers): boolean =>
  oldestDueSeconds > STALLED_AFTER_SECONDS &&
  workers.length > 0 &&
  workers.every(({ idleSeconds }) => idleSeconds > STALLED_AFTER_SECONDS);

/** The queue and the workers, for /metrics. */
export async function readQueueNumbers(sql: Queryable): Promise<QueueNumbers> {
  const [{ open }] = await sql<[{ open: number }]>`select coalesce(sum(open), 0)::int as open from workspace_turns`;
  const [{ oldestDueSeconds }] = await sql<[{ oldestDueSeconds: number }]>`
    select coalesce(extract(epoch from now() - min(oldest.created_at)), 0)::double precision as "oldestDueSeconds"
    from (
      select first.created_at from workspace_turns as turn cross join lateral (
        select b.created_at from backtest_queue q join backtests b using (id)
        where q.workspace_id = turn.workspace_id and q.claimed_by is null and q.kills = 0 order by q.id limit 1
      ) as first
      where turn.due > 0
      union all
      select b.created_at from backtest_queue q join backtests b using (id) where q.claimed_by is null and q.kills > 0
    ) as oldest`;
  const workers = await sql<WorkerNumbers[]>`
    select id, threads, busy_share as "busyShare", runs_done as "runsDone", bars_done as "barsDone",
      latency_seconds as "latencySeconds",
      extract(epoch from now() - took_at)::double precision as "idleSeconds", (
        select count(*)::int from missing_snapshots m where m.worker_id = w.id
          and m.noted_at > now() - interval '1 minute'
      ) as "missingSnapshots"
    from worker_processes w`;
  const [{ running, suspects }] = await sql<[{ running: number; suspects: number }]>`
    select (select count(*)::int from backtest_queue where claimed_by is not null) as running,
      (select count(*)::int from backtest_queue where claimed_by is null and kills > 0) as suspects`;
  return { queued: Math.max(0, open - running), running, suspects, oldestDueSeconds, workers };
}

/** What has gone wrong within the last hour, and how large the database is. */
interface TroubleNumbers {
  /** Failed backtests by the code of their error, of those accepted within the hour. */
  readonly failures: readonly { readonly code: string; readonly count: number }[];
  readonly workerDeaths: number;
  readonly databaseBytes: number;
}

/** The numbers of the last hour, for /metrics. */
export async function readTroubleNumbers(sql: Queryable): Promise<TroubleNumbers> {
  // Ids sort by time, to the millisecond, and the index holds failed backtests only.
  const since = uuidAt(Date.now() - 3_600_000);
  const failures = await sql<{ code: string; count: number }[]>`
    select coalesce(error->>'code', 'UNKNOWN') as code, count(*)::int as count from backtest_results
    where status = 'failed' and id >= ${since} group by 1`;
  const [{ workerDeaths, databaseBytes }] = await sql<[{ workerDeaths: number; databaseBytes: number }]>`
    select (select count(*)::int from worker_deaths where died_at > now() - interval '1 hour') as "workerDeaths",
      pg_database_size(current_database()) as "databaseBytes"`;
  return { failures, workerDeaths, databaseBytes };
}

/** The least UUID (version 7) of a time in ms. */
function uuidAt(ms: number): string {
  const hex = Math.floor(ms).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
}

export async function unregisterWorker(connection: Queryable, id: string): Promise<void> {
  await connection`delete from worker_processes where id = ${id}`;
  await connection`select pg_advisory_unlock_all()`;
}

interface TakenOver {
  /** Backtests whose state was changed, for their waiters. */
  readonly changedIds: readonly string[];
  readonly deadWorkers: readonly string[];
}

/**
 * Takes over the work of dead processes, and repairs what no living process would: jobs and backtests of unregistered
 * processes, queued backtests without a ticket, jobs that have failed for good. Undefined while another process is
 * doing this.
 * @param knownDead a worker whose process has ended, which need not be silent first
 */
export async function takeOverDeadWorkers(sql: Sql, knownDead: string | null = null): Promise<TakenOver | undefined> {
  return sql.begin(async (tx) => {
    const [{ isOurs }] = await tx<[{ isOurs: boolean }]>`
      select pg_try_advisory_xact_lock(hashtextextended(${LOCKS.takeOver}, 0)) as "isOurs"`;
    if (!isOurs) return undefined;
    const dead = await tx<{ id: string; poolId: string }[]>`
      select id, pool_id as "poolId" from worker_processes
      where seen_at < now() - make_interval(secs => ${SILENT_AFTER_SECONDS})
        or (id = ${knownDead} or seen_at < now() - make_interval(secs => ${RECONNECTED_WITHIN_SECONDS})
          and pg_postmaster_start_time() < now() - make_interval(secs => ${RECONNECTED_WITHIN_SECONDS}))
          and pg_try_advisory_xact_lock(hashtextextended(${LOCKS.worker}, lock_key))`;
    const deadIds = dead.map((worker) => worker.id);
    await tx`delete from worker_processes where id = any (${deadIds}::uuid[])`;
    if (deadIds.length > 0) {
      await tx`insert into worker_deaths (worker_id) select unnest(${deadIds}::uuid[])`;
      await tx`delete from worker_deaths where died_at < now() - interval '1 day'`;
    }
    const changedIds = [...(await takeOverBacktests(tx)), ...(await takeOverShards(tx))];
    await repairTickets(tx);
    return { changedIds, deadWorkers: dead.map((worker) => worker.id) };
  });
}
