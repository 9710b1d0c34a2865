// Backtests that a request names: whether they exist, and whether they have a result.
import { findBacktest } from '../../db/backtests.ts';
import type { Backtest } from '../../db/backtests.ts';
import type { Sql } from '../../db/connect.ts';
import { STATISTIC_POSITIONS } from '../../engine/index.ts';
import type { Caller } from '../http/auth/authentication.ts';
import { problem } from '../http/problems.ts';
import { notFound } from '../http/routeSchemas.ts';

/** @throws NOT_FOUND */
export async function requireBacktest(sql: Sql, caller: Caller, id: string): Promise<Backtest> {
  const backtest = await findBacktest(sql, caller.workspaceId, id, STATISTIC_POSITIONS);
  if (backtest === undefined) throw notFound('backtest', id);
  return backtest;
}

/** @throws NOT_FOUND, also for a backtest that has no result */
export async function requireCompleted(sql: Sql, caller: Caller, id: string): Promise<Backtest> {
  const backtest = await requireBacktest(sql, caller, id);
  if (backtest.status !== 'completed')
    throw problem('NOT_FOUND', { message: `The backtest is ${backtest.status}; only a completed one has artifacts.` });
  return backtest;
}
