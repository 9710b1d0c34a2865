// Creates an API key. The workspace is locked while its keys are counted, so that concurrent creates cannot exceed the
// quota, and the creator's membership, so that no key outlives it.
import { activeApiKeys, insertApiKey } from '../../db/apiKeys.ts';
import type { ApiKeyRole, ApiKeyScope } from '../../db/apiKeys.ts';
import type { Queryable, Sql, Transaction } from '../../db/connect.ts';
import { lockMember, MANAGING_ROLES } from '../../db/members.ts';
import { findWorkspace, lockWorkspace } from '../../db/workspaces.ts';
import type { Workspace } from '../../db/workspaces.ts';
import { TIER_LIMITS } from '../../tiers.ts';
import { problem } from '../http/problems.ts';
import { isoOrNull } from '../http/routeSchemas.ts';
import { generateApiKey, keyPrefix } from '../http/auth/keyFormat.ts';
import type { Secrets } from '../http/auth/secrets.ts';

interface KeyRequest {
  readonly workspaceId: string;
  /** The member on whose behalf the key acts. */
  readonly userId: string;
  readonly name: string;
  readonly description: string | null;
  readonly role: ApiKeyRole;
  readonly scopes: readonly ApiKeyScope[];
  readonly expiresAt: Date | null;
}

/** What the creator sees. The plaintext is shown only this once. */
interface CreatedKey {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly role: ApiKeyRole;
  readonly scopes: readonly ApiKeyScope[];
  readonly keyPrefix: string;
  readonly expiresAt: string | null;
  readonly createdAt: string;
  readonly apiKey: string;
}

/**
 * Creates a key.
 * @throws ProblemError 403 API_KEY_LIMIT_REACHED, or INSUFFICIENT_ROLE when the creator may no longer manage the
 *   workspace; 404 when there is no such workspace, or the creator has left it.
 */
export async function createKey(sql: Sql, secrets: Secrets, request: KeyRequest): Promise<CreatedKey> {
  // Checked before hashing too, so that a full workspace does not cost an argon2 hash; the count below decides.
  await requireRoom(sql, await findWorkspace(sql, request.workspaceId));
  const generated = generateApiKey();
  const secretHash = await secrets.hash(generated.secret);
  const inserted = await sql.begin(async (transaction) => {
    await requireRoom(transaction, await lockWorkspace(transaction, request.workspaceId));
    await requireManager(transaction, request);
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
    expiresAt: isoOrNull(request.expiresAt),
    createdAt: inserted.createdAt.toISOString(),
    apiKey: generated.apiKey,
  };
}

/** The caller's role was checked before the key was hashed, and may have changed since. */
async function requireManager(transaction: Transaction, { workspaceId, userId }: KeyRequest): Promise<void> {
  const role = await lockMember(transaction, workspaceId, userId);
  if (role === null) throw problem('NOT_FOUND', { message: 'Workspace not found.' });
  if (MANAGING_ROLES.includes(role)) return;
  throw problem('INSUFFICIENT_ROLE', {
    message: `Insufficient role. Creating an API key requires a workspace ${MANAGING_ROLES.join(' or ')}.`,
    extras: { requiredRoles: MANAGING_ROLES, role },
  });
}

/** @throws API_KEY_LIMIT_REACHED; NOT_FOUND when there is no such workspace */
async function requireRoom(sql: Queryable, workspace: Workspace | null): Promise<void> {
  if (workspace === null) throw problem('NOT_FOUND', { message: 'Workspace not found.' });
  const limit = TIER_LIMITS[workspace.tier].activeApiKeys;
  const [{ count: usage }] = await activeApiKeys(sql, workspace.id);
  if (usage < limit) return;
  throw problem('API_KEY_LIMIT_REACHED', {
    message: `API key limit (${limit}) reached. Revoke unused keys or upgrade your plan.`,
    extras: { limit, usage },
  });
}
