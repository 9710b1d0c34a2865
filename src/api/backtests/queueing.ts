// Queueing: whether a workspace's queue has room, and putting one backtest on it.
import { insertBacktests, lockQueue } from '../../db/backtests.ts';
import type { NewBacktest } from '../../db/backtests.ts';
import { countOpenSweeps, sweepResultBytes } from '../../db/sweeps.ts';
import type { Transaction } from '../../db/connect.ts';
import { TIER_LIMITS, type Tier } from '../../tiers.ts';
import type { Caller } from '../http/auth/authentication.ts';
import type { PublicAddress } from '../http/links.ts';
import { newLabelMembers, requireLabelRoom } from '../http/labelShapes.ts';
import { problem, type ProblemError } from '../http/problems.ts';
import { BACKTESTS, linksOf } from './backtestBodies.ts';

/** A full queue has usually moved on by then: most backtests and sweeps take seconds at most. */
const QUEUE_RETRY_SECONDS = 5;
/**
 * Sweeps and robustness checks. Each holds its rows in Postgres until it is read; a workspace that needs more waits for
 * one to end.
 */
const MAX_OPEN_SWEEPS = 100;

/**
 * The length of the queue cannot change until the transaction ends.
 * @throws TIER_LIMIT_REACHED when there is no room for results
 */
export async function roomOf(
  tx: Transaction,
  caller: Caller,
): Promise<{ readonly open: number; readonly left: number }> {
  const { open, resultBytes } = await lockQueue(tx, caller.workspaceId);
  requireResultRoom(caller.tier, 'backtestResultBytes', resultBytes);
  return { open, left: Math.max(0, TIER_LIMITS[caller.tier].queuedBacktests - open) };
}

/** @param isItem an item of a batch, whose answer is kept for its Idempotency-Key, refused items included */
export function backtestQueueFull(tier: Tier, usage: number, isItem = false): ProblemError {
  const limit = TIER_LIMITS[tier].queuedBacktests;
  const message =
    `The workspace has ${usage} backtests queued or running; the ${tier} tier allows ${limit}. Wait until some have ` +
    `ended, then send ${isItem ? 'what was refused again, under another Idempotency-Key' : 'this request again'}.`;
  return queueFull('queuedBacktests', limit, usage, message);
}

export const queueFull = (limitName: string, limit: number, usage: number, message: string): ProblemError =>
  problem('QUEUE_FULL', {
    message,
    extras: { limitName, limit, usage },
    retryAfterSeconds: QUEUE_RETRY_SECONDS,
  });

/**
 * Whether the workspace may have one more sweep or robustness check under way.
 * @throws QUEUE_FULL, TIER_LIMIT_REACHED when there is no room for its result
 */
export async function requireSweepRoom(tx: Transaction, caller: Caller): Promise<void> {
  // With the lock, two requests of a workspace count one after the other.
  await lockQueue(tx, caller.workspaceId);
  const [{ bytes }] = await sweepResultBytes(tx, caller.workspaceId);
  requireResultRoom(caller.tier, 'sweepResultBytes', bytes);
  const open = await countOpenSweeps(tx, caller.workspaceId);
  if (open < MAX_OPEN_SWEEPS) return;
  const message =
    `The workspace has ${open} sweeps and robustness checks queued or running, and ${MAX_OPEN_SWEEPS} are allowed. ` +
    'Wait until some have ended, then send this request again.';
  throw queueFull('openSweeps', MAX_OPEN_SWEEPS, open, message);
}

/** What takes room, and how a client makes some. */
const RESULTS = {
  backtestResultBytes: { of: 'backtests', deletion: 'DELETE /public/v1/backtests/{id}' },
  sweepResultBytes: {
    of: 'sweeps and robustness checks',
    deletion: 'DELETE /public/v1/sweeps/{id}, or the backtest that was checked',
  },
} as const;

/** The size of a result is not known in advance, so what is queued when the limit is reached may exceed it. */
function requireResultRoom(tier: Tier, limitName: keyof typeof RESULTS, usage: number): void {
  const { [limitName]: limit, retentionDays } = TIER_LIMITS[tier];
  if (usage < limit) return;
  const { of, deletion } = RESULTS[limitName];
  throw problem('TIER_LIMIT_REACHED', {
    message:
      `The results of the workspace's ${of} take ${usage} bytes; the ${tier} tier allows ${limit}. Delete those you ` +
      `no longer need: ${deletion}. Each is deleted ${retentionDays} days after its end.`,
    extras: { limitName, limit, usage },
  });
}

/**
 * Puts an accepted backtest on the queue.
 * @throws QUEUE_FULL, TIER_LIMIT_REACHED when there is no room for its result
 */
export async function queueOne(
  tx: Transaction,
  requestKey: Buffer | null,
  caller: Caller,
  item: NewBacktest,
  address: PublicAddress,
) {
  const room = await roomOf(tx, caller);
  if (room.left < 1) throw backtestQueueFull(caller.tier, room.open);
  await requireLabelRoom(tx, caller, [item.labels]);
  const [{ id, createdAt }] = await insertBacktests(tx, caller.workspaceId, [item], requestKey);
  const { strategyId, strategyVersionId, config } = item;
  return {
    status: 201 as const,
    body: {
      id,
      status: 'queued' as const,
      strategyId,
      strategyVersionId,
      ...newLabelMembers(item.labels),
      createdAt: createdAt.toISOString(),
      config: { ...config },
      links: linksOf(address, id),
    },
    location: `${BACKTESTS}/${id}`,
  };
}
