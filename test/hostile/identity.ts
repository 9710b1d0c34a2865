// An identity provider of the test's own: its key set over HTTP, and tokens with whatever claims are asked for.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, importJWK, SignJWT, type JWK } from 'jose';

/** What a process needs to sign tokens that the service believes. */
export interface Signer {
  readonly issuer: string;
  readonly audience: string;
  readonly privateJwk: JWK;
}
export interface Identity extends AsyncDisposable {
  readonly signer: Signer;
  /** For the service. */
  readonly env: Readonly<Record<string, string>>;
}

const ALGORITHM = 'ES256';
const KEY_ID = 'one';

export async function startIdentity(): Promise<Identity> {
  const { publicKey, privateKey } = await generateKeyPair(ALGORITHM, { extractable: true });
  const keys = [{ ...(await exportJWK(publicKey)), kid: KEY_ID, alg: ALGORITHM }];
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ keys }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const signer = {
    issuer: 'https://id.example',
    audience: 'candlepool-api',
    privateJwk: await exportJWK(privateKey),
  };
  return {
    signer,
    env: {
      AUTH_JWKS_URL: `http://127.0.0.1:${port}/jwks`,
      AUTH_ISSUER: signer.issuer,
      AUTH_AUDIENCE: signer.audience,
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** A token of an hour; `sub` may be any JSON value, or undefined for none. */
export async function signToken({ issuer, audience, privateJwk }: Signer, sub: unknown): Promise<string> {
  return new SignJWT({ sub: sub as string })
    .setProtectedHeader({ alg: ALGORITHM, kid: KEY_ID })
    .setIssuer(issuer)
    .setAudience(audience)
    .setIssuedAt()
    .setExpirationTime('1h')
    .sign(await importJWK(privateJwk, ALGORITHM));
}
