// An API key as lists answer it: times as text, the public part twice, never the secret.
import type { ApiKeyRow } from '../../db/apiKeys.ts';
import { keyPrefix } from './keyFormat.ts';

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
