// Enqueue: the only way the API puts work on the queue. A row and its ticket are inserted in one transaction.
import type { Transaction } from '../db/connect.ts';
import { insertBacktests } from '../db/backtests.ts';
import type { NewBacktest } from '../db/backtests.ts';
import { insertRerun } from '../db/reruns.ts';
import type { RerunRequest } from '../db/reruns.ts';
import { insertSweep } from '../db/sweeps.ts';
import type { NewSweep } from '../db/sweeps.ts';
import { addTickets } from '../db/tickets.ts';
import { RUNS_PER_SHARE, COST_PER_SHARE } from './shares.ts';

/**
 * A ticket keeps working until nothing is due, so more tickets than a few hosts have threads would find nothing to do.
 */
const MAX_TICKETS = 64;

/**
 * Accepts backtests.
 * @returns their ids and creation times, in the order of the items
 * @throws WorkAlreadyDone
 */
export async function enqueueBacktests(
  tx: Transaction,
  workspaceId: string,
  items: readonly NewBacktest[],
  requestKey: Buffer | null = null,
): Promise<{ readonly id: string; readonly createdAt: Date }[]> {
  if (items.length === 0) return [];
  const made = await insertBacktests(tx, workspaceId, items, requestKey);
  const cost = items.reduce((sum, item) => sum + item.cost, 0);
  const shares = Math.max(Math.ceil(items.length / RUNS_PER_SHARE), Math.ceil(cost / COST_PER_SHARE));
  await addTickets(tx, Math.min(shares, items.length, MAX_TICKETS));
  return made;
}

/**
 * Accepts a sweep with its first shards.
 * @throws WorkAlreadyDone
 */
export function enqueueSweep(
  tx: Transaction,
  workspaceId: string,
  sweep: NewSweep,
  requestKey: Buffer | null,
): Promise<{ readonly id: string; readonly createdAt: Date }> {
  return insertSweep(tx, workspaceId, sweep, requestKey);
}

/**
 * Asks a worker to run a finished backtest again.
 * @returns the id to wait for (db/notifications.ts) and to read the answer with (db/reruns.ts).
 */
export function enqueueRerun(tx: Transaction, backtestId: string, request: RerunRequest): Promise<string> {
  return insertRerun(tx, backtestId, request);
}
