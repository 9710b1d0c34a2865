// The sweeps table as the API sees it: accept, list, read, cancel, delete. Every query names the workspace. Robustness
// checks of backtests are rows of it too, because they run in the same way; they have a list of their own.
//
// Locks are always taken in one order: the row of a sweep, its shards, the turn of its workspace. Only a process that
// gives back its own shard locks a shard alone.
import type { PendingQuery, Row } from 'postgres';
import type { Queryable, Transaction } from './connect.ts';
import { deleteSweeps } from './deletedTrials.ts';
import { requestOf, WorkAlreadyDone } from './idempotencyKeys.ts';
import { keyset, type KeysetPage, type SortColumn } from './keyset.ts';
import { insertedLabels, LABEL_COLUMNS, labelsJoin, runsLabeled } from './labels.ts';
import type { LabelFilters, Labels, NewLabels } from './labels.ts';
import type { RunStatus } from './runStatus.ts';
import { addSweepTickets } from './tickets.ts';

type Json = Readonly<Record<string, unknown>>;

export interface NewSweep {
  /** The backtest whose robustness is checked; absent: it is a sweep. */
  readonly backtestId?: string;
  readonly strategyId: string;
  readonly strategyVersionId: string;
  readonly spec: object;
  readonly markets: readonly (({ readonly symbol: string } | { readonly symbols: readonly string[] }) & {
    readonly timeframe: string;
    readonly snapshots: readonly string[];
  })[];
  readonly variants: number;
  readonly indexes: number;
  /** The first shards, in order; those of tpe follow one by one. */
  readonly shards: readonly { readonly first: number; readonly last: number; readonly cost: number }[];
  readonly labels?: NewLabels;
}

export interface SweepRow extends Labels {
  readonly id: string;
  readonly status: RunStatus;
  readonly strategyId: string;
  readonly strategyVersionId: string;
  readonly method: string;
  readonly variants: number;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  readonly finishedAt: Date | null;
  readonly best: Json | null;
  readonly verdict: string | null;
}
export interface Sweep extends Omit<SweepRow, 'method' | 'verdict'> {
  readonly spec: Json;
  readonly markets: NewSweep['markets'];
  readonly indexes: number;
  readonly indexesDone: number;
  readonly result: Json | null;
  readonly error: Json | null;
}

/** More tickets than a few hosts have threads would find nothing to do. */
const MAX_TICKETS = 16;

/**
 * Inserts the sweep and its shards, in one statement with the claim to its request key, and their tickets.
 * @throws WorkAlreadyDone
 */
export async function insertSweep(
  tx: Queryable,
  workspaceId: string,
  sweep: NewSweep,
  requestKey: Buffer | null = null,
): Promise<{ id: string; createdAt: Date }> {
  const snapshots = [...new Set(sweep.markets.flatMap((market) => market.snapshots))].sort();
  // A workspace that was idle starts where the others are: it has neither saved up turns nor lost any. This comes
  // before the sweep is inserted, or the workspace would count as one of the others.
  await tx`
    insert into workspace_turns as turn (workspace_id, virtual_time)
    values (${workspaceId}, current_virtual_time())
    on conflict (workspace_id) do update set virtual_time =
      greatest(turn.virtual_time, case when turn.due = 0 then excluded.virtual_time else 0 end)`;
  const [made] = await tx<{ id: string; createdAt: Date }[]>`
    with ${requestOf(tx, requestKey)}, made as (
      insert into sweeps (workspace_id, strategy_id, strategy_version_id, spec, markets, snapshots, variants, indexes,
        backtest_id)
      select ${workspaceId}::uuid, ${sweep.strategyId}::uuid, ${sweep.strategyVersionId}::uuid,
        ${JSON.stringify(sweep.spec)}::text::json,
        ${JSON.stringify(sweep.markets)}::text::json, ${snapshots}::text[], ${sweep.variants}::integer,
          ${sweep.indexes}::double precision, ${sweep.backtestId ?? null}::uuid
      from request
      returning id, created_at
    ), shards as (
      insert into sweep_shards (sweep_id, ordinal, first_index, last_index, cost)
      select made.id, ordinal - 1, first, last, cost from made cross join rows from (
        json_to_recordset(${JSON.stringify(sweep.shards)}::text::json)
          as (first double precision, last double precision, cost double precision)
      ) with ordinality as shard (first, last, cost, ordinal)
    )
    ${insertedLabels(tx, workspaceId, [sweep.labels], tx`select id, 1::bigint from made`)}
    select id, created_at as "createdAt" from made`;
  if (made === undefined) throw new WorkAlreadyDone();
  await addSweepTickets(tx, Math.min(sweep.shards.length, MAX_TICKETS));
  return made;
}

/** How many sweeps and robustness checks of the workspace are queued or running. */
export async function countOpenSweeps(sql: Queryable, workspaceId: string): Promise<number> {
  const [{ count }] = await sql<[{ count: number }]>`
    select count(*)::int as count from sweeps where workspace_id = ${workspaceId} and status in ('queued', 'running')`;
  return count;
}

/** The bytes that the results of its sweeps and robustness checks take, shards of those under way included. */
export const sweepResultBytes = (sql: Queryable, workspaceId: string) => sql<[{ bytes: number }]>`
  select coalesce(sum(bytes), 0)::bigint as bytes from sweeps where workspace_id = ${workspaceId}`;

export const SWEEP_SORTS = {
  createdAt: { expression: 's.created_at', type: 'timestamptz' },
  finishedAt: { expression: `coalesce(s.finished_at, 'infinity')`, type: 'timestamptz' },
  status: { expression: 's.status', type: 'text' },
} as const satisfies Record<string, SortColumn>;

interface SweepFilters extends LabelFilters {
  readonly status?: RunStatus | undefined;
  readonly strategyId?: string | undefined;
  readonly strategyVersionId?: string | undefined;
}

type Fragment = PendingQuery<Row[]>;
type Listed<Each> = Promise<{ rows: { row: Each; value: string; id: string }[]; total: number }>;

export function listSweeps(
  sql: Queryable,
  workspaceId: string,
  { status, strategyId, strategyVersionId, ...labeled }: SweepFilters,
  page: KeysetPage,
): Listed<SweepRow> {
  const where = sql`
    s.workspace_id = ${workspaceId} and s.backtest_id is null
    ${status ? sql`and s.status = ${status}` : sql``}
    ${strategyId ? sql`and s.strategy_id = ${strategyId}` : sql``}
    ${strategyVersionId ? sql`and s.strategy_version_id = ${strategyVersionId}` : sql``}
    ${runsLabeled(sql, workspaceId, labeled, 's.id', SYMBOLS)}`;
  const columns = sql`
    s.strategy_id as "strategyId", s.strategy_version_id as "strategyVersionId", s.spec ->> 'method' as method,
    s.variants, s.best, ${sql.unsafe(LABEL_COLUMNS)}`;
  return listRows(sql, columns, where, page);
}

/** SQL: the symbols of a sweep, as text. */
const SYMBOLS = `(select string_agg(coalesce(m ->> 'symbol', m ->> 'symbols'), ' ')
  from json_array_elements(s.markets) m)`;

export interface CheckRow extends Pick<
  SweepRow,
  'id' | 'status' | 'createdAt' | 'startedAt' | 'finishedAt' | 'verdict'
> {
  /** The request, with every default filled in. */
  readonly spec: Json;
}

/** The robustness checks of a backtest. */
export function listChecks(
  sql: Queryable,
  workspaceId: string,
  backtestId: string,
  { status }: Pick<SweepFilters, 'status'>,
  page: KeysetPage,
): Listed<CheckRow> {
  const where = sql`
    s.workspace_id = ${workspaceId} and s.backtest_id = ${backtestId}
    ${status ? sql`and s.status = ${status}` : sql``}`;
  return listRows(sql, sql`s.spec -> 'robustness' as spec`, where, page);
}

async function listRows<Each extends { readonly id: string }>(
  sql: Queryable,
  columns: Fragment,
  where: Fragment,
  page: KeysetPage,
): Listed<Each> {
  const sort = SWEEP_SORTS[page.order.name as keyof typeof SWEEP_SORTS];
  const { value, startsAfter, orderAndLimit } = keyset(sql, sort, 's.id', page);
  const rows = await sql<(Each & { sortValue: string })[]>`
    select s.id, s.status, ${columns}, s.created_at as "createdAt", s.started_at as "startedAt",
      s.finished_at as "finishedAt", s.result #>> '{verdict,code}' as verdict, ${value} as "sortValue"
    from sweeps s ${sql.unsafe(labelsJoin('s.id'))} where ${where} ${startsAfter} ${orderAndLimit}`;
  const [{ total }] = await sql<[{ total: number }]>`select count(*)::int as total from sweeps s where ${where}`;
  return { rows: rows.map(({ sortValue, ...row }) => ({ row: row as never, value: sortValue, id: row.id })), total };
}

/** Finds a sweep, or a robustness check. @param backtestId the backtest that is checked; null: it is a sweep */
export async function findSweep(
  sql: Queryable,
  workspaceId: string,
  id: string,
  backtestId: string | null = null,
): Promise<Sweep | undefined> {
  const [row] = await sql<Sweep[]>`
    select s.id, status, strategy_id as "strategyId", strategy_version_id as "strategyVersionId", variants,
      created_at as "createdAt",
      started_at as "startedAt", finished_at as "finishedAt", best, spec, markets, indexes,
        indexes_done as "indexesDone", result, error, ${sql.unsafe(LABEL_COLUMNS)}
    from sweeps s ${sql.unsafe(labelsJoin('s.id'))}
    where s.workspace_id = ${workspaceId} and s.id = ${id} and backtest_id is not distinct from ${backtestId}::uuid`;
  return row;
}

/** Keeps a sweep from being deleted until the transaction ends. @returns whether there is one */
export async function keepSweep(tx: Transaction, workspaceId: string, id: string): Promise<boolean> {
  const rows = await tx`
    select 1 from sweeps where workspace_id = ${workspaceId} and id = ${id} and backtest_id is null for key share`;
  return rows.length > 0;
}

export async function findSweepStatus(sql: Queryable, workspaceId: string, id: string): Promise<RunStatus | undefined> {
  const [row] = await sql<{ status: RunStatus }[]>`
    select status from sweeps where workspace_id = ${workspaceId} and id = ${id}`;
  return row?.status;
}

/**
 * Ends a sweep at once; the workers that run its shards must be notified (notifications.ts).
 * @returns false when it had ended before or is not there.
 */
export async function cancelSweep(
  tx: Transaction,
  workspaceId: string,
  id: string,
  backtestId: string | null = null,
): Promise<boolean> {
  const rows = await tx`
    update sweeps set status = 'cancelled', finished_at = now(), bytes = 0
    where workspace_id = ${workspaceId} and id = ${id} and backtest_id is not distinct from ${backtestId}::uuid
      and status in ('queued', 'running') returning 1`;
  if (rows.length > 0) await tx`delete from sweep_shards where sweep_id = ${id}`;
  return rows.length > 0;
}

/**
 * Deletes a sweep that has ended, with its rows and its report.
 * @returns `open` when it has not ended, undefined when there is none.
 */
export async function deleteSweep(
  sql: Queryable,
  workspaceId: string,
  id: string,
): Promise<'deleted' | 'open' | undefined> {
  const wanted = sql`
    select id from sweeps where workspace_id = ${workspaceId} and id = ${id} and backtest_id is null`;
  if ((await deleteSweeps(sql, wanted)) > 0) return 'deleted';
  return (await findSweep(sql, workspaceId, id)) === undefined ? undefined : 'open';
}

/** How many shards are read at a time: one of 20,000 rows with every metric takes 10 MB. */
const SHARDS_PER_READ = 4;

/** The encoded rows of every finished shard, in order, a few at a time. */
export async function* readSweepShards(sql: Queryable, sweepId: string): AsyncGenerator<Uint8Array> {
  for (let after = -1; ;) {
    const rows = await sql<{ ordinal: number; rows: Uint8Array }[]>`
      select ordinal, rows from sweep_shards
      where sweep_id = ${sweepId} and ordinal > ${after} and rows is not null
        order by ordinal limit ${SHARDS_PER_READ}`;
    for (const { rows: bytes } of rows) yield bytes;
    if (rows.length < SHARDS_PER_READ) return;
    after = rows.at(-1)!.ordinal;
  }
}

/** The encoded rows of the shard that has this index. */
export async function readSweepShardOf(
  sql: Queryable,
  sweepId: string,
  index: number,
): Promise<Uint8Array | undefined> {
  const [row] = await sql<{ rows: Uint8Array }[]>`
    select rows from sweep_shards
    where sweep_id = ${sweepId} and rows is not null and first_index <= ${index} and last_index > ${index}`;
  return row?.rows;
}

export async function readSweepPage(sql: Queryable, sweepId: string): Promise<Uint8Array | undefined> {
  const [row] = await sql<{ page: Uint8Array | null }[]>`select page from sweeps where id = ${sweepId}`;
  return row?.page ?? undefined;
}
