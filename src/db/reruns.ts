// Reruns: a stored backtest run again for an artifact or to verify it. The API asks, a worker answers, the API deletes.
import type { ArtifactNotice, ReportHeading, StoredResult } from '../engine/index.ts';
import type { Queryable, Transaction } from './connect.ts';
import { addRerunJob } from './tickets.ts';

/** 4 MiB: postgres.js holds a value both as hex text and as bytes. */
const CHUNK_BYTES = 4 << 20;
/** No request waits longer than a minute; anything older was abandoned. */
const FORGET_AFTER_SECONDS = 300;

export type RerunRequest =
  | { readonly kind: 'verify' }
  | { readonly kind: 'artifact'; readonly name: string; readonly format: string };
export type RerunOutcome =
  | {
      readonly ok: true;
      readonly resultHash: string;
      /** What of the recomputed result is not as it is stored; null when nothing is, or the request was to verify. */
      readonly notice: ArtifactNotice | null;
      readonly reproducibility: object | null;
    }
  | { readonly ok: false; readonly error: { readonly code: string; readonly path: string; readonly message: string } };

export async function insertRerun(tx: Transaction, backtestId: string, request: RerunRequest): Promise<string> {
  const [{ id }] = await tx<[{ id: string }]>`
    insert into reruns (backtest_id, request)
    values (${backtestId}, ${JSON.stringify(request)}::text::json) returning id`;
  await addRerunJob(tx, id);
  return id;
}

/** What a worker needs to run it; undefined when the request has been abandoned. */
export interface Rerun extends Pick<StoredResult, 'summary' | 'detail' | 'trades'> {
  readonly id: string;
  readonly request: RerunRequest;
  readonly backtestId: string;
  readonly strategyVersionId: string;
  readonly config: object;
  readonly snapshots: readonly string[];
  /** What the report's heading says. */
  readonly heading: ReportHeading;
}

export async function findRerun(sql: Queryable, id: string): Promise<Rerun | undefined> {
  const [row] = await sql<Rerun[]>`
    select r.id, r.request, b.id as "backtestId", b.strategy_version_id as "strategyVersionId", b.config, b.snapshots,
      json_build_object('strategyName', s.name, 'strategyVersion', v.version, 'backtestId', b.id) as heading, result.summary,
      d.detail, d.trades
    from reruns r join backtests b on b.id = r.backtest_id
      join strategies s on s.id = b.strategy_id join strategy_versions v on v.id = b.strategy_version_id
      join backtest_results result on result.id = b.id join backtest_details d on d.id = b.id
    where r.id = ${id}`;
  return row;
}

/** Nothing is kept when the asker has deleted its rerun meanwhile. */
export async function finishRerun(
  tx: Transaction,
  id: string,
  outcome: RerunOutcome,
  bytes: Uint8Array | null,
): Promise<void> {
  const rows = await tx`
    update reruns set outcome = ${JSON.stringify(outcome)}::text::json where id = ${id} returning 1`;
  if (rows.length === 0 || bytes === null) return;
  for (let at = 0, ordinal = 0; at < bytes.length; at += CHUNK_BYTES, ordinal++) {
    const chunk = Buffer.from(bytes.subarray(at, at + CHUNK_BYTES));
    await tx`insert into rerun_chunks (rerun_id, ordinal, bytes) values (${id}, ${ordinal}, ${chunk})`;
  }
}

/** null: not finished yet. */
export async function readRerunOutcome(sql: Queryable, id: string): Promise<RerunOutcome | null> {
  const [row] = await sql<{ outcome: RerunOutcome | null }[]>`select outcome from reruns where id = ${id}`;
  return row?.outcome ?? null;
}

export async function readRerunChunk(sql: Queryable, id: string, ordinal: number): Promise<Uint8Array | undefined> {
  const [row] = await sql<{ bytes: Uint8Array }[]>`
    select bytes from rerun_chunks where rerun_id = ${id} and ordinal = ${ordinal}`;
  return row?.bytes;
}

export async function deleteRerun(sql: Queryable, id: string): Promise<void> {
  await sql`delete from reruns where id = ${id}`;
}

export async function deleteOldReruns(sql: Queryable): Promise<void> {
  await sql`delete from reruns where created_at < now() - make_interval(secs => ${FORGET_AFTER_SECONDS})`;
}
