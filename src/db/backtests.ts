// Backtests as the API sees them: accept, read, cancel; backtestLists.ts lists them. Every query names the workspace.
//
// A backtest is a row of `backtests`, which never changes; while it is open also one of `backtest_queue`, and from its
// end on one of `backtest_results`, with `backtest_details` when it has a result.
import type { Queryable, Transaction } from './connect.ts';
import { summaryOf, SUMMARY_COLUMNS, type StoredSummary, type SummaryPositions } from './summaries.ts';
import { deleteBacktests } from './deletedTrials.ts';
import { requestOf, WorkAlreadyDone } from './idempotencyKeys.ts';
import { insertedLabels, LABEL_COLUMNS, labelsJoin, type Labels, type NewLabels } from './labels.ts';
import type { RunStatus } from './runStatus.ts';
import { addTicketsFor } from './tickets.ts';

type Json = Readonly<Record<string, unknown>>;

/** Between the symbols of a portfolio in the column `symbol`. No symbol has one (checkSymbol, market/instrument.ts). */
export const SYMBOL_SEPARATOR = ',';

/** What is stored of a backtest when it is accepted. */
export interface NewBacktest {
  readonly strategyId: string;
  readonly strategyVersionId: string;
  /** What it trades: one symbol, or those of a portfolio in the order of its list. */
  readonly symbols: readonly string[];
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
  readonly labels?: NewLabels;
}

/** Where a backtest is on its way; cheap to read often. */
export interface BacktestState {
  readonly id: string;
  readonly status: RunStatus;
  readonly finishedAt: Date | null;
  readonly barsDone: number;
  readonly barsTotal: number;
  readonly error: Json | null;
  /** Queued backtests of the workspace that go before this one; null once it has started. */
  readonly queuePosition: number | null;
}

export interface Backtest extends BacktestState, Labels {
  readonly workspaceId: string;
  readonly strategyId: string;
  readonly strategyVersionId: string;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  readonly config: Json;
  readonly cancelRequestedAt: Date | null;
  readonly isCached: boolean;
  readonly summary: Json | null;
  /** Everything else of a result but its trades (engine/pool/result.ts). */
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
 * Inserts any number of backtests in one statement, so that the rows and the claim to their request key are stored
 * together or not at all, whatever happens to the transaction around it; then their tickets.
 * @param requestKey names the request (requestKeyOf in idempotencyKeys.ts); null: it has no Idempotency-Key
 * @param batchId by which a list finds them; null: they are found one by one
 * @returns ids and creation times in the order of the items
 * @throws WorkAlreadyDone when backtests were created under this key within 24 hours
 */
export async function insertBacktests(
  tx: Queryable,
  workspaceId: string,
  items: readonly NewBacktest[],
  requestKey: Buffer | null = null,
  batchId: string | null = null,
): Promise<{ readonly id: string; readonly createdAt: Date }[]> {
  if (items.length === 0) return [];
  const column = <Value>(read: (item: NewBacktest) => Value): Value[] => items.map(read);
  const [{ ids, createdAt }] = await tx<[{ ids: string | null; createdAt: Date }]>`
    with ${requestOf(tx, requestKey)}, item as materialized (
      select uuidv7() as id, x.*
      from rows from (
        unnest(${column((item) => item.strategyId)}::uuid[], ${column((item) => item.strategyVersionId)}::uuid[],
          ${column((item) => item.symbols.join(SYMBOL_SEPARATOR))}::text[], ${column((item) => item.timeframe)}::text[],
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
        run_key, batch_id)
      select id, ${workspaceId}, strategy_id, strategy_version_id, symbol, timeframe, config, snapshots::text[],
        run_key, ${batchId}::uuid
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
    ${insertedLabels(
      tx,
      workspaceId,
      column(({ labels }) => labels),
      tx`select id, ordinal from item`,
    )}
    select string_agg(id::text, ',' order by ordinal) as ids, now()::timestamptz(3) as "createdAt" from item`;
  if (ids === null) throw new WorkAlreadyDone();
  await addTicketsFor(tx, items);
  return ids.split(',').map((id) => ({ id, createdAt }));
}

/** SQL: the status of a row of BACKTEST_TABLES. */
export const STATUS_COLUMN = `coalesce(r.status, case when q.claimed_by is null then 'queued' else 'running' end)`;
export const BACKTEST_TABLES = `backtests b left join backtest_results r on r.id = b.id
  left join backtest_queue q on q.id = b.id`;

const STATE = `b.id, ${STATUS_COLUMN} as status, r.finished_at as "finishedAt",
  coalesce(r.bars_done, q.bars_done) as "barsDone",
  coalesce(r.bars_total, q.bars_total) as "barsTotal", r.error,
  case when q.id is not null and q.claimed_by is null then (
    select count(*)::int from backtest_queue o where o.workspace_id = b.workspace_id and o.claimed_by is null
      and o.id < b.id
  ) end as "queuePosition"`;

export async function findBacktest(
  sql: Queryable,
  workspaceId: string,
  id: string,
  positions: SummaryPositions,
): Promise<Backtest | undefined> {
  const [row] = await sql<(Backtest & StoredSummary)[]>`
    select ${sql.unsafe(STATE)}, b.workspace_id as "workspaceId", b.strategy_id as "strategyId",
      b.strategy_version_id as "strategyVersionId", b.created_at as "createdAt", b.config,
      coalesce(r.started_at, q.started_at) as "startedAt",
      coalesce(r.cancel_requested_at, q.cancel_requested_at) as "cancelRequestedAt",
      coalesce(r.is_cached, false) as "isCached", ${sql.unsafe(SUMMARY_COLUMNS)}, d.detail,
      ${sql.unsafe(LABEL_COLUMNS)},
      v.settings, v.strategy_ast->'strategy'->'defaults' as defaults
    from ${sql.unsafe(BACKTEST_TABLES)} left join backtest_details d on d.id = b.id
      left join strategy_versions v on v.id = b.strategy_version_id and d.id is not null
      ${sql.unsafe(labelsJoin('b.id'))}
    where b.workspace_id = ${workspaceId} and b.id = ${id}`;
  return row && { ...row, summary: summaryOf(row, positions) };
}

/** Keeps a backtest from being deleted until the transaction ends. @returns whether there is one */
export async function keepBacktest(tx: Transaction, workspaceId: string, id: string): Promise<boolean> {
  const rows = await tx`select 1 from backtests where workspace_id = ${workspaceId} and id = ${id} for key share`;
  return rows.length > 0;
}

export async function findBacktestState(
  sql: Queryable,
  workspaceId: string,
  id: string,
): Promise<BacktestState | undefined> {
  const [row] = await sql<BacktestState[]>`
    select ${sql.unsafe(STATE)} from ${sql.unsafe(BACKTEST_TABLES)}
    where b.workspace_id = ${workspaceId} and b.id = ${id}`;
  return row;
}

export async function findBacktestStatus(
  sql: Queryable,
  workspaceId: string,
  id: string,
): Promise<RunStatus | undefined> {
  const [row] = await sql<{ status: RunStatus }[]>`
    select ${sql.unsafe(STATUS_COLUMN)} as status from ${sql.unsafe(BACKTEST_TABLES)}
    where b.workspace_id = ${workspaceId} and b.id = ${id}`;
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

/** The trades of a completed backtest (engine/pool/result.ts), which nothing else reads. */
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
