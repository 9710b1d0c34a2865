// The queue of backtests as a worker sees it: claim what is due, write what came out, give back what was not run.
import type { Queryable } from './connect.ts';
import type { Result } from '../engine/index.ts';
import { IDS_PER_MESSAGE, changedIn, notify } from './notifications.ts';
import { numbersEach, summaryParameter } from './summaries.ts';
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
  /** Bytes it may need at its peak; 0: not known. */
  readonly memoryBytes: number;
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
  /** Some queued backtests must run in a process of their own (crashSuspects.ts). */
  readonly hasCrashSuspects: boolean;
}

/** Which backtests a claim is limited to. */
export type ClaimFilter =
  /** Backtests of all workspaces but these. */
  | { readonly excluded: readonly string[] }
  /** Backtests that cost no more than this. */
  | { readonly mostCost: number };

/** Shares of the work by tier: while both wait, a pro workspace gets four bars for each bar of a free one. */
export const WEIGHTS: Readonly<Record<Tier, number>> = { free: 1, plus: 2, pro: 4 };

/**
 * Hands out at most `maxRuns` backtests, of about `maxCost` bars together, but at least one if any is due. Waiters of
 * the backtests that it completes are notified.
 * @param only which backtests; absent: any
 */
export async function claimDue(
  sql: Queryable,
  worker: string,
  maxRuns: number,
  maxCost: number,
  only: ClaimFilter = { excluded: [] },
): Promise<Claimed> {
  const excluded = 'excluded' in only ? only.excluded : [];
  const mostCost = 'mostCost' in only ? only.mostCost : null;
  const rows = await sql<(Claim & { isCopied: boolean | null; hasCrashSuspects: boolean })[]>`
    select c.id, c.workspace_id as "workspaceId", c.strategy_version_id as "strategyVersionId", c.config, c.snapshots,
      c.run_key as "runKey", c.created_at as "createdAt", c.tier, c.cost, c.memory_bytes as "memoryBytes", c.attempt,
      c.is_cancelled as "isCancelled", c.is_copied as "isCopied", suspects.found as "hasCrashSuspects"
    from (select exists (select 1 from backtest_queue where claimed_by is null and kills > 0) as found) as suspects
    left join claim_backtests(${worker}, ${maxRuns}, ${maxCost}, ${JSON.stringify(WEIGHTS)}::text::jsonb,
      ${excluded as string[]}::uuid[], ${mostCost}::double precision) as c on true
    order by c.id`;
  const copiedIds = rows.filter((row) => row.isCopied === true).map((row) => row.id);
  if (copiedIds.length > 0) await notify(sql, 'changed', copiedIds);
  return {
    runs: rows.filter((row) => row.isCopied === false),
    copiedIds,
    hasCrashSuspects: rows[0].hasCrashSuspects,
  };
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

/** How a run ended. A result is serialized once, in the thread that produced it (engine/pool/result.ts). */
export interface FinishedRun {
  readonly id: string;
  readonly attempt: number;
  readonly status: 'completed' | 'failed' | 'cancelled';
  readonly isCached: boolean;
  readonly result: Result | null;
  readonly error: object | null;
  readonly barsDone: number;
  readonly barsTotal: number;
}

/**
 * Writes any number of results in one statement, which notifies their waiters as well. A claim that is no longer the
 * latest writes nothing. Details and trades go as one binary parameter, flat summaries as another, and the rows say
 * which bytes are theirs.
 * @returns the ids that were written
 */
export async function finishRuns(sql: Queryable, runs: readonly FinishedRun[]): Promise<string[]> {
  const parts: Uint8Array[] = [];
  const summaries: Uint8Array[] = [];
  const places = new Map<Result, object>();
  let size = 0;
  const place = (bytes: Uint8Array): number => {
    parts.push(bytes);
    // Postgres counts from 1.
    const at = size + 1;
    size += bytes.length;
    return at;
  };
  const rows = runs.map(({ result, ...run }) => {
    if (result === null) return run;
    const { summary, detail, trades, warnings, diagnosis } = result;
    let placed = places.get(result);
    if (placed === undefined) {
      placed = {
        // Counted from 1 as well.
        summary: summaries.push(summary),
        detailAt: place(detail),
        detailLength: detail.length,
        tradesAt: place(trades),
        tradesLength: trades.length,
        warnings,
        diagnosis,
      };
      // Equal runs share a result, which is sent once.
      places.set(result, placed);
    }
    return { ...run, ...placed };
  });
  const written = await sql<{ ids: string[] }[]>`
    with written as materialized (
      select finish_backtests(${JSON.stringify(rows)}::text::json, ${Buffer.concat(parts, size)}::bytea,
        ${summaryParameter(sql, summaries)}, ${numbersEach(summaries)}::integer) as ids
    ), part as (
      select ids[at : at + ${IDS_PER_MESSAGE - 1}::integer] as ids
      from written cross join generate_series(1, cardinality(ids), ${IDS_PER_MESSAGE}::integer) as at
    )
    select ids, ${changedIn(sql, 'ids')}::text from part`;
  return written.flatMap(({ ids }) => ids);
}

/** What identifies a claim among all claims of the same backtest. */
interface ClaimOf {
  readonly id: string;
  readonly attempt: number;
}

/**
 * Selects the rows of `backtest_queue q` whose latest claim is one of these. Rows are looked up by their ids: with
 * statistics from when nothing ran, a join would compare every running backtest with each claim, and `claimed_by is
 * not null`, which has an index, would read all that run.
 */
function isHeld(sql: Queryable, claims: readonly ClaimOf[]) {
  const ids = idsOf(claims);
  const attempts = claims.map(({ attempt }) => attempt);
  return sql`
    q.id = any (${ids}::uuid[]) and num_nulls(q.claimed_by) = 0
      and q.attempt = (${attempts}::integer[])[array_position(${ids}::uuid[], q.id)]`;
}

const idsOf = (claims: readonly ClaimOf[]): string[] => claims.map(({ id }) => id);

/**
 * Gives back claims that were not run: they are queued again as if nothing had happened, or cancelled if that was
 * asked in the meantime.
 */
export async function returnRuns(sql: Queryable, claims: readonly ClaimOf[]): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    with held as materialized (
      select q.id, q.cancel_requested_at is not null as is_cancelled
      from backtest_queue q where ${isHeld(sql, claims)} order by q.id for update
    ), ended as (
      select end_backtests(array_agg(id), 'cancelled', null)::text from held where is_cancelled having count(*) > 0
    ), requeued as (
      select requeue_backtests(array_agg(id), 0)::text from held where not is_cancelled having count(*) > 0
    )
    select id from held, (select count(*) from ended) as a, (select count(*) from requeued) as b`;
  return rows.map((row) => row.id);
}

/** Gives back everything this worker still holds, for when it stops. */
export async function returnAllRuns(sql: Queryable, worker: string): Promise<string[]> {
  const rows = await sql<{ id: string; attempt: number }[]>`
    select id, attempt from backtest_queue where claimed_by = ${worker}`;
  return rows.length === 0 ? [] : returnRuns(sql, rows);
}

/** Which of these backtests are to be cancelled, for a listener that may have missed notifications. */
export async function readCancelled(sql: Queryable, ids: readonly string[]): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from backtest_queue where id = any (${ids as string[]}::uuid[]) and cancel_requested_at is not null`;
  return rows.map((row) => row.id);
}

export interface ProgressRow extends ClaimOf {
  readonly barsDone: number;
  readonly barsTotal: number;
}

export async function saveProgress(sql: Queryable, rows: readonly ProgressRow[]): Promise<void> {
  const own = (values: number[]) => sql`
    (${values}::double precision[])[array_position(${idsOf(rows)}::uuid[], q.id)]`;
  await sql`
    update backtest_queue as q
    set bars_done = ${own(rows.map(({ barsDone }) => barsDone))},
      bars_total = ${own(rows.map(({ barsTotal }) => barsTotal))}
    where ${isHeld(sql, rows)}`;
}
