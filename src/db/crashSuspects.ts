// Crash suspects: backtests that were running when their worker process died. They wait apart from the queue and run in
// processes of their own (jobs/crashSuspects.ts), so that the next death has only one possible cause.
import type { Claim } from './claims.ts';
import type { Queryable, Sql, Transaction } from './connect.ts';
import { NOT_HANDED_FOR } from './missingSnapshots.ts';

/**
 * A backtest fails after this many of its processes have died; a sweep fails after as many for one of its shards. The
 * first death may have had another cause. In later ones the backtest ran alone, so it was the cause.
 */
export const MAX_KILLS = 3;
/** Work is given back when its process stops or Postgres is away; ten times in a row must have another cause. */
export const MAX_ATTEMPTS = 10;

export const ATTEMPTS_ERROR = {
  code: 'ATTEMPTS_EXHAUSTED',
  path: '',
  message:
    `This backtest was started ${MAX_ATTEMPTS} times and never ended. The fault is on our side; queue it again or ` +
    'report it.',
};
const KILLS_ERROR = {
  code: 'RESOURCE_LIMIT',
  path: '',
  message:
    `The worker process ended ${MAX_KILLS} times while it ran this backtest. The backtest probably needs more memory ` +
    'than there is: use fewer nodes, a shorter range or a coarser timeframe.',
};

/** Which suspects `worker` may claim. @param excluded workspaces of which it runs one already */
const waiting = (sql: Queryable, worker: string, excluded: readonly string[]) => sql`
  s.claimed_by is null and s.kills > 0 and s.workspace_id <> all (${excluded as string[]}::uuid[])
    and not exists (
      select 1 from missing_snapshots m join backtests a on a.id = s.id
      where m.worker_id = ${worker} and m.sha256 = any (a.snapshots)
        and m.noted_at > now() - ${NOT_HANDED_FOR}::interval)`;

/** Whether `claimCrashSuspect` would find one. */
export async function areCrashSuspectsWaiting(
  sql: Queryable,
  worker: string,
  excluded: readonly string[],
): Promise<boolean> {
  const [{ found }] = await sql<[{ found: boolean }]>`
    select exists (select 1 from backtest_queue s where ${waiting(sql, worker, excluded)}) as found`;
  return found;
}

/**
 * Hands out one suspect: those with fewer deaths come first, then those with fewer attempts, then the cheaper ones. The
 * caller runs nothing else in the same process.
 */
export async function claimCrashSuspect(
  sql: Queryable,
  worker: string,
  excluded: readonly string[] = [],
): Promise<Claim | undefined> {
  const [claim] = await sql<Claim[]>`
    with claimed as (
      update backtest_queue as q set claimed_by = ${worker}, is_alone = true, attempt = q.attempt + 1,
        started_at = now()
      where q.id = (
        select s.id from backtest_queue s where ${waiting(sql, worker, excluded)}
        order by s.kills, s.attempt, s.cost, s.id limit 1 for update of s skip locked
      )
      returning id, cost, memory_bytes, attempt, cancel_requested_at
    )
    select b.id, b.workspace_id as "workspaceId", b.strategy_version_id as "strategyVersionId", b.config, b.snapshots,
      b.run_key as "runKey", b.created_at as "createdAt",
      (select tier from workspaces w where w.id = b.workspace_id) as tier,
      c.cost, c.memory_bytes as "memoryBytes", c.attempt, c.cancel_requested_at is not null as "isCancelled"
    from claimed c join backtests b using (id)`;
  return claim;
}

/**
 * Takes over the backtests claimed by a process that is no longer registered. Any backtest that ran in that process may
 * have ended it, so all of them become suspects. Its suspects ran in processes of their own and cannot have ended it.
 */
export function takeOverBacktests(tx: Transaction): Promise<string[]> {
  return takeBack(tx, {
    orphans: tx`q.claimed_by is not null and not exists (select 1 from worker_processes w where w.id = q.claimed_by)`,
    kills: tx`case when q.is_alone then 0 else 1 end`,
  });
}

/** Records that the process in which this suspect ran alone has died. @returns the ids that were changed */
export function recordKill(sql: Sql, { id, attempt }: Pick<Claim, 'id' | 'attempt'>): Promise<string[]> {
  return sql.begin((tx) =>
    takeBack(tx, {
      orphans: tx`q.claimed_by is not null and q.id = ${id} and q.attempt = ${attempt}`,
      kills: tx`1`,
    }),
  );
}

type Fragment = ReturnType<typeof waiting>;

/** Fails backtests that have killed too many processes or started too often, and queues the rest again, as suspects. */
async function takeBack(
  tx: Transaction,
  { orphans, kills }: { readonly orphans: Fragment; readonly kills: Fragment },
): Promise<string[]> {
  const rows = await tx<{ id: string }[]>`
    with orphan as materialized (
      select q.id, ${kills} as added, case
        when q.cancel_requested_at is not null then 'cancelled'
        when q.kills + ${kills} >= ${MAX_KILLS} then 'killed'
        when q.is_alone and q.attempt >= ${MAX_ATTEMPTS} then 'exhausted'
        else 'queued' end as fate
      from backtest_queue q where ${orphans} order by q.id for update of q
    ), cancelled as (
      select end_backtests(array_agg(id), 'cancelled', null)::text from orphan where fate = 'cancelled'
        having count(*) > 0
    ), killed as (
      select end_backtests(array_agg(id), 'failed', ${JSON.stringify(KILLS_ERROR)}::text::json)::text from orphan
        where fate = 'killed' having count(*) > 0
    ), exhausted as (
      select end_backtests(array_agg(id), 'failed', ${JSON.stringify(ATTEMPTS_ERROR)}::text::json)::text from orphan
        where fate = 'exhausted' having count(*) > 0
    ), requeued as (
      select requeue_backtests(array_agg(id), added)::text from orphan where fate = 'queued' group by added
    )
    select id from orphan, (select count(*) from cancelled) as a, (select count(*) from killed) as b,
      (select count(*) from exhausted) as c, (select count(*) from requeued) as d`;
  return rows.map((row) => row.id);
}
