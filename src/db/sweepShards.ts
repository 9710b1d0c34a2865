// The shards of sweeps as a worker sees them: claim what is due, store the rows, take over what dead processes held.
import type { Sql, Queryable, Transaction } from './connect.ts';
import type { NewSweep } from './sweeps.ts';
import { WEIGHTS, type ClaimFilter } from './claims.ts';
import { MAX_KILLS } from './crashSuspects.ts';
import { deletedTrials } from './deletedTrials.ts';
import { NOT_HANDED_FOR } from './missingSnapshots.ts';
import { addSweepTickets } from './tickets.ts';

export interface ShardClaim {
  readonly sweepId: string;
  readonly ordinal: number;
  /** null: the last step. */
  readonly first: number | null;
  readonly last: number | null;
  readonly attempt: number;
  readonly workspaceId: string;
  readonly strategyId: string;
  readonly strategyVersionId: string;
  /** The backtest whose robustness is checked; null: it is a sweep. */
  readonly backtestId: string | null;
  readonly spec: object;
  readonly markets: NewSweep['markets'];
  readonly snapshots: readonly string[];
  readonly variants: number;
  readonly indexes: number;
  readonly createdAt: Date;
  /** About how many bars of work. */
  readonly cost: number;
}

/**
 * Hands out one shard of the workspace with the least virtual time, and charges the workspace.
 * @param only which shards; absent: any
 */
export async function claimShard(
  sql: Sql,
  worker: string,
  only: ClaimFilter = { excluded: [] },
): Promise<ShardClaim | undefined> {
  return sql.begin(async (tx) => {
    const next = () => nextSweep(tx, worker, only);
    // If no shard is left for us, another process has ended the sweep or taken its last shard meanwhile: look again.
    for (let sweepId = await next(); sweepId !== undefined; sweepId = await next()) {
      const claim = await claimShardOf(tx, sweepId, worker, only);
      if (claim !== undefined) return claim;
    }
    return undefined;
  });
}

/**
 * Queued shards that may be claimed. Of the shards that were running when a process died, one runs at a time, so that
 * a shard that kills its process does not take the same others with it each time. Two claims at once may both pass.
 */
const isDue = (sql: Queryable, only: ClaimFilter) => sql`
  shard.status = 'queued' ${'mostCost' in only ? sql`and shard.cost <= ${only.mostCost}` : sql``}
  and (shard.kills = 0 or not exists (
    select 1 from sweep_shards other where other.status = 'running' and other.kills > 0))`;

/** The sweep whose turn it is, of those whose snapshots this worker has not noted as missing; not locked. */
async function nextSweep(tx: Transaction, worker: string, only: ClaimFilter): Promise<string | undefined> {
  const excluded = 'excluded' in only ? only.excluded : [];
  const [next] = await tx<{ id: string }[]>`
    select s.id from sweeps s left join workspace_turns turn using (workspace_id)
    where s.status in ('queued', 'running') and s.workspace_id <> all (${excluded as string[]}::uuid[])
      and exists (select 1 from sweep_shards shard where shard.sweep_id = s.id and ${isDue(tx, only)})
      and not exists (
        select 1 from missing_snapshots m
        where m.worker_id = ${worker} and m.sha256 = any (s.snapshots)
          and m.noted_at > now() - ${NOT_HANDED_FOR}::interval)
    order by coalesce(turn.virtual_time, 0), s.id limit 1`;
  return next?.id;
}

async function claimShardOf(
  tx: Transaction,
  sweepId: string,
  worker: string,
  only: ClaimFilter,
): Promise<ShardClaim | undefined> {
  if (!(await lockSweep(tx, sweepId))) return undefined;
  const [claim] = await tx<(ShardClaim & { tier: keyof typeof WEIGHTS })[]>`
    update sweep_shards as shard set status = 'running', claimed_by = ${worker}, attempt = shard.attempt + 1
    from sweeps s join workspaces w on w.id = s.workspace_id
    where s.id = ${sweepId} and shard.sweep_id = s.id and shard.ordinal = (
      select min(ordinal) from sweep_shards shard where shard.sweep_id = ${sweepId} and ${isDue(tx, only)})
    returning shard.sweep_id as "sweepId", shard.ordinal, shard.first_index as first, shard.last_index as last,
      shard.attempt,
      shard.cost, w.tier, s.workspace_id as "workspaceId", s.strategy_id as "strategyId",
      s.strategy_version_id as "strategyVersionId", s.backtest_id as "backtestId", s.spec, s.markets, s.snapshots,
        s.variants, s.indexes, s.created_at as "createdAt"`;
  if (claim === undefined) return undefined;
  await tx`
    update sweeps set status = 'running', started_at = coalesce(started_at, now())
    where id = ${sweepId} and status = 'queued'`;
  await tx`
    update workspace_turns set virtual_time = virtual_time + ${claim.cost / WEIGHTS[claim.tier]}
    where workspace_id = ${claim.workspaceId}`;
  return claim;
}

/** Locks a sweep, as every change of it or its shards does first (see sweeps.ts). @returns false when it has ended */
async function lockSweep(tx: Transaction, sweepId: string): Promise<boolean> {
  const rows = await tx`
    select 1 from sweeps where id = ${sweepId} and status in ('queued', 'running') for no key update`;
  return rows.length > 0;
}

/** Which of these sweeps have ended, for a process that may have missed the notification of a cancel. */
export async function readEndedSweeps(sql: Queryable, ids: readonly string[]): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from unnest(${ids as string[]}::uuid[]) as asked (id)
    where not exists (select 1 from sweeps s where s.id = asked.id and s.status in ('queued', 'running'))`;
  return rows.map((row) => row.id);
}

interface FinishedShard {
  readonly bytes: Uint8Array;
  readonly best: { readonly variant: number; readonly value: number; readonly params: object } | null;
  /** 1 when a higher objective is better, -1 when a lower one is. */
  readonly sign: 1 | -1;
  /** The shard to queue next, for a method whose shards run one after the other. */
  readonly next: { readonly first: number; readonly last: number; readonly cost: number } | null;
}

/**
 * About how many bars of work the result of a sweep takes: 1.2 s for 20,000 rows or more, most of it for the variants
 * that the probability of overfitting compares.
 */
const resultCost = ({ indexes }: ShardClaim): number => 10_000 * Math.min(indexes, 5_000);

/** Stores the rows of a shard, and queues what comes after it. A claim that is no longer the latest stores nothing. */
export async function finishShard(
  tx: Transaction,
  claim: ShardClaim,
  { bytes, best, sign, next }: FinishedShard,
): Promise<void> {
  const { sweepId, ordinal, attempt } = claim;
  // Shards of a sweep finish one at a time, so that exactly one of them finds that it is the last.
  const [sweep] = await tx<{ best: { value: number } | null }[]>`
    select best from sweeps where id = ${sweepId} and status = 'running' for update`;
  if (sweep === undefined) return;
  const rows = await tx`
    update sweep_shards set status = 'done', claimed_by = null, rows = ${Buffer.from(bytes)}
    where sweep_id = ${sweepId} and ordinal = ${ordinal} and attempt = ${attempt} and status = 'running' returning 1`;
  if (rows.length === 0) return;
  const isBetter = best !== null && (sweep.best === null || sign * best.value > sign * sweep.best.value);
  await tx`
    update sweeps set indexes_done = indexes_done + ${claim.last! - claim.first!}, bytes = bytes + ${bytes.length}
      ${isBetter ? tx`, best = ${JSON.stringify(best)}::text::json` : tx``}
    where id = ${sweepId}`;
  if (next !== null)
    await tx`
      insert into sweep_shards (sweep_id, ordinal, first_index, last_index, cost)
      values (${sweepId}, ${ordinal + 1}, ${next.first}, ${next.last}, ${next.cost})`;
  else
    await tx`
      insert into sweep_shards (sweep_id, ordinal, cost)
      select ${sweepId}, max(ordinal) + 1, ${resultCost(claim)} from sweep_shards where sweep_id = ${sweepId}
      having bool_and(status = 'done')`;
  await addSweepTickets(tx, 1);
}

interface FinishedSweep {
  /** null: a robustness check, which tries no variant. */
  readonly trials: number | null;
  readonly result: object;
  readonly page: Uint8Array | null;
}

/** Stores the result of a sweep, unless it has ended or the claim of its last shard is no longer the latest. */
export async function completeSweep(
  tx: Transaction,
  claim: ShardClaim,
  { trials, result, page }: FinishedSweep,
): Promise<void> {
  if (!(await lockSweep(tx, claim.sweepId))) return;
  const rows = await tx`
    delete from sweep_shards
      where sweep_id = ${claim.sweepId} and ordinal = ${claim.ordinal} and attempt = ${claim.attempt}
      and status = 'running' returning 1`;
  if (rows.length === 0) return;
  const text = JSON.stringify(result);
  await tx`
    update sweeps set status = 'completed', finished_at = now(), trials = ${trials},
      result = ${text}::text::json, page = ${page && Buffer.from(page)},
      bytes = bytes + ${Buffer.byteLength(text) + (page?.length ?? 0)}
    where id = ${claim.sweepId} and status = 'running'`;
}

/** Ends a sweep with an error, unless it has ended, and deletes its shards. */
export async function failSweep(tx: Transaction, sweepId: string, error: object): Promise<void> {
  await tx`
    update sweeps set status = 'failed', finished_at = now(), bytes = 0, error = ${JSON.stringify(error)}::text::json
    where id = ${sweepId} and status in ('queued', 'running')`;
  await tx`delete from sweep_shards where sweep_id = ${sweepId}`;
}

/** Gives back a shard that was claimed and not run. */
export async function returnShard(sql: Queryable, { sweepId, ordinal, attempt }: ShardClaim): Promise<void> {
  await sql`
    update sweep_shards set status = 'queued', claimed_by = null
    where sweep_id = ${sweepId} and ordinal = ${ordinal} and attempt = ${attempt} and status = 'running'`;
}

/**
 * Queues again the shards of processes that are no longer registered. A shard whose processes have died too often fails
 * its sweep instead.
 */
export async function takeOverShards(tx: Transaction): Promise<string[]> {
  const isOrphan = tx`
    shard.status = 'running' and not exists (select 1 from worker_processes w where w.id = shard.claimed_by)`;
  const hit = await tx<{ id: string }[]>`
    select s.id from sweeps s where exists (select 1 from sweep_shards shard where shard.sweep_id = s.id
      and ${isOrphan})
    order by s.id for no key update`;
  const orphans = await tx<{ sweepId: string; kills: number }[]>`
    update sweep_shards as shard set status = 'queued', claimed_by = null, kills = kills + 1
    where sweep_id = any (${hit.map(({ id }) => id)}::uuid[]) and ${isOrphan}
    returning sweep_id as "sweepId", kills`;
  const message =
    `The worker process ended ${MAX_KILLS} times while it ran one part of this sweep. The sweep probably needs ` +
    'more memory than there is: use a coarser timeframe or a shorter range.';
  for (const { sweepId, kills } of orphans)
    if (kills >= MAX_KILLS) await failSweep(tx, sweepId, { code: 'RESOURCE_LIMIT', path: '', message });
  if (orphans.length > 0) await addSweepTickets(tx, orphans.length);
  return orphans.map((orphan) => orphan.sweepId);
}

/**
 * Distinct variants and backtests that the workspace ran before on this lineage and data, deleted ones included
 * (semantics §5.4).
 */
export async function countEarlierTrials(
  sql: Queryable,
  { workspaceId, strategyId, snapshots, createdAt, sweepId }: ShardClaim,
): Promise<number> {
  const [{ count }] = await sql<[{ count: number }]>`
    select (
      coalesce((select sum(trials) from sweeps where workspace_id = ${workspaceId} and strategy_id = ${strategyId}
        and status = 'completed' and snapshots = ${snapshots as string[]} and id <> ${sweepId}), 0)
      + (select count(distinct run_key) from backtests b join backtest_results r using (id)
        where b.workspace_id = ${workspaceId} and b.strategy_version_id in (select id from strategy_versions
          where strategy_id = ${strategyId})
        and r.status = 'completed' and snapshots <@ ${snapshots as string[]} and created_at < ${createdAt})
      + (${deletedTrials(sql, strategyId, snapshots)})
    )::int as count`;
  return count;
}
