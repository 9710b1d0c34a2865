// Workspaces, owners and keys made straight in the database: a command takes half a second for each of them.
import { createKey } from '../../src/api/apiKeys/newKey.ts';
import { Secrets } from '../../src/api/http/auth/secrets.ts';
import { API_KEY_SCOPES } from '../../src/db/apiKeys.ts';
import type { ApiKeyRole } from '../../src/db/apiKeys.ts';
import type { Sql } from '../../src/db/connect.ts';
import { upsertMember, upsertUser } from '../../src/db/members.ts';
import { insertWorkspace } from '../../src/db/workspaces.ts';
import type { Tier } from '../../src/tiers.ts';

export interface TenantIds {
  readonly workspaceId: string;
  readonly ownerId: string;
}

/** A workspace and its owner, who has no other. @param subject the `sub` of the owner's tokens */
export async function makeTenant(sql: Sql, tier: Tier = 'free', subject?: string): Promise<TenantIds> {
  const { id: workspaceId } = await insertWorkspace(sql, { name: 'Test', tier });
  const { id: ownerId } = await upsertUser(sql, {
    email: `owner-${workspaceId}@example.com`,
    ...(subject !== undefined && { subject }),
  });
  await upsertMember(sql, { workspaceId, userId: ownerId, role: 'owner' });
  return { workspaceId, ownerId };
}

const secrets = new Secrets();

/** An API key with all scopes, made by the owner. */
export async function makeKey(
  sql: Sql,
  { workspaceId, ownerId }: TenantIds,
  role: ApiKeyRole = 'member',
): Promise<string> {
  const request = { workspaceId, userId: ownerId, name: role, description: null, role, expiresAt: null };
  return (await createKey(sql, secrets, { ...request, scopes: API_KEY_SCOPES })).apiKey;
}
