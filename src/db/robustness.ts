// What a robustness check needs to know of the backtest that it checks. The checks themselves are rows of sweeps.ts.
import { BACKTEST_TABLES, STATUS_COLUMN } from './backtests.ts';
import type { RunStatus } from './runStatus.ts';
import type { Queryable } from './connect.ts';

/** What the robustness check of a backtest is made from. */
export interface CheckedBacktest {
  readonly status: RunStatus;
  readonly strategyId: string;
  readonly strategyVersionId: string;
  readonly config: object;
  /** The snapshots that it is pinned to. */
  readonly snapshots: readonly string[];
  /** How many bars it evaluated; 0 until it has completed. */
  readonly bars: number;
}

export async function findCheckedBacktest(
  sql: Queryable,
  workspaceId: string,
  id: string,
): Promise<CheckedBacktest | undefined> {
  const [row] = await sql<CheckedBacktest[]>`
    select ${sql.unsafe(STATUS_COLUMN)} as status,
      b.strategy_id as "strategyId", b.strategy_version_id as "strategyVersionId", b.config, b.snapshots,
      coalesce(r.bars_total, 0)::float8 as bars
    from ${sql.unsafe(BACKTEST_TABLES)}
    where b.workspace_id = ${workspaceId} and b.id = ${id}`;
  return row;
}
