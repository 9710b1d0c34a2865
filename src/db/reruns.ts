// Reruns: a stored backtest run again for an artifact or to verify it. The API asks, a worker answers, the API deletes.
import type { ArtifactNotice, ReportHeading, StoredResult } from '../engine/index.ts';
import type { Tier } from '../tiers.ts';
import type { Queryable, Sql, Transaction } from './connect.ts';
import { WEIGHTS } from './claims.ts';
import { summaryOf, SUMMARY_COLUMNS, type StoredSummary, type SummaryPositions } from './summaries.ts';
import { addRerunJob } from './tickets.ts';

/** An artifact that nobody has read for this long is dropped, and made again when somebody asks. */
const KEPT_SECONDS = 3_600;
/**
 * How precisely the time of the last read is kept. If every read marked the row, readers of one file would wait for
 * each other, for as long as it takes to send a chunk.
 */
const MARKED_EVERY_SECONDS = 60;
/** No request waits longer than a minute; what is not finished long after was abandoned. */
const ABANDONED_AFTER_SECONDS = 300;
/** The most bytes that all kept artifacts may take, and so the most that one may. Those read longest ago go first. */
export const MAX_KEPT_BYTES = 2 ** 30;

export type RerunRequest =
  | { readonly kind: 'verify' }
  | { readonly kind: 'artifact'; readonly name: string; readonly format: string; readonly engine: string };
export type RerunOutcome =
  | {
      readonly ok: true;
      readonly resultHash: string;
      /** How the recomputed result differs from the stored one; null when it does not, or the request was to verify. */
      readonly notice: ArtifactNotice | null;
      readonly reproducibility: object | null;
      /** To verify: whether another engine stored this very result, which it may have hashed in another way. */
      readonly isOfOtherEngine?: boolean;
    }
  | { readonly ok: false; readonly error: { readonly code: string; readonly path: string; readonly message: string } };

/** Inserts a rerun. Its bars are charged to the workspace's turn, like those of a backtest. */
export async function insertRerun(tx: Transaction, backtestId: string, request: RerunRequest): Promise<string> {
  const [{ id, workspaceId }] = await tx<[{ id: string; workspaceId: string }]>`
    insert into reruns (backtest_id, request)
    values (${backtestId}, ${JSON.stringify(request)}::text::json)
    returning id, (select workspace_id from backtests where id = ${backtestId}) as "workspaceId"`;
  await tx`
    update workspace_turns t set virtual_time =
      virtual_time + r.bars_total / (${JSON.stringify(WEIGHTS)}::text::json ->> w.tier)::double precision
    from backtest_results r, workspaces w
    where r.id = ${backtestId} and w.id = ${workspaceId} and t.workspace_id = ${workspaceId}`;
  await addRerunJob(tx, id, workspaceId);
  return id;
}

/**
 * The same artifact of the same backtest, made or being made; marks it as read.
 * @param failedSeconds also one that failed within so many seconds
 */
export async function findKeptRerun(
  sql: Queryable,
  backtestId: string,
  request: RerunRequest,
  failedSeconds: number,
): Promise<string | undefined> {
  const [row] = await sql<{ id: string }[]>`
    with found as materialized (
      select id from reruns
      where backtest_id = ${backtestId} and request::text = ${JSON.stringify(request)}
        and case when outcome is null then created_at > now() - make_interval(secs => ${ABANDONED_AFTER_SECONDS})
          else (outcome ->> 'ok')::boolean or used_at > now() - make_interval(secs => ${failedSeconds}) end
      order by created_at desc limit 1
    ), marked as (${markRead(sql, sql`select id from found`)})
    select id from found`;
  return row?.id;
}

const markRead = (sql: Queryable, id: ReturnType<Sql>) => sql`
  update reruns set used_at = now()
  where id = (${id}) and used_at < now() - make_interval(secs => ${MARKED_EVERY_SECONDS})`;

/** Reruns of the workspace that wait or run. */
export async function countOpenReruns(sql: Queryable, workspaceId: string): Promise<number> {
  const [{ count }] = await sql<[{ count: number }]>`
    select count(*)::integer as count from reruns r join backtests b on b.id = r.backtest_id
    where b.workspace_id = ${workspaceId} and r.outcome is null
      and r.created_at > now() - make_interval(secs => ${ABANDONED_AFTER_SECONDS})`;
  return count;
}

/** What a worker needs to run it; undefined when the request has been abandoned. */
export interface Rerun extends Pick<StoredResult, 'summary' | 'detail' | 'trades'> {
  readonly id: string;
  readonly request: RerunRequest;
  readonly backtestId: string;
  readonly strategyVersionId: string;
  readonly config: object;
  readonly snapshots: readonly string[];
  readonly workspaceId: string;
  readonly tier: Tier;
  /** What the report's heading says. */
  readonly heading: ReportHeading;
}

export async function findRerun(sql: Queryable, id: string, positions: SummaryPositions): Promise<Rerun | undefined> {
  const [row] = await sql<(Rerun & StoredSummary)[]>`
    select asked.id, asked.request, b.id as "backtestId", b.workspace_id as "workspaceId",
      (select tier from workspaces w where w.id = b.workspace_id) as tier,
      b.strategy_version_id as "strategyVersionId", b.config, b.snapshots,
      json_build_object('strategyName', s.name, 'strategyVersion', v.version, 'backtestId', b.id) as heading,
      ${sql.unsafe(SUMMARY_COLUMNS)}, d.detail, d.trades
    from reruns asked join backtests b on b.id = asked.backtest_id
      join strategies s on s.id = b.strategy_id join strategy_versions v on v.id = b.strategy_version_id
      join backtest_results r on r.id = b.id join backtest_details d on d.id = b.id
    where asked.id = ${id}`;
  return row && { ...row, summary: summaryOf(row, positions)! };
}

/** Removes the chunks that an unfinished attempt has left. */
export async function deleteRerunChunks(sql: Queryable, id: string): Promise<void> {
  await sql`delete from rerun_chunks where rerun_id = ${id}`;
}

/** Stores a chunk of the file, unless the rerun has been deleted in the meantime. */
export async function insertRerunChunk(sql: Queryable, id: string, ordinal: number, chunk: Uint8Array): Promise<void> {
  await sql`
    insert into rerun_chunks (rerun_id, ordinal, bytes)
    select ${id}, ${ordinal}, ${chunk} where exists (select 1 from reruns where id = ${id})`;
}

/** The size of a kept file. */
export interface RerunSize {
  readonly chunks: number;
  readonly bytes: number;
}

export async function finishRerun(
  tx: Transaction,
  id: string,
  outcome: RerunOutcome,
  { chunks, bytes }: RerunSize,
): Promise<void> {
  await tx`
    update reruns set outcome = ${JSON.stringify(outcome)}::text::json, bytes = ${bytes}, chunks = ${chunks},
      used_at = now()
    where id = ${id}`;
}

/** The outcome of a rerun; null: it is not finished yet. */
export async function readRerunOutcome(sql: Queryable, id: string): Promise<RerunOutcome | null> {
  const [row] = await sql<{ outcome: RerunOutcome | null }[]>`select outcome from reruns where id = ${id}`;
  return row?.outcome ?? null;
}

/** A chunk of a file is gone: it was being sent for longer than it is kept. */
export class ChunkMissing extends Error {
  override readonly name = 'ChunkMissing';
}

/** The chunks of a finished rerun in order. @throws ChunkMissing, so that a truncated file does not look complete */
export async function* readRerunChunks(sql: Queryable, id: string): AsyncGenerator<Uint8Array, void, undefined> {
  const [rerun] = await sql<{ chunks: number }[]>`select chunks from reruns where id = ${id}`;
  for (let ordinal = 0; ordinal < (rerun?.chunks ?? 1); ordinal++) {
    const [row] = await sql<{ bytes: Uint8Array }[]>`
      with marked as (${markRead(sql, sql`select ${id}::uuid`)})
      select bytes from rerun_chunks where rerun_id = ${id} and ordinal = ${ordinal}`;
    if (row === undefined) throw new ChunkMissing(`Chunk ${ordinal} of rerun ${id} is gone.`);
    yield row.bytes;
  }
}

export async function deleteRerun(sql: Queryable, id: string): Promise<void> {
  await sql`delete from reruns where id = ${id}`;
}

/** Removes reruns that nobody reads any more, whose backtest is gone, or for which there is no room. */
export async function deleteOldReruns(sql: Queryable): Promise<void> {
  await sql`
    delete from reruns where id in (
      select id from (
        select r.*, sum(bytes) over (order by used_at desc, id) as kept from reruns r
      ) as rerun
      where kept > ${MAX_KEPT_BYTES}
        or used_at < now() - make_interval(secs => ${KEPT_SECONDS})
        or used_at < now() - make_interval(secs => ${ABANDONED_AFTER_SECONDS})
          and (outcome is null or not (outcome ->> 'ok')::boolean)
        or not exists (select 1 from backtests b where b.id = backtest_id))`;
}
