// The backtests table as the API sees it: accept, list, read, cancel. Every query names the workspace.
import type { Queryable, Transaction } from './connect.ts';
import type { FlatKey } from '../engine/index.ts';
import { requestOf, WorkAlreadyDone } from './idempotencyKeys.ts';
import { keyset, type KeysetPage, type SortColumn } from './keyset.ts';

export const BACKTEST_STATUSES = ['queued', 'running', 'completed', 'failed', 'cancelled'] as const;
export type BacktestStatus = (typeof BACKTEST_STATUSES)[number];
const TERMINAL_STATUSES = ['completed', 'failed', 'cancelled'] as const satisfies readonly BacktestStatus[];
export const isTerminal = (status: BacktestStatus): boolean =>
  (TERMINAL_STATUSES as readonly BacktestStatus[]).includes(status);

type Json = Readonly<Record<string, unknown>>;

/** What is stored of a backtest when it is accepted. */
export interface NewBacktest {
  readonly strategyId: string;
  readonly strategyVersionId: string;
  readonly symbol: string;
  readonly timeframe: string;
  /** As it was sent. */
  readonly config: object;
  /** sha256 of every snapshot it may read. */
  readonly snapshots: readonly string[];
  readonly runKey: string;
  /** About how many bars of work, above 0. */
  readonly cost: number;
}

export interface BacktestRow {
  readonly id: string;
  readonly status: BacktestStatus;
  readonly strategyId: string;
  readonly strategyVersionId: string;
  readonly symbol: string;
  readonly timeframe: string;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  readonly finishedAt: Date | null;
  readonly isCached: boolean;
  readonly returnPct: number | null;
  readonly sharpeRatio: number | null;
  readonly maxDrawdown: number | null;
  readonly totalPositions: number | null;
  readonly params: Json;
  readonly overrides: Json;
  /** Their codes. */
  readonly warnings: string[];
}

export interface Backtest {
  readonly id: string;
  readonly workspaceId: string;
  readonly status: BacktestStatus;
  readonly strategyId: string;
  readonly strategyVersionId: string;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  readonly finishedAt: Date | null;
  readonly config: Json;
  readonly resolvedConfig: Json | null;
  readonly cancelRequestedAt: Date | null;
  readonly barsDone: number;
  readonly barsTotal: number;
  readonly reproducibility: Json | null;
  readonly isCached: boolean;
  readonly summary: Json | null;
  readonly detail: Uint8Array | null;
  readonly warnings: readonly object[];
  readonly error: Json | null;
  /** Queued backtests of the workspace that go before this one; null once it has started. */
  readonly queuePosition: number | null;
}

/**
 * Locks the workspace's queue until the transaction ends.
 * @returns how many of its backtests are queued or running, which cannot grow meanwhile.
 */
export async function lockOpenCount(tx: Transaction, workspaceId: string): Promise<number> {
  const [{ open }] = await tx<[{ open: number }]>`
    insert into workspace_turns as turn (workspace_id) values (${workspaceId})
    on conflict (workspace_id) do update set workspace_id = excluded.workspace_id returning open`;
  return open;
}

/** How many backtests of the workspace are queued or running, as far as is known without waiting. */
export async function countOpenBacktests(sql: Queryable, workspaceId: string): Promise<number> {
  const [row] = await sql<{ open: number }[]>`select open from workspace_turns where workspace_id = ${workspaceId}`;
  return row?.open ?? 0;
}

/**
 * One statement for any number, so that the rows and the claim to their request key are there together or not at all,
 * whatever has become of the transaction around it.
 * @param requestKey names the request (requestKeyOf in idempotencyKeys.ts); null: it has no Idempotency-Key
 * @returns ids and creation times in the order of the items
 * @throws WorkAlreadyDone when backtests were created under this key within 24 hours
 */
export async function insertBacktests(
  tx: Queryable,
  workspaceId: string,
  items: readonly NewBacktest[],
  requestKey: Buffer | null = null,
): Promise<{ readonly id: string; readonly createdAt: Date }[]> {
  const made = await tx<{ id: string; createdAt: Date }[]>`
    with ${requestOf(tx, requestKey)}, item as materialized (
      select uuidv7() as id, x.* from rows from (
        json_to_recordset(${JSON.stringify(items)}::text::json) as ("strategyId" uuid, "strategyVersionId" uuid, symbol text,
          timeframe text, config json, snapshots json, "runKey" text, cost double precision)
      ) with ordinality as x (strategy_id, strategy_version_id, symbol, timeframe, config, snapshots, run_key, cost, ordinal)
      cross join request
    ), made as (
      insert into backtests (id, workspace_id, strategy_id, strategy_version_id, symbol, timeframe, config, snapshots, run_key, cost)
      select id, ${workspaceId}, strategy_id, strategy_version_id, symbol, timeframe, config,
        array(select json_array_elements_text(snapshots)), run_key, cost
      from item order by ordinal
      returning id, created_at
    )
    select id, made.created_at as "createdAt" from item join made using (id) order by ordinal`;
  if (made.length < items.length) throw new WorkAlreadyDone();
  return made;
}

export const BACKTEST_SORTS = {
  createdAt: { expression: 'b.created_at', type: 'timestamptz' },
  // Unfinished backtests come after all finished ones.
  finishedAt: { expression: `coalesce(b.finished_at, 'infinity')`, type: 'timestamptz' },
  status: { expression: 'b.status', type: 'text' },
} as const satisfies Record<string, SortColumn>;

/** A key of the flat summary; backtests without a value come last, whichever way the list is sorted. */
const summaryColumn = (key: FlatKey, isDescending: boolean): SortColumn => ({
  expression: `coalesce((b.summary ->> '${key}')::float8, '${isDescending ? '-' : ''}infinity')`,
  type: 'float8',
});

export interface BacktestFilters {
  readonly status?: BacktestStatus | undefined;
  readonly strategyId?: string | undefined;
  readonly strategyVersionId?: string | undefined;
  readonly symbol?: string | undefined;
  readonly timeframe?: string | undefined;
  /** Both exclusive. */
  readonly createdAfter?: Date | undefined;
  readonly createdBefore?: Date | undefined;
}

export async function listBacktests(
  sql: Queryable,
  workspaceId: string,
  filters: BacktestFilters,
  page: KeysetPage,
): Promise<{ rows: { row: BacktestRow; value: string; id: string }[]; total: number }> {
  const { status, strategyId, strategyVersionId, symbol, timeframe, createdAfter, createdBefore } = filters;
  const where = sql`
    b.workspace_id = ${workspaceId}
    ${status ? sql`and b.status = ${status}` : sql``}
    ${strategyId ? sql`and b.strategy_id = ${strategyId}` : sql``}
    ${strategyVersionId ? sql`and b.strategy_version_id = ${strategyVersionId}` : sql``}
    ${symbol ? sql`and b.symbol = ${symbol}` : sql``}
    ${timeframe ? sql`and b.timeframe = ${timeframe}` : sql``}
    ${createdAfter ? sql`and b.created_at > ${createdAfter}` : sql``}
    ${createdBefore ? sql`and b.created_at < ${createdBefore}` : sql``}`;
  const { name, descending } = page.order;
  // The route takes only names that it lists: of these columns, and of the flat summary.
  const column =
    name in BACKTEST_SORTS
      ? BACKTEST_SORTS[name as keyof typeof BACKTEST_SORTS]
      : summaryColumn(name as FlatKey, descending);
  const { value, startsAfter, orderAndLimit } = keyset(sql, column, 'b.id', page);
  const rows = await sql<(BacktestRow & { sortValue: string })[]>`
    select b.id, b.status, b.strategy_id as "strategyId", b.strategy_version_id as "strategyVersionId", b.symbol, b.timeframe,
      b.created_at as "createdAt", b.started_at as "startedAt", b.finished_at as "finishedAt", b.is_cached as "isCached",
      (b.summary ->> 'returnPct')::float8 as "returnPct", (b.summary ->> 'sharpeRatio')::float8 as "sharpeRatio",
      (b.summary ->> 'maxDrawdown')::float8 as "maxDrawdown", (b.summary ->> 'totalPositions')::int as "totalPositions",
      coalesce(b.config -> 'params', '{}') as params, coalesce(b.config -> 'overrides', '{}') as overrides,
      array(select warning ->> 'code' from json_array_elements(b.warnings) as warning) as warnings,
      ${value} as "sortValue"
    from backtests b where ${where} ${startsAfter} ${orderAndLimit}`;
  const [{ total }] = await sql<[{ total: number }]>`select count(*)::int as total from backtests b where ${where}`;
  return { rows: rows.map(({ sortValue, ...row }) => ({ row, value: sortValue, id: row.id })), total };
}

export async function findBacktest(sql: Queryable, workspaceId: string, id: string): Promise<Backtest | undefined> {
  const [row] = await sql<Backtest[]>`
    select b.id, b.workspace_id as "workspaceId", b.status, b.strategy_id as "strategyId",
      b.strategy_version_id as "strategyVersionId", b.created_at as "createdAt", b.started_at as "startedAt",
      b.finished_at as "finishedAt", b.config, b.resolved_config as "resolvedConfig",
      b.cancel_requested_at as "cancelRequestedAt", b.bars_done as "barsDone", b.bars_total as "barsTotal", b.reproducibility,
      b.is_cached as "isCached", b.summary, b.detail, b.warnings, b.error,
      case when b.status = 'queued' then (
        select count(*)::int from backtests q where q.workspace_id = b.workspace_id and q.status = 'queued' and q.id < b.id
      ) end as "queuePosition"
    from backtests b where b.workspace_id = ${workspaceId} and b.id = ${id}`;
  return row;
}

export async function findBacktestStatus(
  sql: Queryable,
  workspaceId: string,
  id: string,
): Promise<BacktestStatus | undefined> {
  const [row] = await sql<{ status: BacktestStatus }[]>`
    select status from backtests where workspace_id = ${workspaceId} and id = ${id}`;
  return row?.status;
}

/**
 * A queued backtest is cancelled at once; for a running one the request is recorded, and its worker must be notified
 * (notifications.ts).
 * @returns the status it has now, `terminal` when it had ended before, undefined when there is none.
 */
export async function cancelBacktest(
  sql: Queryable,
  workspaceId: string,
  id: string,
): Promise<'cancelled' | 'running' | 'terminal' | undefined> {
  const [row] = await sql<{ status: BacktestStatus }[]>`
    update backtests set cancel_requested_at = coalesce(cancel_requested_at, now()),
      status = case when status = 'queued' then 'cancelled' else status end,
      finished_at = case when status = 'queued' then now() end
    where workspace_id = ${workspaceId} and id = ${id} and status in ('queued', 'running')
    returning status`;
  if (row) return row.status === 'running' ? 'running' : 'cancelled';
  return (await findBacktestStatus(sql, workspaceId, id)) === undefined ? undefined : 'terminal';
}
