// Access tokens of signed-in users: checked against an identity provider's key set, or against our own signing key.
import { createRemoteJWKSet, errors, exportJWK, generateKeyPair, importJWK, jwtVerify, SignJWT } from 'jose';
import type { CryptoKey, JWK, JWTVerifyGetKey } from 'jose';
import type { Config } from '../../../config.ts';
import { activeSigningKey, findPublicJwk } from '../../../db/signingKeys.ts';
import type { Sql } from '../../../db/connect.ts';
import { problem } from '../problems.ts';
import { isUuid } from './uuid.ts';

/** What identity providers sign with; everything symmetric, and `none`, is refused. */
const ALGORITHMS = ['ES256', 'EdDSA', 'Ed25519', 'RS256'];
const LOCAL_ALGORITHM = 'ES256';
/** Two hosts' clocks may differ by this much. */
const CLOCK_TOLERANCE_S = 5;
const JWKS_TIMEOUT_MS = 5_000;

interface TokenCheck {
  /**
   * @returns the token's `sub`.
   * @throws ProblemError 401 JWT_INVALID; 503 when the identity provider cannot be reached.
   */
  subjectOf(token: string | undefined): Promise<string>;
}

export function createTokenCheck(sql: Sql, config: Config): TokenCheck {
  const { jwksUrl, issuer, audience } = config.auth;
  const keyOf = jwksUrl === undefined ? localKeys(sql) : remoteKeys(jwksUrl);
  return {
    subjectOf: async (token) => {
      if (!token) throw invalidToken();
      try {
        const { payload } = await jwtVerify(token, keyOf, {
          issuer,
          audience,
          algorithms: ALGORITHMS,
          requiredClaims: ['sub', 'exp', 'iat'],
          clockTolerance: CLOCK_TOLERANCE_S,
        });
        // A claim may be any JSON value, whatever its type says, and Postgres cannot store a NUL in a text.
        const subject: unknown = payload.sub;
        if (typeof subject !== 'string' || subject === '' || subject.includes('\0')) throw invalidToken();
        return subject;
      } catch (error) {
        if (error instanceof errors.JWKSTimeout || (error as Error).name === 'TypeError') {
          throw problem('UNAVAILABLE', { message: 'The identity provider could not be reached.' });
        }
        if (error instanceof errors.JOSEError) throw invalidToken();
        throw error;
      }
    },
  };
}

const GET_TOKEN =
  'Send Authorization: Bearer <JWT> of an owner or admin: from your identity provider, or as "candlepool token" ' +
  'prints it on the host of the service. An API key works under /public/v1 only.';

const invalidToken = () =>
  problem('JWT_INVALID', { message: 'Missing or invalid access token.', extras: { nextSteps: [GET_TOKEN] } });

interface LocalToken {
  readonly subject: string;
  readonly email: string;
  readonly ttlSeconds: number;
}

/** Signs a token with the key pair in Postgres, made with the first token. */
export async function signLocalToken(sql: Sql, config: Config, token: LocalToken): Promise<string> {
  const stored = await activeSigningKey(sql, makeSigningKey);
  const key = (await importJWK(stored.privateJwk as JWK, stored.algorithm)) as CryptoKey;
  const now = Math.floor(Date.now() / 1000);
  return new SignJWT({ email: token.email })
    .setProtectedHeader({ alg: stored.algorithm, kid: stored.id, typ: 'JWT' })
    .setIssuer(config.auth.issuer)
    .setAudience(config.auth.audience)
    .setSubject(token.subject)
    .setIssuedAt(now)
    .setExpirationTime(now + token.ttlSeconds)
    .sign(key);
}

async function makeSigningKey() {
  const { publicKey, privateKey } = await generateKeyPair(LOCAL_ALGORITHM, { extractable: true });
  return {
    algorithm: LOCAL_ALGORITHM,
    publicJwk: { ...(await exportJWK(publicKey)) },
    privateJwk: { ...(await exportJWK(privateKey)) },
  };
}

/** The key pair of an id never changes, so one that was found is kept; one that was not found is looked up again. */
function localKeys(sql: Sql): JWTVerifyGetKey {
  const known = new Map<string, CryptoKey>();
  return async (header) => {
    const id = header.kid;
    if (id === undefined || !isUuid(id) || header.alg !== LOCAL_ALGORITHM) throw new errors.JWKSNoMatchingKey();
    const kept = known.get(id);
    if (kept !== undefined) return kept;
    const jwk = await findPublicJwk(sql, id);
    if (jwk === null) throw new errors.JWKSNoMatchingKey();
    const key = (await importJWK(jwk as JWK, LOCAL_ALGORITHM)) as CryptoKey;
    known.set(id, key);
    return key;
  };
}

function remoteKeys(url: string): JWTVerifyGetKey {
  return createRemoteJWKSet(new URL(url), { timeoutDuration: JWKS_TIMEOUT_MS });
}
