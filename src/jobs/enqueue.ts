// Enqueue: the one door through which the API puts work on the queue. Row and ticket are in one transaction: both there or both not.
import type { Transaction } from '../db/connect.ts';
import { insertBacktests } from '../db/backtests.ts';
import type { NewBacktest } from '../db/backtests.ts';
import { insertRerun } from '../db/reruns.ts';
import type { RerunRequest } from '../db/reruns.ts';
import { addTickets } from '../db/tickets.ts';
import { RUNS_PER_SHARE, COST_PER_SHARE } from './shares.ts';

/** More tickets than a few hosts have threads would only find nothing; a ticket goes on until nothing is due. */
const MAX_TICKETS = 64;

/** Accepts backtests. @returns their ids and creation times, in the order of the items. */
export async function enqueueBacktests(
  tx: Transaction,
  workspaceId: string,
  items: readonly NewBacktest[],
): Promise<{ readonly id: string; readonly createdAt: Date }[]> {
  if (items.length === 0) return [];
  const made = await insertBacktests(tx, workspaceId, items);
  const cost = items.reduce((sum, item) => sum + item.cost, 0);
  const shares = Math.max(Math.ceil(items.length / RUNS_PER_SHARE), Math.ceil(cost / COST_PER_SHARE));
  await addTickets(tx, Math.min(shares, items.length, MAX_TICKETS));
  return made;
}

/** Asks a worker to run a finished backtest again. @returns the id to wait for (db/news.ts) and to read the answer with (db/reruns.ts). */
export function enqueueRerun(tx: Transaction, backtestId: string, request: RerunRequest): Promise<string> {
  return insertRerun(tx, backtestId, request);
}
