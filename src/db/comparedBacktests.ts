// Compared backtests: what is read of several results at once, to set them side by side. The query names the workspace.
import type { Queryable } from './connect.ts';
import { labelsJoin } from './labels.ts';
import type { RunStatus } from './runStatus.ts';
import { BACKTEST_TABLES, STATUS_COLUMN } from './backtests.ts';
import { summaryOf, SUMMARY_COLUMNS, type StoredSummary, type SummaryPositions } from './summaries.ts';

type Json = Readonly<Record<string, unknown>>;

export interface ComparedBacktest {
  readonly id: string;
  readonly status: RunStatus;
  readonly strategyId: string;
  readonly strategyVersionId: string;
  /** Null: it was not named. */
  readonly name: string | null;
  readonly strategyName: string;
  readonly version: number;
  /** As the version has them. */
  readonly strategyAst: Json;
  readonly settings: Json;
  /** Null but of a completed backtest, as is the detail. */
  readonly summary: Readonly<Record<string, number | null>> | null;
  readonly detail: Uint8Array | null;
}

/** The backtests of this workspace among `ids`, in no particular order; ids that it does not have are left out. */
export async function findComparedBacktests(
  sql: Queryable,
  workspaceId: string,
  ids: readonly string[],
  positions: SummaryPositions,
): Promise<ComparedBacktest[]> {
  const rows = await sql<(ComparedBacktest & StoredSummary)[]>`
    select b.id, ${sql.unsafe(STATUS_COLUMN)} as status, b.strategy_id as "strategyId",
      b.strategy_version_id as "strategyVersionId", l.name, s.name as "strategyName", v.version,
      v.strategy_ast as "strategyAst", v.settings, ${sql.unsafe(SUMMARY_COLUMNS)}, d.detail
    from ${sql.unsafe(BACKTEST_TABLES)} left join backtest_details d on d.id = b.id
      ${sql.unsafe(labelsJoin('b.id'))}
      join strategies s on s.id = b.strategy_id join strategy_versions v on v.id = b.strategy_version_id
    where b.workspace_id = ${workspaceId} and b.id = any(${ids as string[]}::uuid[])`;
  return rows.map((row) => ({ ...row, summary: summaryOf(row, positions) }));
}
