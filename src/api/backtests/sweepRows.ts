// Rows of the sweeps table, which are sweeps and robustness checks of backtests: how both are queued, found, awaited
// and cancelled.
import type { FastifyReply } from 'fastify';
import type { Queryable, Sql, Transaction } from '../../db/connect.ts';
import { notify } from '../../db/notifications.ts';
import { cancelSweep, findSweep, findSweepStatus, insertSweep } from '../../db/sweeps.ts';
import type { NewSweep, Sweep } from '../../db/sweeps.ts';
import type { Caller } from '../http/auth/authentication.ts';
import { requireLabelRoom } from '../http/labelShapes.ts';
import { problem } from '../http/problems.ts';
import { notFound } from '../http/routeSchemas.ts';
import { waitForEnd } from '../http/waiting.ts';
import type { App } from '../services.ts';
import { requireSweepRoom } from './queueing.ts';

/** What a request names. `backtestId` is that of the backtest that is checked; null: it is a sweep. */
export interface NamedSweep {
  readonly caller: Caller;
  readonly id: string;
  readonly backtestId: string | null;
}

/** @throws NOT_FOUND */
export async function requireSweep(sql: Queryable, { caller, id, backtestId }: NamedSweep): Promise<Sweep> {
  const sweep = await findSweep(sql, caller.workspaceId, id, backtestId);
  if (sweep === undefined) throw notFound(backtestId === null ? 'sweep' : 'robustness check', id);
  return sweep;
}

/** The row once it is terminal, or as it is after `seconds`. @throws NOT_FOUND */
export async function awaitSweep(
  app: App,
  sql: Sql,
  reply: FastifyReply,
  named: NamedSweep,
  seconds: number,
): Promise<Sweep> {
  const { caller, id } = named;
  if (seconds > 0)
    await waitForEnd(app, reply, id, seconds * 1_000, () => findSweepStatus(sql, caller.workspaceId, id));
  return requireSweep(sql, named);
}

/**
 * Puts an accepted sweep or check on the queue.
 * @throws QUEUE_FULL, TIER_LIMIT_REACHED when there is no room for its result
 */
export async function queueSweep(
  tx: Transaction,
  requestKey: Buffer | null,
  caller: Caller,
  sweep: NewSweep,
): Promise<Sweep> {
  await requireSweepRoom(tx, caller);
  await requireLabelRoom(tx, caller, [sweep.labels]);
  const { id } = await insertSweep(tx, caller.workspaceId, sweep, requestKey);
  return requireSweep(tx, { caller, id, backtestId: sweep.backtestId ?? null });
}

/** @throws NOT_FOUND; SWEEP_ALREADY_TERMINAL or ROBUSTNESS_ALREADY_TERMINAL when it has ended */
export async function cancelOpenSweep(tx: Transaction, named: NamedSweep): Promise<Sweep> {
  const { caller, id, backtestId } = named;
  if (!(await cancelSweep(tx, caller.workspaceId, id, backtestId))) {
    const { status } = await requireSweep(tx, named);
    throw backtestId === null
      ? problem('SWEEP_ALREADY_TERMINAL', { message: `The sweep has ended already: it is ${status}.` })
      : problem('ROBUSTNESS_ALREADY_TERMINAL', { message: `The check has ended already: it is ${status}.` });
  }
  await notify(tx, 'cancel', [id]);
  await notify(tx, 'changed', [id]);
  return requireSweep(tx, named);
}
