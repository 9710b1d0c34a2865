// What a robustness check needs to know of the backtest that it checks. The checks themselves are rows of sweeps.ts.
import type { BacktestStatus } from './backtests.ts';
import type { Queryable } from './connect.ts';

export interface CheckedBacktest {
  readonly status: BacktestStatus;
  readonly strategyId: string;
  readonly strategyVersionId: string;
  readonly config: object;
  /** The snapshots that it is pinned to. */
  readonly snapshots: readonly string[];
  /** About how many bars of work. */
  readonly cost: number;
}

export async function findCheckedBacktest(
  sql: Queryable,
  workspaceId: string,
  id: string,
): Promise<CheckedBacktest | undefined> {
  const [row] = await sql<CheckedBacktest[]>`
    select status, strategy_id as "strategyId", strategy_version_id as "strategyVersionId", config, snapshots, cost
    from backtests where workspace_id = ${workspaceId} and id = ${id}`;
  return row;
}
