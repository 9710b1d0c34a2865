// The storage quota: how many bytes of versions, of labels and of kept answers a workspace may have.
import type { Queryable, Transaction } from '../../db/connect.ts';
import { lockStoredBytes, storedBytes } from '../../db/workspaceUsage.ts';
import { TIER_LIMITS } from '../../tiers.ts';
import type { Asker } from './bodyLimits.ts';
import { problem } from './problems.ts';

/**
 * Checks the quota before bytes are written; what is counted cannot change until the transaction ends.
 * @throws TIER_LIMIT_REACHED
 */
export async function requireStorage(tx: Transaction, { workspaceId, tier }: Asker, bytes: number): Promise<void> {
  const usage = await lockStoredBytes(tx, workspaceId);
  const limit = TIER_LIMITS[tier].storedBytes;
  if (usage + bytes <= limit) return;
  throw problem('TIER_LIMIT_REACHED', {
    message:
      `The workspace stores ${usage} bytes of strategy versions, labels and answers under Idempotency-Keys, and this ` +
      `request would add ${bytes}; the ${tier} tier allows ${limit}. Delete versions you no longer need: DELETE ` +
      '/public/v1/strategies/{id}/versions/{version}. Answers are forgotten after 24 hours.',
    extras: { limitName: 'storedBytes', limit, usage },
  });
}

/**
 * Checks before the work is done whether its answer may be kept at all. Answers under way may still exceed the quota.
 * @throws TIER_LIMIT_REACHED
 */
export async function requireRoomForAnswer(sql: Queryable, { workspaceId, tier }: Asker): Promise<void> {
  const [{ bytes: usage }] = await storedBytes(sql, workspaceId);
  const limit = TIER_LIMITS[tier].storedBytes;
  if (usage < limit) return;
  throw problem('TIER_LIMIT_REACHED', {
    message:
      `The workspace stores ${usage} bytes of strategy versions, labels and answers under Idempotency-Keys; the ` +
      `${tier} tier allows ${limit}. Send the request without an Idempotency-Key, or delete versions you no longer ` +
      'need: DELETE /public/v1/strategies/{id}/versions/{version}. Answers are forgotten after 24 hours.',
    extras: { limitName: 'storedBytes', limit, usage },
  });
}
