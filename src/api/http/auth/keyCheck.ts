// The check of an API key, in this order: transport, format, look-up, revoked, expired, creator, secret. Requests that
// arrive in one turn of the event loop share one look-up.
import type { FastifyRequest } from 'fastify';
import { findApiKeys, type ApiKeyLookup, type ApiKeyRole, type ApiKeyScope } from '../../../db/apiKeys.ts';
import type { Tier } from '../../../tiers.ts';
import { problem, type ProblemError } from '../problems.ts';
import type { ProblemCode } from '../problemTable.ts';
import { parseApiKey, type ParsedApiKey } from './keyFormat.ts';
import type { LastUsed } from './lastUsed.ts';
import type { Secrets } from './secrets.ts';
import type { Throttle } from './throttle.ts';
import { sentApiKey } from './transport.ts';
import type { Sql } from '../../../db/connect.ts';

/** Who sent a request under /public/v1, as Postgres knew it when the request came. */
export interface Caller {
  readonly workspaceId: string;
  /** The public part of the key. */
  readonly keyId: string;
  /** The key's uuid. */
  readonly apiKeyId: string;
  readonly name: string;
  readonly role: ApiKeyRole;
  readonly scopes: ReadonlySet<ApiKeyScope>;
  readonly tier: Tier;
  readonly expiresAt: Date | null;
}

interface KeyCheckParts {
  readonly readKey: KeyReader;
  readonly secrets: Secrets;
  readonly throttle: Throttle;
  readonly lastUsed: LastUsed;
}

const SEND_KEY =
  'Send the whole key, svc_live_<keyId>_<secret>, in the header x-api-key, or as Authorization: Bearer <API_KEY>.';
const GET_KEY =
  'Without a valid key, ask an owner or admin of the workspace for one: they create it with ' +
  'POST /workspaces/{workspaceId}/api-keys, or on the host of the service with "candlepool keys create".';

/** The messages are those of the contract; `nextSteps` says what to do. */
const refused = (code: ProblemCode, message: string, nextSteps: readonly string[] = [GET_KEY]): ProblemError =>
  problem(code, { message, extras: { nextSteps } });

const MISSING = 'Missing API key. Provide x-api-key or Authorization: Bearer <api_key>.';

/**
 * @returns who is calling.
 * @throws ProblemError 401 with the exact texts of the contract; 429 when too many wrong secrets were tried.
 */
export async function checkKey(request: FastifyRequest, parts: KeyCheckParts): Promise<Caller> {
  const sent = sentApiKey(request);
  if (sent === undefined) throw refused('API_KEY_MISSING', MISSING);
  const parsed = parseApiKey(sent);
  if (parsed === null) throw invalid();
  const row = await parts.readKey(parsed.keyId);
  if (row === undefined) throw invalid();
  // A revoked or expired key is refused whatever its secret, so that no argon2 runs for it.
  if (row.status === 'revoked') throw refused('API_KEY_REVOKED', 'API key has been revoked');
  if (row.status === 'expired') throw refused('API_KEY_EXPIRED', 'API key has expired');
  if (!row.isCreatorActive)
    throw refused('API_KEY_CREATOR_INACTIVE', 'API key creator is no longer a workspace member');
  if (!(await isSecretRight(parsed, row, request.ip, parts))) throw invalid();
  parts.lastUsed.note(row.id);
  return {
    workspaceId: row.workspaceId,
    keyId: parsed.keyId,
    apiKeyId: row.id,
    name: row.name,
    role: row.role,
    scopes: scopeSet(row.scopes),
    tier: row.tier,
    expiresAt: row.expiresAt,
  };
}

/** Whether a key that was right a moment ago still is, for an answer that takes long. */
export async function isKeyStillRight(caller: Caller, scope: ApiKeyScope, readKey: KeyReader): Promise<boolean> {
  const row = await readKey(caller.keyId);
  return row?.status === 'active' && row.isCreatorActive && row.scopes.split(' ').includes(scope);
}

const invalid = () => refused('API_KEY_INVALID', 'Invalid API key', [SEND_KEY, GET_KEY]);

async function isSecretRight(
  { keyId, secret }: ParsedApiKey,
  { secretHash, workspaceId }: ApiKeyLookup,
  address: string,
  { secrets, throttle }: KeyCheckParts,
): Promise<boolean> {
  if (secrets.isRemembered(keyId, secret, secretHash)) return true;
  // Joining a verification that is under way costs no argon2, so it does not count as a try.
  if (secrets.isVerifying(secret, secretHash)) return secrets.verify(keyId, secret, secretHash);
  const waitSeconds = throttle.begin(keyId, workspaceId, address);
  if (waitSeconds > 0) {
    throw problem('RATE_LIMITED', {
      message: `Too many tries with a wrong secret for this API key. Check it, and try again in ${waitSeconds} s.`,
      retryAfterSeconds: waitSeconds,
    });
  }
  const isRight = await secrets.verify(keyId, secret, secretHash);
  if (isRight) throttle.forgive(keyId, workspaceId, address);
  return isRight;
}

/** There are few combinations of scopes in use (orders aside): one set each serves every request. */
const scopeSets = new Map<string, ReadonlySet<ApiKeyScope>>();
const MAX_SCOPE_SETS = 2_000;

function scopeSet(written: string): ReadonlySet<ApiKeyScope> {
  let set = scopeSets.get(written);
  if (set === undefined) {
    if (scopeSets.size >= MAX_SCOPE_SETS) scopeSets.clear();
    set = new Set(written.split(' ') as ApiKeyScope[]);
    scopeSets.set(written, set);
  }
  return set;
}

/** Reads the row of a key; undefined: there is no such key. */
type KeyReader = (keyId: string) => Promise<ApiKeyLookup | undefined>;

/**
 * Nothing is cached: a query is sent after every request that it serves has arrived, so each sees the current row,
 * including a revoke of a moment ago. A query per request took 75 µs of processor time per request; this takes 40.
 */
export function createKeyReader(sql: Sql): KeyReader {
  let waiting: { readonly ids: Set<string>; readonly rows: Promise<Map<string, ApiKeyLookup>> } | undefined;
  return async (keyId) => {
    if (waiting === undefined) {
      const ids = new Set<string>();
      const rows = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
        waiting = undefined;
        return findApiKeys(sql, [...ids]);
      });
      waiting = { ids, rows };
    }
    waiting.ids.add(keyId);
    return (await waiting.rows).get(keyId);
  };
}
