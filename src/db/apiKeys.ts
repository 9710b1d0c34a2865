// The api_keys table: what a key may do and whether it still may. The secret's hash never leaves through a list.
import type { Tier } from '../tiers.ts';
import type { Queryable } from './connect.ts';

/** The scopes of a key that was made without a list of them. */
export const DEFAULT_API_KEY_SCOPES = [
  'workspace_read',
  'system_strategies_read',
  'strategies_read',
  'strategies_write',
  'backtests_read',
  'backtests_write',
] as const;
/**
 * Scopes that must be asked for: `webhooks_write` sends what a workspace does to another address, `market_data_write`
 * uploads market data, which all strategies of the workspace then read.
 */
export const API_KEY_SCOPES = [...DEFAULT_API_KEY_SCOPES, 'webhooks_write', 'market_data_write'] as const;
export type ApiKeyScope = (typeof API_KEY_SCOPES)[number];
export const API_KEY_ROLES = ['member', 'viewer'] as const;
export type ApiKeyRole = (typeof API_KEY_ROLES)[number];
export const API_KEY_STATUSES = ['active', 'expired', 'revoked'] as const;
type ApiKeyStatus = (typeof API_KEY_STATUSES)[number];

/** Revoked takes precedence over expired. The database's clock decides, so that all hosts agree. */
const statusOf = (sql: Queryable, isRevoked = sql`k.revoked_at is not null`) => sql`
  case when ${isRevoked} then 'revoked' when k.expires_at <= now() then 'expired' else 'active' end`;

/** Everything a request needs to know about its key. */
export interface ApiKeyLookup {
  readonly keyId: string;
  readonly id: string;
  readonly workspaceId: string;
  readonly name: string;
  readonly secretHash: string;
  readonly role: ApiKeyRole;
  /** Separated by spaces: parsing an array on every request costs more than splitting each distinct value once. */
  readonly scopes: string;
  /** Without the revocation of a key whose creator has left: isCreatorActive says that, and names the cause. */
  readonly status: ApiKeyStatus;
  readonly expiresAt: Date | null;
  readonly isCreatorActive: boolean;
  readonly tier: Tier;
}

/**
 * The rows of keys by their public parts; ids without a row are not in the map. The only query of an authenticated
 * request, shared by all requests that arrive at the same time.
 */
export async function findApiKeys(sql: Queryable, keyIds: readonly string[]): Promise<Map<string, ApiKeyLookup>> {
  const rows = await sql<ApiKeyLookup[]>`
    select k.key_id as "keyId", k.id, k.workspace_id as "workspaceId", k.name, k.secret_hash as "secretHash", k.role,
      array_to_string(k.scopes, ' ') as scopes, k.expires_at as "expiresAt", w.tier,
      ${statusOf(sql, sql`k.revoked_at is not null and k.revoked_at is distinct from m.ended_at`)} as status,
      (m.user_id is not null and m.ended_at is null) as "isCreatorActive"
    from api_keys k
    join workspaces w on w.id = k.workspace_id
    left join members m on m.workspace_id = k.workspace_id and m.user_id = k.created_by
    where k.key_id = any(${keyIds as string[]})`;
  return new Map(rows.map((row) => [row.keyId, row]));
}

export interface ApiKeyRow {
  readonly id: string;
  readonly keyId: string;
  readonly name: string;
  readonly description: string | null;
  readonly role: ApiKeyRole;
  readonly scopes: ApiKeyScope[];
  readonly status: ApiKeyStatus;
  readonly lastUsedAt: Date | null;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  readonly createdAt: Date;
  readonly createdBy: { readonly id: string; readonly email: string; readonly name: string };
}

/** All keys of a workspace, revoked and expired ones too, newest first. */
export async function listApiKeys(sql: Queryable, workspaceId: string): Promise<ApiKeyRow[]> {
  return sql<ApiKeyRow[]>`
    select k.id, k.key_id as "keyId", k.name, k.description, k.role, k.scopes, ${statusOf(sql)} as status,
      k.last_used_at as "lastUsedAt", k.expires_at as "expiresAt", k.revoked_at as "revokedAt",
      k.created_at as "createdAt", json_build_object('id', u.id, 'email', u.email, 'name', u.name) as "createdBy"
    from api_keys k join users u on u.id = k.created_by
    where k.workspace_id = ${workspaceId}
    order by k.created_at desc, k.id desc`;
}

/** The number of keys that are neither revoked nor expired: these count against the quota. */
export const activeApiKeys = (sql: Queryable, workspaceId: string) => sql<[{ count: number }]>`
  select count(*)::int as count from api_keys k
  where k.workspace_id = ${workspaceId} and ${statusOf(sql)} = 'active'`;

interface NewApiKey {
  readonly workspaceId: string;
  readonly keyId: string;
  readonly secretHash: string;
  readonly name: string;
  readonly description: string | null;
  readonly role: ApiKeyRole;
  readonly scopes: readonly ApiKeyScope[];
  readonly createdBy: string;
  readonly expiresAt: Date | null;
}

export async function insertApiKey(sql: Queryable, key: NewApiKey): Promise<{ id: string; createdAt: Date }> {
  const [row] = await sql<{ id: string; createdAt: Date }[]>`
    insert into api_keys (workspace_id, key_id, secret_hash, name, description, role, scopes, created_by, expires_at)
    values (${key.workspaceId}, ${key.keyId}, ${key.secretHash}, ${key.name}, ${key.description}, ${key.role},
      ${[...key.scopes]}, ${key.createdBy}, ${key.expiresAt})
    returning id, created_at as "createdAt"`;
  return row;
}

/** Revokes a key. @returns when it was revoked, first time or before; null when the workspace has no such key. */
export async function revokeApiKey(sql: Queryable, workspaceId: string, id: string): Promise<Date | null> {
  const [row] = await sql<{ revokedAt: Date }[]>`
    update api_keys set revoked_at = coalesce(revoked_at, now())
    where id = ${id} and workspace_id = ${workspaceId} returning revoked_at as "revokedAt"`;
  return row?.revokedAt ?? null;
}

/**
 * Records uses in one statement; a use less than `graceMs` after the recorded one changes nothing, on whichever host.
 */
export async function noteApiKeyUses(
  sql: Queryable,
  uses: readonly { readonly id: string; readonly at: Date }[],
  graceMs: number,
): Promise<void> {
  const ids = uses.map((use) => use.id);
  const times = uses.map((use) => use.at.toISOString());
  await sql`
    update api_keys k set last_used_at = used.at
    from unnest(${ids}::text[]::uuid[], ${times}::text[]::timestamptz[]) as used (id, at)
    where k.id = used.id
      and (k.last_used_at is null or k.last_used_at <= used.at - ${graceMs} * interval '1 millisecond')`;
}
