// The backtests table as a worker sees it: claim what is due, write what came out, give back what was not run.
import type { Queryable } from './connect.ts';
import type { Tier } from '../tiers.ts';

/** A running backtest that this worker holds. */
export interface Claim {
  readonly id: string;
  readonly workspaceId: string;
  readonly strategyVersionId: string;
  readonly config: object;
  readonly snapshots: readonly string[];
  readonly runKey: string;
  readonly cost: number;
  /** Fences the result: it is written only while this is still the latest claim. */
  readonly attempt: number;
  readonly isCancelled: boolean;
  readonly createdAt: Date;
  readonly tier: Tier;
}
export interface Claimed {
  readonly runs: readonly Claim[];
  /** Completed by the claim itself: the workspace already had the result of an equal run. */
  readonly copiedIds: readonly string[];
  /** Some queued backtests must run alone (see takeOver in workerProcesses.ts). */
  readonly hasCrashSuspects: boolean;
}

/** While both wait, a pro workspace gets four bars of work for each bar of a free one. */
export const WEIGHTS: Readonly<Record<Tier, number>> = { free: 1, plus: 2, pro: 4 };

const CLAIM = `b.id, b.workspace_id as "workspaceId", b.strategy_version_id as "strategyVersionId", b.config, b.snapshots,
  b.run_key as "runKey", b.cost, b.attempt, b.cancel_requested_at is not null as "isCancelled", b.created_at as "createdAt",
  (select tier from workspaces w where w.id = b.workspace_id) as tier`;

/** Hands out at most `maxRuns` backtests, or as many as cost `maxCost` bars, at least one if any is due. */
export async function claimDue(sql: Queryable, worker: string, maxRuns: number, maxCost: number): Promise<Claimed> {
  const rows = await sql<(Claim & { status: string | null; hasCrashSuspects: boolean })[]>`
    select ${sql.unsafe(CLAIM)}, b.status, suspects.found as "hasCrashSuspects"
    from (select exists (select 1 from backtests where status = 'queued' and kills > 0) as found) as suspects
    left join claim_backtests(${worker}, ${maxRuns}, ${maxCost}, ${JSON.stringify(WEIGHTS)}::text::jsonb) as b on true
    order by b.id`;
  return {
    runs: rows.filter((row) => row.status === 'running'),
    copiedIds: rows.filter((row) => row.status === 'completed').map((row) => row.id),
    hasCrashSuspects: rows[0].hasCrashSuspects,
  };
}

/** Hands out one backtest under which a worker has died. The caller runs nothing beside it. */
export async function claimCrashSuspect(sql: Queryable, worker: string): Promise<Claim | undefined> {
  const [claim] = await sql<Claim[]>`
    update backtests as b set status = 'running', claimed_by = ${worker}, is_alone = true, attempt = b.attempt + 1, started_at = now()
    where b.id = (
      select id from backtests where status = 'queued' and kills > 0
        and not exists (
          select 1 from missing_snapshots m
          where m.worker_id = ${worker} and m.sha256 = any (snapshots) and m.noted_at > now() - interval '10 seconds')
      order by kills, id limit 1 for update skip locked
    )
    returning ${sql.unsafe(CLAIM)}`;
  return claim;
}

/** What every run of a version reads. Versions never change once they are ready. */
export interface RunnableVersion {
  readonly id: string;
  readonly strategyAst: object;
  /** null: it was sent as an AST. */
  readonly signalGraph: object | null;
  readonly settings: object;
  readonly strategyHash: string;
}

export async function readRunnableVersions(sql: Queryable, ids: readonly string[]): Promise<RunnableVersion[]> {
  return sql<RunnableVersion[]>`
    select id, strategy_ast as "strategyAst", signal_graph as "signalGraph", settings, strategy_hash as "strategyHash"
    from strategy_versions where id = any (${ids as string[]}::uuid[])`;
}

/** How a run ended. JSON members are text already: a result is serialized once, in the thread that produced it. */
export interface FinishedRun {
  readonly id: string;
  readonly attempt: number;
  readonly status: 'completed' | 'failed' | 'cancelled';
  readonly isCached: boolean;
  /** JSON of the flat summary, zstd of the rest (engine/pool/detail.ts). */
  readonly summary: string | null;
  readonly detail: Uint8Array | null;
  readonly resolvedConfig: object | null;
  readonly reproducibility: object | null;
  readonly warnings: readonly object[];
  readonly error: object | null;
  readonly barsDone: number;
  readonly barsTotal: number;
}

/**
 * Writes any number of results in one statement. A claim that is no longer the latest writes nothing.
 * @returns the ids that were written.
 */
export async function finishRuns(sql: Queryable, runs: readonly FinishedRun[]): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    update backtests as b set status = r.status, claimed_by = null, finished_at = now(), is_cached = r."isCached",
      summary = r.summary, detail = decode(r.detail, 'base64'), resolved_config = r."resolvedConfig",
      reproducibility = r.reproducibility, warnings = r.warnings, error = r.error, bars_done = r."barsDone", bars_total = r."barsTotal"
    from json_to_recordset(${`[${runs.map(jsonOfRun).join()}]`}::text::json) as r (id uuid, attempt integer, status text,
      "isCached" boolean, summary jsonb, detail text, "resolvedConfig" json, reproducibility json, warnings json, error json,
      "barsDone" double precision, "barsTotal" double precision)
    where b.id = r.id and b.attempt = r.attempt and b.status = 'running'
    returning b.id`;
  return rows.map((row) => row.id);
}

function jsonOfRun({ summary, detail, ...run }: FinishedRun): string {
  const base64 = detail && Buffer.from(detail.buffer, detail.byteOffset, detail.byteLength).toString('base64');
  return `${JSON.stringify({ ...run, detail: base64 }).slice(0, -1)},"summary":${summary ?? 'null'}}`;
}

/**
 * Runs that were claimed and not run: queued again as if nothing had happened, or cancelled if that was asked
 * meanwhile.
 */
export async function returnRuns(
  sql: Queryable,
  runs: readonly { readonly id: string; readonly attempt: number }[],
): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    update backtests as b set claimed_by = null, is_alone = false, bars_done = 0, bars_total = 0,
      status = case when b.cancel_requested_at is null then 'queued' else 'cancelled' end,
      started_at = case when b.cancel_requested_at is null then null else b.started_at end,
      finished_at = case when b.cancel_requested_at is null then null else now() end
    from json_to_recordset(${JSON.stringify(runs.map(({ id, attempt }) => ({ id, attempt })))}::text::json)
      as r (id uuid, attempt integer)
    where b.id = r.id and b.attempt = r.attempt and b.status = 'running'
    returning b.id`;
  return rows.map((row) => row.id);
}

/** Everything this worker still holds goes back, for when it stops. */
export async function returnAllRuns(sql: Queryable, worker: string): Promise<string[]> {
  const rows = await sql<{ id: string; attempt: number }[]>`
    select id, attempt from backtests where claimed_by = ${worker} and status = 'running'`;
  return rows.length === 0 ? [] : returnRuns(sql, rows);
}

/** Which of these are to be cancelled; for a listener that may have missed notifications. */
export async function readCancelled(sql: Queryable, ids: readonly string[]): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from backtests where id = any (${ids as string[]}::uuid[]) and cancel_requested_at is not null`;
  return rows.map((row) => row.id);
}

export interface ProgressRow {
  readonly id: string;
  readonly attempt: number;
  readonly barsDone: number;
  readonly barsTotal: number;
}

export async function saveProgress(sql: Queryable, rows: readonly ProgressRow[]): Promise<void> {
  await sql`
    update backtests as b set bars_done = r."barsDone", bars_total = r."barsTotal"
    from json_to_recordset(${JSON.stringify(rows)}::text::json)
      as r (id uuid, attempt integer, "barsDone" double precision, "barsTotal" double precision)
    where b.id = r.id and b.attempt = r.attempt and b.status = 'running'`;
}
