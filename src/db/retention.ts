// Retention: which backtests, sweeps and snapshots are past their time, and their removal in slices small enough not to
// hold anyone up.
import type { Sql, Queryable } from './connect.ts';
import { deleteBacktests, deleteSweeps } from './deletedTrials.ts';
import { LOCKS } from './locks.ts';
import type { Tier, TierLimits } from '../tiers.ts';

/**
 * Nothing that changed within a day is removed: a request may have read the catalog before, and its backtest may not
 * be stored yet.
 */
const SNAPSHOT_GRACE = '1 day';

/** How long ended backtests and sweeps are kept in each tier, and how many per workspace. */
export type RetentionLimits = Readonly<
  Record<Tier, Pick<TierLimits, 'retentionDays' | 'keptBacktests' | 'keptSweeps'>>
>;

interface ExpiredResults {
  readonly workspaceId: string;
  readonly name: string;
  readonly tier: Tier;
  readonly backtests: number;
  readonly sweeps: number;
}

/** The tables of ended work, and the limits on how much of it is kept. Robustness checks are sweeps of a backtest. */
const ENDED = {
  backtests: { table: 'backtest_results', kept: 'keptBacktests' },
  sweeps: { table: 'sweeps', kept: 'keptSweeps' },
} as const;
type Kind = keyof typeof ENDED;

/** What is past its time, oldest first, at most `slice` of each workspace; two ranges of one index. */
function expired(sql: Queryable, kind: Kind, limits: RetentionLimits, slice: number | null) {
  const table = sql.unsafe(ENDED[kind].table);
  return sql`
    select w.id as workspace_id, old.id
    from workspaces w
    join json_each(${JSON.stringify(limits)}::text::json) as limits (tier, amounts) on limits.tier = w.tier
    cross join lateral (
      (
        select r.id from ${table} r
        where r.workspace_id = w.id
          and r.finished_at < now() - make_interval(days => (amounts ->> 'retentionDays')::integer)
        order by r.finished_at, r.id limit ${slice}
      ) union (
        select r.id from ${table} r
        where r.workspace_id = w.id and (r.finished_at, r.id) <= (
          select l.finished_at, l.id from ${table} l where l.workspace_id = w.id and l.finished_at is not null
          order by l.finished_at desc, l.id desc offset (amounts ->> ${ENDED[kind].kept})::bigint limit 1)
        order by r.finished_at, r.id limit ${slice}
      )
    ) as old`;
}

/** What `deleteExpired` would delete in the end. */
export async function countExpired(sql: Queryable, limits: RetentionLimits): Promise<ExpiredResults[]> {
  return sql<ExpiredResults[]>`
    select w.id as "workspaceId", w.name, w.tier, sum(backtests)::int as backtests, sum(sweeps)::int as sweeps
    from (
      select workspace_id, 1 as backtests, 0 as sweeps from (${expired(sql, 'backtests', limits, null)}) as old
      union all select workspace_id, 0, 1 from (${expired(sql, 'sweeps', limits, null)}) as old
    ) as old join workspaces w on w.id = old.workspace_id
    group by w.id order by w.id`;
}

export interface DeletedResults {
  readonly backtests: number;
  readonly sweeps: number;
}

/**
 * Deletes up to about `slice` backtests and `sweepSlice` sweeps with their results; their trials stay counted.
 * @returns how many were deleted; none: nothing is past its time
 */
export async function deleteExpired(
  sql: Sql,
  limits: RetentionLimits,
  slice: number,
  sweepSlice = slice,
): Promise<DeletedResults> {
  // In two transactions: the first may end with a lock on the storage of a workspace, which is the last that a
  // transaction takes.
  const deleteSlice = (kind: Kind, count: number, remove: typeof deleteSweeps): Promise<number> =>
    sql.begin(async (tx) => {
      await tx`select pg_advisory_xact_lock(hashtextextended(${LOCKS.prune}, 0))`;
      return remove(tx, tx`select id from (${expired(tx, kind, limits, count)}) as old limit ${count}`);
    });
  const backtests = await deleteSlice('backtests', slice, deleteBacktests);
  return { backtests, sweeps: await deleteSlice('sweeps', sweepSlice, deleteSweeps) };
}

export interface UnusedSnapshot {
  readonly sha256: string;
  readonly symbol: string;
  readonly timeframe: string;
  readonly byteLength: number;
}

/** Snapshots that no series points to, of a workspace or shared, and that no backtest or sweep has pinned. */
export async function listUnusedSnapshots(sql: Queryable): Promise<UnusedSnapshot[]> {
  return sql<UnusedSnapshot[]>`
    with candidate as materialized (
      select sha256, symbol, timeframe, byte_length from snapshots s
      where imported_at < now() - interval '${sql.unsafe(SNAPSHOT_GRACE)}' and not exists (
        select 1 from series where series.sha256 = s.sha256
          or (series.symbol = s.symbol and series.timeframe = s.timeframe
            and series.updated_at > now() - interval '${sql.unsafe(SNAPSHOT_GRACE)}'))
        and not exists (select 1 from workspace_series own where own.sha256 = s.sha256)
        and not exists (
          select 1 from workspace_snapshots own
          where own.sha256 = s.sha256 and own.touched_at > now() - interval '${sql.unsafe(SNAPSHOT_GRACE)}')
    ), pinned as materialized (
      select distinct unnest(snapshots) as sha256 from backtests where exists (select 1 from candidate)
      union select unnest(snapshots) from sweeps where exists (select 1 from candidate)
    )
    select sha256, symbol, timeframe, byte_length as "byteLength" from candidate
    where sha256 not in (select sha256 from pinned) order by symbol, timeframe, sha256`;
}

/**
 * Removes unused snapshots, under a lock that keeps others from beginning to use one; `remove` deletes their bytes.
 * @returns what was removed
 */
export async function deleteUnusedSnapshots(
  sql: Sql,
  remove: (sha256: string) => Promise<void>,
): Promise<UnusedSnapshot[]> {
  // The usual answer is none, and needs no lock.
  if ((await listUnusedSnapshots(sql)).length === 0) return [];
  return sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(hashtextextended(${LOCKS.snapshots}, 0))`;
    const unused = await listUnusedSnapshots(tx);
    for (const { sha256 } of unused) await remove(sha256);
    const names = unused.map(({ sha256 }) => sha256);
    await tx`delete from snapshot_chunks where sha256 = any (${names})`;
    await tx`delete from snapshots where sha256 = any (${names})`;
    return unused;
  });
}

/** Until the transaction ends, no snapshot is removed. */
export async function keepSnapshots(tx: Queryable): Promise<void> {
  await tx`select pg_advisory_xact_lock_shared(hashtextextended(${LOCKS.snapshots}, 0))`;
}
