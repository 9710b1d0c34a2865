// An API key as the API lists it: times as text, the public part under two names, never the secret.
import type { ApiKeyRow } from '../../db/apiKeys.ts';
import { keyPrefix } from '../http/auth/keyFormat.ts';

export function apiKeyAnswer({ keyId, ...row }: ApiKeyRow) {
  return {
    ...row,
    keyPrefix: keyPrefix(keyId),
    tokenPreview: `${keyPrefix(keyId)}…`,
    lastUsedAt: row.lastUsedAt?.toISOString() ?? null,
    expiresAt: row.expiresAt?.toISOString() ?? null,
    revokedAt: row.revokedAt?.toISOString() ?? null,
    createdAt: row.createdAt.toISOString(),
  };
}
