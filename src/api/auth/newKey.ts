// The making of an API key: the quota is counted while the workspace is held, so that parallel creates cannot exceed it.
import { countActiveApiKeys, insertApiKey } from '../../db/apiKeys.ts';
import type { ApiKeyRole, ApiKeyScope } from '../../db/apiKeys.ts';
import type { Queryable, Sql } from '../../db/connect.ts';
import { findWorkspace, lockWorkspace } from '../../db/workspaces.ts';
import type { Workspace } from '../../db/workspaces.ts';
import { TIER_LIMITS } from '../../tiers.ts';
import { problem } from '../problems.ts';
import { generateApiKey, keyPrefix } from './keyFormat.ts';
import type { Secrets } from './secrets.ts';

export type KeyRequest = {
  readonly workspaceId: string;
  /** The member the key stands for. */
  readonly userId: string;
  readonly name: string;
  readonly description: string | null;
  readonly role: ApiKeyRole;
  readonly scopes: readonly ApiKeyScope[];
  readonly expiresAt: Date | null;
};

/** What the creator sees, the plaintext for the only time. */
export type CreatedKey = {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly role: ApiKeyRole;
  readonly scopes: readonly ApiKeyScope[];
  readonly keyPrefix: string;
  readonly expiresAt: string | null;
  readonly createdAt: string;
  readonly apiKey: string;
};

/**
 * Makes a key.
 * @throws ProblemError 403 API_KEY_LIMIT_REACHED; 404 when there is no such workspace.
 */
export async function createKey(sql: Sql, secrets: Secrets, request: KeyRequest): Promise<CreatedKey> {
  // Looked at before hashing as well, so that a full workspace costs no argon2; the count that holds is the one below.
  await assertRoom(sql, await findWorkspace(sql, request.workspaceId));
  const generated = generateApiKey();
  const secretHash = await secrets.hash(generated.secret);
  const inserted = await sql.begin(async (transaction) => {
    await assertRoom(transaction, await lockWorkspace(transaction, request.workspaceId));
    return insertApiKey(transaction, {
      ...request,
      createdBy: request.userId,
      keyId: generated.keyId,
      secretHash,
    });
  });
  secrets.remember(generated.keyId, generated.secret, secretHash);
  return {
    id: inserted.id,
    name: request.name,
    description: request.description,
    role: request.role,
    scopes: request.scopes,
    keyPrefix: keyPrefix(generated.keyId),
    expiresAt: request.expiresAt?.toISOString() ?? null,
    createdAt: inserted.createdAt.toISOString(),
    apiKey: generated.apiKey,
  };
}

async function assertRoom(sql: Queryable, workspace: Workspace | null): Promise<void> {
  if (workspace === null) throw problem('NOT_FOUND', { message: 'Workspace not found.' });
  const limit = TIER_LIMITS[workspace.tier].activeApiKeys;
  const usage = await countActiveApiKeys(sql, workspace.id);
  if (usage < limit) return;
  throw problem('API_KEY_LIMIT_REACHED', {
    message: `API key limit (${limit}) reached. Revoke unused keys or upgrade your plan.`,
    extras: { limit, usage },
  });
}
