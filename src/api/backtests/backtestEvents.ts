// Backtest events: what the stream of a backtest shows of it.
import { findBacktestState, type BacktestState } from '../../db/backtests.ts';
import type { Sql } from '../../db/connect.ts';
import { progressOf } from './backtestBodies.ts';

/** How `followRoute` reads a backtest, and what an event says of it. */
export const followed = (sql: Sql) => ({
  read: (workspaceId: string, id: string) => findBacktestState(sql, workspaceId, id),
  dataOf: (backtest: BacktestState): string =>
    JSON.stringify({
      id: backtest.id,
      status: backtest.status,
      progress: progressOf(backtest),
      error: backtest.error,
      finishedAt: backtest.finishedAt,
    }),
});
