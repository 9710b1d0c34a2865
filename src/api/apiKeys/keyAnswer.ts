// An API key as the API lists it: times as text, the public part under two names, never the secret.
import type { ApiKeyRow } from '../../db/apiKeys.ts';
import { keyPrefix } from '../http/auth/keyFormat.ts';
import { isoOrNull } from '../http/routeSchemas.ts';

export function apiKeyAnswer({ keyId, ...row }: ApiKeyRow) {
  return {
    ...row,
    keyPrefix: keyPrefix(keyId),
    tokenPreview: `${keyPrefix(keyId)}…`,
    lastUsedAt: isoOrNull(row.lastUsedAt),
    expiresAt: isoOrNull(row.expiresAt),
    revokedAt: isoOrNull(row.revokedAt),
    createdAt: row.createdAt.toISOString(),
  };
}
