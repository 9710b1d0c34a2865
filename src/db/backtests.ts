// Backtests as the API sees them: accept, list, read, cancel. Every query names the workspace.
//
// A backtest is a row of `backtests`, which never changes; while it is open also one of `backtest_queue`, and from its
// end on one of `backtest_results`, with `backtest_details` when it has a result.
import type { Queryable, Transaction } from './connect.ts';
import type { FlatKey } from '../engine/index.ts';
import { summaryNumber, summaryOf, SUMMARY_COLUMNS, type StoredSummary } from './summaries.ts';
import { deleteBacktests } from './deletedTrials.ts';
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
  /** Bytes that the run may need at its peak, besides its snapshots; 0: not known. */
  readonly memoryBytes: number;
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
  /** The code of the first entry of its diagnosis; null without a result, or when it was made before this was kept. */
  readonly diagnosis: string | null;
}

/** Where a backtest is on its way; cheap to read often. */
export interface BacktestState {
  readonly id: string;
  readonly status: BacktestStatus;
  readonly finishedAt: Date | null;
  readonly barsDone: number;
  readonly barsTotal: number;
  readonly error: Json | null;
  /** Queued backtests of the workspace that go before this one; null once it has started. */
  readonly queuePosition: number | null;
}

export interface Backtest extends BacktestState {
  readonly workspaceId: string;
  readonly strategyId: string;
  readonly strategyVersionId: string;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  readonly config: Json;
  readonly cancelRequestedAt: Date | null;
  readonly isCached: boolean;
  readonly summary: Json | null;
  /** Everything else of a result but its trades (engine/pool/detail.ts). */
  readonly detail: Uint8Array | null;
  /** Of a completed backtest: `settings` and `strategy.defaults` of its version. */
  readonly settings: Json | null;
  readonly defaults: Json | null;
}

/**
 * Locks the workspace's queue until the transaction ends.
 * @returns how many of its backtests are queued or running, and the bytes that the results of its backtests take;
 * neither can grow meanwhile.
 */
export async function lockQueue(
  tx: Transaction,
  workspaceId: string,
): Promise<{ readonly open: number; readonly resultBytes: number }> {
  const [queue] = await tx<[{ open: number; resultBytes: number }]>`
    insert into workspace_turns as turn (workspace_id) values (${workspaceId})
    on conflict (workspace_id) do update set workspace_id = excluded.workspace_id
    returning open, result_bytes as "resultBytes"`;
  return queue;
}

/** The bytes that the results of the workspace's backtests take. */
export const backtestResultBytes = (sql: Queryable, workspaceId: string) => sql<[{ bytes: number }]>`
  select coalesce(sum(result_bytes), 0)::bigint as bytes from workspace_turns where workspace_id = ${workspaceId}`;

/** How many backtests of the workspace are queued or running, as far as is known without waiting. */
export const openBacktests = (sql: Queryable, workspaceId: string) => sql<[{ count: number }]>`
  select coalesce(sum(open), 0)::int as count from workspace_turns where workspace_id = ${workspaceId}`;

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
  const column = <Value>(read: (item: NewBacktest) => Value): Value[] => items.map(read);
  const [{ ids, createdAt }] = await tx<[{ ids: string | null; createdAt: Date }]>`
    with ${requestOf(tx, requestKey)}, item as materialized (
      select uuidv7() as id, x.*
      from rows from (
        unnest(${column((item) => item.strategyId)}::uuid[], ${column((item) => item.strategyVersionId)}::uuid[],
          ${column((item) => item.symbol)}::text[], ${column((item) => item.timeframe)}::text[],
          ${column((item) => `{${item.snapshots.join()}}`)}::text[], ${column((item) => item.runKey)}::text[],
          ${column((item) => item.cost)}::double precision[],
          ${column((item) => item.memoryBytes)}::double precision[]),
        -- As one text, in which no quotes need to be escaped.
        json_array_elements(${JSON.stringify(column((item) => item.config))}::text::json)
      ) with ordinality as x (strategy_id, strategy_version_id, symbol, timeframe, snapshots, run_key, cost,
        memory_bytes, config, ordinal)
      where exists (select from request)
    ), made as (
      insert into backtests (id, workspace_id, strategy_id, strategy_version_id, symbol, timeframe, config, snapshots,
        run_key)
      select id, ${workspaceId}, strategy_id, strategy_version_id, symbol, timeframe, config, snapshots::text[],
        run_key
      from item
    ), queued as (
      insert into backtest_queue (id, workspace_id, cost, memory_bytes)
      select id, ${workspaceId}, cost, memory_bytes from item
    ), turn as (
      insert into workspace_turns as turn (workspace_id, virtual_time, due, open)
      select ${workspaceId}, current_virtual_time(), count(*), count(*)
      from item having count(*) > 0
      on conflict (workspace_id) do update set
        -- A workspace that was idle starts where the others are: it has neither saved up turns nor lost any.
        virtual_time = case when turn.due = 0
          then greatest(turn.virtual_time, excluded.virtual_time) else turn.virtual_time end,
        due = turn.due + excluded.due, open = turn.open + excluded.open
    )
    select string_agg(id::text, ',' order by ordinal) as ids, now()::timestamptz(3) as "createdAt" from item`;
  if (ids === null) throw new WorkAlreadyDone();
  return ids.split(',').map((id) => ({ id, createdAt }));
}

const STATUS = `coalesce(r.status, case when q.claimed_by is null then 'queued' else 'running' end)`;
const PARTS = `backtests b left join backtest_results r on r.id = b.id left join backtest_queue q on q.id = b.id`;

export const BACKTEST_SORTS = {
  createdAt: { expression: 'b.created_at', type: 'timestamptz' },
  // Unfinished backtests come after all finished ones.
  finishedAt: { expression: `coalesce(r.finished_at, 'infinity')`, type: 'timestamptz' },
  status: { expression: STATUS, type: 'text' },
} as const satisfies Record<string, SortColumn>;

/** A key of the flat summary; backtests without a value come last, whichever way the list is sorted. */
const summaryColumn = (key: FlatKey, isDescending: boolean): SortColumn => ({
  expression: `coalesce(${summaryNumber(key)}, '${isDescending ? '-' : ''}infinity')`,
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
    ${status ? sql`and ${hasStatus(sql, workspaceId, status)}` : sql``}
    ${
      strategyId
        ? sql`and b.strategy_version_id in (select id from strategy_versions where strategy_id = ${strategyId})`
        : sql``
    }
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
    select b.id, ${sql.unsafe(STATUS)} as status, b.strategy_id as "strategyId",
      b.strategy_version_id as "strategyVersionId",
      b.symbol, b.timeframe, b.created_at as "createdAt", coalesce(r.started_at, q.started_at) as "startedAt",
      r.finished_at as "finishedAt", coalesce(r.is_cached, false) as "isCached",
      ${sql.unsafe(summaryNumber('returnPct'))} as "returnPct",
      ${sql.unsafe(summaryNumber('sharpeRatio'))} as "sharpeRatio",
      ${sql.unsafe(summaryNumber('maxDrawdown'))} as "maxDrawdown",
      ${sql.unsafe(summaryNumber('totalPositions'))} as "totalPositions",
      coalesce(b.config -> 'params', '{}') as params, coalesce(b.config -> 'overrides', '{}') as overrides,
      coalesce(r.warnings, '{}') as warnings, r.diagnosis, ${value} as "sortValue"
    from ${sql.unsafe(PARTS)} where ${where} ${startsAfter} ${orderAndLimit}`;
  const counted = sql.unsafe(status ? PARTS : 'backtests b');
  const [{ total }] = await sql<[{ total: number }]>`select count(*)::int as total from ${counted} where ${where}`;
  return { rows: rows.map(({ sortValue, ...row }) => ({ row, value: sortValue, id: row.id })), total };
}

/**
 * Open backtests are looked up by their ids: the planner, whose statistics are from when the queue was longer, would
 * go through all backtests of the workspace to find the last few.
 */
function hasStatus(sql: Queryable, workspaceId: string, status: BacktestStatus) {
  if (status !== 'queued' && status !== 'running') return sql`r.status = ${status}`;
  const claimed = status === 'queued' ? sql`claimed_by is null` : sql`claimed_by is not null`;
  return sql`b.id = any (array(select id from backtest_queue where workspace_id = ${workspaceId} and ${claimed}))`;
}

const STATE = `b.id, ${STATUS} as status, r.finished_at as "finishedAt",
  coalesce(r.bars_done, q.bars_done) as "barsDone",
  coalesce(r.bars_total, q.bars_total) as "barsTotal", r.error,
  case when q.id is not null and q.claimed_by is null then (
    select count(*)::int from backtest_queue o where o.workspace_id = b.workspace_id and o.claimed_by is null
      and o.id < b.id
  ) end as "queuePosition"`;

export async function findBacktest(sql: Queryable, workspaceId: string, id: string): Promise<Backtest | undefined> {
  const [row] = await sql<(Backtest & StoredSummary)[]>`
    select ${sql.unsafe(STATE)}, b.workspace_id as "workspaceId", b.strategy_id as "strategyId",
      b.strategy_version_id as "strategyVersionId", b.created_at as "createdAt", b.config,
      coalesce(r.started_at, q.started_at) as "startedAt",
      coalesce(r.cancel_requested_at, q.cancel_requested_at) as "cancelRequestedAt",
      coalesce(r.is_cached, false) as "isCached", ${sql.unsafe(SUMMARY_COLUMNS)}, d.detail,
      v.settings, v.strategy_ast->'strategy'->'defaults' as defaults
    from ${sql.unsafe(PARTS)} left join backtest_details d on d.id = b.id
      left join strategy_versions v on v.id = b.strategy_version_id and d.id is not null
    where b.workspace_id = ${workspaceId} and b.id = ${id}`;
  return row && { ...row, summary: summaryOf(row) };
}

export async function findBacktestState(
  sql: Queryable,
  workspaceId: string,
  id: string,
): Promise<BacktestState | undefined> {
  const [row] = await sql<BacktestState[]>`
    select ${sql.unsafe(STATE)} from ${sql.unsafe(PARTS)} where b.workspace_id = ${workspaceId} and b.id = ${id}`;
  return row;
}

export async function findBacktestStatus(
  sql: Queryable,
  workspaceId: string,
  id: string,
): Promise<BacktestStatus | undefined> {
  const [row] = await sql<{ status: BacktestStatus }[]>`
    select ${sql.unsafe(STATUS)} as status
      from ${sql.unsafe(PARTS)} where b.workspace_id = ${workspaceId} and b.id = ${id}`;
  return row?.status;
}

/**
 * Deletes a backtest that has ended, with its result.
 * @returns `open` when it has not ended, undefined when there is none.
 */
export async function deleteBacktest(
  sql: Queryable,
  workspaceId: string,
  id: string,
): Promise<'deleted' | 'open' | undefined> {
  const wanted = sql`select id from backtests where workspace_id = ${workspaceId} and id = ${id}`;
  if ((await deleteBacktests(sql, wanted)) > 0) return 'deleted';
  return (await findBacktestStatus(sql, workspaceId, id)) === undefined ? undefined : 'open';
}

/** The trades of a completed backtest (engine/pool/detail.ts), which nothing else reads. */
export async function readTrades(sql: Queryable, id: string): Promise<Uint8Array | undefined> {
  const [row] = await sql<{ trades: Uint8Array }[]>`select trades from backtest_details where id = ${id}`;
  return row?.trades;
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
  const [row] = await sql<{ isRunning: boolean }[]>`
    with held as materialized (
      select id, claimed_by is not null as is_running from backtest_queue
      where workspace_id = ${workspaceId} and id = ${id} for update
    ), asked as (
      update backtest_queue q set cancel_requested_at = coalesce(q.cancel_requested_at, now())
      from held where q.id = held.id and held.is_running
    )
    select is_running as "isRunning", case when not is_running
      then end_backtests(array[id], 'cancelled', null)::text end from held`;
  if (row) return row.isRunning ? 'running' : 'cancelled';
  return (await findBacktestStatus(sql, workspaceId, id)) === undefined ? undefined : 'terminal';
}
