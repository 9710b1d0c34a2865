// Lists of backtests: filtered, sorted, and page by page. Every query names the workspace.
import type { FlatKey } from '../engine/index.ts';
import { BACKTEST_TABLES, STATUS_COLUMN, SYMBOL_SEPARATOR } from './backtests.ts';
import type { RunStatus } from './runStatus.ts';
import type { Queryable } from './connect.ts';
import { keyset, type KeysetPage, type SortColumn } from './keyset.ts';
import { LABEL_COLUMNS, labelsJoin, runsLabeled, type LabelFilters, type Labels } from './labels.ts';
import { summaryNumber, type SummaryPositions } from './summaries.ts';

type Json = Readonly<Record<string, unknown>>;

/** The numbers of a summary that a list shows unless others are asked for. */
export const HEADLINES = [
  'returnPct',
  'sharpeRatio',
  'maxDrawdown',
  'totalPositions',
] as const satisfies readonly FlatKey[];

/** Numbers of the summary; null: undefined, or there is no result. */
export interface BacktestRow extends Labels, Readonly<Partial<Record<FlatKey, number | null>>> {
  readonly id: string;
  readonly status: RunStatus;
  readonly strategyId: string;
  readonly strategyVersionId: string;
  /** The first symbols that it trades, in the order of its list, and how many it trades in all. */
  readonly symbols: readonly string[];
  readonly symbolCount: number;
  readonly timeframe: string;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  readonly finishedAt: Date | null;
  readonly isCached: boolean;
  readonly params: Json;
  readonly overrides: Json;
  /** The codes of its warnings. */
  readonly warnings: string[];
  /** The code of the first entry of its diagnosis; null without a result, or when it was made before this was kept. */
  readonly diagnosis: string | null;
}

export const BACKTEST_SORTS = {
  createdAt: { expression: 'b.created_at', type: 'timestamptz' },
  // Unfinished backtests come after all finished ones.
  finishedAt: { expression: `coalesce(r.finished_at, 'infinity')`, type: 'timestamptz' },
  status: { expression: STATUS_COLUMN, type: 'text' },
} as const satisfies Record<string, SortColumn>;

/** Sorts by a key of the flat summary; backtests without a value come last, whichever way the list is sorted. */
const summaryColumn = (key: FlatKey, positions: SummaryPositions, isDescending: boolean): SortColumn => ({
  expression: `coalesce(${summaryNumber(key, positions)}, '${isDescending ? '-' : ''}infinity')`,
  type: 'float8',
});

/** A condition on a number of the summary. */
export interface SummaryCondition {
  readonly key: FlatKey;
  readonly comparison: '>=' | '<=' | '>' | '<';
  readonly value: number;
}

interface BacktestFilters extends LabelFilters {
  readonly status?: RunStatus | undefined;
  readonly strategyId?: string | undefined;
  readonly strategyVersionId?: string | undefined;
  /** One of those that it trades. */
  readonly symbol?: string | undefined;
  readonly timeframe?: string | undefined;
  readonly batchId?: string | undefined;
  /** Exclusive, like `createdBefore`. */
  readonly createdAfter?: Date | undefined;
  readonly createdBefore?: Date | undefined;
  /** All of these hold; none holds without a result. */
  readonly where?: readonly SummaryCondition[] | undefined;
}

/** @param keys numbers of the summary that are read of each row */
export async function listBacktests(
  sql: Queryable,
  workspaceId: string,
  filters: BacktestFilters,
  page: KeysetPage,
  positions: SummaryPositions,
  keys: readonly FlatKey[] = HEADLINES,
): Promise<{ rows: { row: BacktestRow; value: string; id: string }[]; total: number }> {
  const { status, strategyId, strategyVersionId, symbol, timeframe, batchId, createdAfter, createdBefore } = filters;
  const conditions = (filters.where ?? []).map(
    ({ key, comparison, value }) =>
      sql`and ${sql.unsafe(summaryNumber(key, positions))} ${sql.unsafe(comparison)} ${value}::float8`,
  );
  const where = sql`
    b.workspace_id = ${workspaceId}
    ${status ? sql`and ${hasStatus(sql, workspaceId, status)}` : sql``}
    ${
      strategyId
        ? sql`and b.strategy_version_id in (select id from strategy_versions where strategy_id = ${strategyId})`
        : sql``
    }
    ${strategyVersionId ? sql`and b.strategy_version_id = ${strategyVersionId}` : sql``}
    ${symbol ? sql`and ${symbol} = any (${symbolsOf(sql)})` : sql``}
    ${timeframe ? sql`and b.timeframe = ${timeframe}` : sql``}
    ${batchId ? sql`and b.batch_id = ${batchId}` : sql``}
    ${createdAfter ? sql`and b.created_at > ${createdAfter}` : sql``}
    ${createdBefore ? sql`and b.created_at < ${createdBefore}` : sql``}
    ${runsLabeled(sql, workspaceId, filters, 'b.id', 'b.symbol')} ${conditions.length > 0 ? conditions : sql``}`;
  const { name, descending } = page.order;
  // The route accepts only names of these columns and of the flat summary.
  const column =
    name in BACKTEST_SORTS
      ? BACKTEST_SORTS[name as keyof typeof BACKTEST_SORTS]
      : summaryColumn(name as FlatKey, positions, descending);
  const { value, startsAfter, orderAndLimit } = keyset(sql, column, 'b.id', page);
  const rows = await sql<(BacktestRow & { sortValue: string })[]>`
    select b.id, ${sql.unsafe(STATUS_COLUMN)} as status, b.strategy_id as "strategyId",
      b.strategy_version_id as "strategyVersionId",
      (${symbolsOf(sql)})[:${MAX_SYMBOLS}] as symbols, cardinality(${symbolsOf(sql)}) as "symbolCount",
      b.timeframe, b.created_at as "createdAt", coalesce(r.started_at, q.started_at) as "startedAt",
      r.finished_at as "finishedAt", coalesce(r.is_cached, false) as "isCached",
      ${sql.unsafe(keys.map((key) => `${summaryNumber(key, positions)} as "${key}", `).join(''))}
      coalesce(b.config -> 'params', '{}') as params, coalesce(b.config -> 'overrides', '{}') as overrides,
      coalesce(r.warnings, '{}') as warnings, r.diagnosis, ${sql.unsafe(LABEL_COLUMNS)}, ${value} as "sortValue"
    from ${sql.unsafe(BACKTEST_TABLES)} ${sql.unsafe(labelsJoin('b.id'))}
    where ${where} ${startsAfter} ${orderAndLimit}`;
  const counted = sql.unsafe(status || conditions.length > 0 ? BACKTEST_TABLES : 'backtests b');
  const [{ total }] = await sql<[{ total: number }]>`select count(*)::int as total from ${counted} where ${where}`;
  return { rows: rows.map(({ sortValue, ...row }) => ({ row, value: sortValue, id: row.id })), total };
}

/** A list may hold many portfolios of a thousand symbols each; a row shows the first. */
const MAX_SYMBOLS = 5;
const symbolsOf = (sql: Queryable) => sql`string_to_array(b.symbol, ${SYMBOL_SEPARATOR})`;

/**
 * Selects one status. Open backtests are looked up by their ids: with statistics from when the queue was longer, the
 * planner would scan all backtests of the workspace to find the last few.
 */
function hasStatus(sql: Queryable, workspaceId: string, status: RunStatus) {
  if (status !== 'queued' && status !== 'running') return sql`r.status = ${status}`;
  const claimed = status === 'queued' ? sql`claimed_by is null` : sql`claimed_by is not null`;
  return sql`b.id = any (array(select id from backtest_queue where workspace_id = ${workspaceId} and ${claimed}))`;
}
