// Management of API keys, row by row: fields, states, the three operations, who may call them, quotas and bounds.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DEFAULT_API_KEY_SCOPES } from '../../src/db/apiKeys.ts';
import { upsertUser } from '../../src/db/members.ts';
import { TIER_LIMITS } from '../../src/tiers.ts';
import { createAuthApp } from '../support/authApp.ts';
import type { AuthApp, Tenant } from '../support/authApp.ts';

let auth: AuthApp;
let tenant: Tenant;
beforeAll(async () => {
  auth = await createAuthApp();
  tenant = await auth.tenant('pro');
});
afterAll(() => auth[Symbol.asyncDispose]());

interface Created {
  id: string;
  apiKey: string;
  keyPrefix: string;
}
interface Listed {
  id: string;
  status: string;
  name: string;
  revokedAt: string | null;
}
const listed = async (of: Tenant = tenant) => (await of.list()).json<{ data: Listed[] }>().data;
const ISO = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

const hour = () => new Date(Date.now() + 3_600_000).toISOString();

describe('POST /workspaces/{workspaceId}/api-keys', () => {
  it('answers 201, a Location, and the fields of a new key, including the plaintext', async () => {
    const response = await tenant.create({ name: 'first' });
    expect(response.statusCode).toBe(201);
    const body = response.json<Created>();
    expect(response.headers.location).toBe(`/workspaces/${tenant.workspaceId}/api-keys/${body.id}`);
    expect(response.headers['cache-control']).toBe('no-store');
    expect(body).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'first',
      description: null,
      role: 'member',
      scopes: [...DEFAULT_API_KEY_SCOPES],
      keyPrefix: expect.stringMatching(/^svc_live_[0-9A-Za-z]{12}$/),
      expiresAt: null,
      createdAt: expect.stringMatching(ISO),
      apiKey: expect.stringMatching(/^svc_live_[0-9A-Za-z]{12}_[0-9A-Za-z]{38}$/),
    });
    expect(body.apiKey.startsWith(`${body.keyPrefix}_`)).toBe(true);
  });

  it('keeps the given fields', async () => {
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    const given = {
      name: 'n',
      description: 'd',
      role: 'viewer',
      scopes: ['backtests_read', 'workspace_read'],
      expiresAt,
    };
    expect((await tenant.create(given)).json()).toMatchObject(given);
  });

  it('gives a viewer without scopes all six, because its role refuses writes', async () => {
    const { scopes } = (await tenant.create({ name: 'v', role: 'viewer' })).json<{ scopes: string[] }>();
    expect(scopes).toEqual([...DEFAULT_API_KEY_SCOPES]);
  });

  it('counts a duplicate scope once', async () => {
    const scopes = ['workspace_read', 'workspace_read'];
    expect((await tenant.create({ name: 'twice', scopes })).json()).toMatchObject({ scopes: ['workspace_read'] });
  });

  it.each<[string, object]>([
    ['name of 1 char', { name: 'x' }],
    ['name of 100 chars', { name: 'x'.repeat(100) }],
    ['name of 100 emoji', { name: '🔑'.repeat(100) }],
    ['description of 500 chars', { name: 'x', description: 'd'.repeat(500) }],
    ['an empty description', { name: 'x', description: '' }],
    ['expiresAt with an offset', { name: 'x', expiresAt: hour().replace('Z', '+00:00') }],
    ['expiresAt null', { name: 'x', expiresAt: null }],
  ])('accepts %s', async (_name, body) => {
    expect((await tenant.create(body)).statusCode).toBe(201);
  });

  it.each<[string, unknown, string]>([
    ['no body', undefined, ''],
    ['a list', [], ''],
    ['no name', {}, '/name'],
    ['an empty name', { name: '' }, '/name'],
    ['name of 101 chars', { name: 'x'.repeat(101) }, '/name'],
    ['name of 101 emoji', { name: '🔑'.repeat(101) }, '/name'],
    ['a name that is a number', { name: 5 }, '/name'],
    ['a name with NUL', { name: 'a\0b' }, '/name'],
    ['description of 501 chars', { name: 'x', description: 'd'.repeat(501) }, '/description'],
    ['an unknown role', { name: 'x', role: 'owner' }, '/role'],
    ['no scope at all', { name: 'x', scopes: [] }, '/scopes'],
    ['an unknown scope', { name: 'x', scopes: ['workspace_read', 'admin'] }, '/scopes/1'],
    ['scopes that are a text', { name: 'x', scopes: 'workspace_read' }, '/scopes'],
    ['expiresAt in the past', { name: 'x', expiresAt: '2020-01-01T00:00:00Z' }, '/expiresAt'],
    ['expiresAt that is a number', { name: 'x', expiresAt: 1_900_000_000 }, '/expiresAt'],
    ['expiresAt that is a date alone', { name: 'x', expiresAt: '2099-01-01' }, '/expiresAt'],
    ['an unknown member', { name: 'x', scope: 'workspace_read' }, '/scope'],
  ])('refuses %s with 400 and its path', async (_name, body, path) => {
    const response = await tenant.create(body as object);
    expect(response.statusCode).toBe(400);
    expect(response.json()).toMatchObject({ code: 'VALIDATION_FAILED' });
    const { issues } = response.json<{ issues: { path: string }[] }>();
    expect(issues.map((issue) => issue.path)).toContain(path);
  });

  it('answers malformed JSON with 400 MALFORMED_JSON, and another media type with 415', async () => {
    const url = `/workspaces/${tenant.workspaceId}/api-keys`;
    const send = (contentType: string, payload: string) =>
      auth.request({
        method: 'POST',
        url,
        headers: { authorization: `Bearer ${tenant.token}`, 'content-type': contentType },
        payload,
      });
    expect((await send('application/json', '{"name":')).json()).toMatchObject({ status: 400, code: 'MALFORMED_JSON' });
    expect((await send('application/json', '{"__proto__":{}}')).statusCode).toBe(400);
    expect((await send('text/plain', 'name')).statusCode).toBe(415);
  });
});

describe('GET /workspaces/{workspaceId}/api-keys', () => {
  it('answers {data} with every field of a key except apiKey, newest first', async () => {
    const fresh = await auth.tenant();
    const first = (await fresh.create({ name: 'older' })).json<Created>();
    await fresh.create({ name: 'newer', description: 'second' });
    const response = await fresh.list();
    expect(response.statusCode).toBe(200);
    const body = response.json<{ data: Record<string, unknown>[] }>();
    expect(Object.keys(body)).toEqual(['data']);
    expect(body.data.map((key) => key.name)).toEqual(['newer', 'older']);
    expect(body.data[1]).toEqual({
      id: first.id,
      name: 'older',
      description: null,
      role: 'member',
      scopes: [...DEFAULT_API_KEY_SCOPES],
      keyPrefix: first.keyPrefix,
      tokenPreview: `${first.keyPrefix}…`,
      status: 'active',
      lastUsedAt: null,
      expiresAt: null,
      revokedAt: null,
      createdAt: expect.stringMatching(ISO),
      createdBy: {
        id: fresh.ownerId,
        email: `owner-${fresh.workspaceId}@example.com`,
        name: `owner-${fresh.workspaceId}`,
      },
    });
    expect(response.body).not.toContain(first.apiKey.slice(first.keyPrefix.length + 1));
  });

  it('shows active, expired and revoked keys, where revoked overrides expired', async () => {
    const fresh = await auth.tenant();
    const revoked = (await fresh.create({ name: 'revoked', expiresAt: hour() })).json<Created>();
    const expired = (await fresh.create({ name: 'expired', expiresAt: hour() })).json<Created>();
    await fresh.create({ name: 'active' });
    await auth.database
      .sql`update api_keys set expires_at = now() where id = any (${[revoked.id, expired.id]}::uuid[])`;
    await fresh.revoke(revoked.id);
    const keys = await listed(fresh);
    expect(keys.every((key) => key.status === key.name)).toBe(true);
    expect(keys.find((key) => key.name === 'revoked')?.revokedAt).toMatch(ISO);
  });
});

describe('DELETE /workspaces/{workspaceId}/api-keys/{apiKeyId}', () => {
  it('answers {success, revokedAt}, and the same time when repeated', async () => {
    const { id } = (await tenant.create({ name: 'goes' })).json<Created>();
    const first = await tenant.revoke(id);
    expect(first.statusCode).toBe(200);
    expect(first.json()).toEqual({ success: true, revokedAt: expect.stringMatching(ISO) });
    const second = await tenant.revoke(id);
    expect([second.statusCode, second.json()]).toEqual([200, first.json()]);
  });

  it.each(['01a1fc4d-9d3e-7ebf-8c33-03e134b5943e', 'no-uuid', '%00'])(
    'answers a missing key %s with 404',
    async (id) => {
      const response = await tenant.revoke(id);
      expect(response.statusCode).toBe(404);
      expect(response.json()).toMatchObject({ code: 'NOT_FOUND' });
    },
  );

  it('answers a key of another workspace with 404 and leaves it active', async () => {
    const other = await auth.tenant();
    const { id } = (await other.create({ name: 'theirs' })).json<Created>();
    expect((await tenant.revoke(id)).statusCode).toBe(404);
    expect((await listed(other))[0].status).toBe('active');
  });
});

describe('the limit on active API keys', () => {
  it.each(['free', 'plus', 'pro'] as const)(
    'refuses on tier %s the key after the last with the exact 403 text',
    async (tier) => {
      const limit = { free: 5, plus: 20, pro: 50 }[tier];
      expect(TIER_LIMITS[tier].activeApiKeys).toBe(limit);
      const fresh = await auth.tenant(tier);
      for (let index = 0; index < limit; index++) {
        expect((await fresh.create({ name: `k${index}` })).statusCode).toBe(201);
      }
      const response = await fresh.create({ name: 'one too many' });
      expect(response.statusCode).toBe(403);
      expect(response.json()).toMatchObject({
        code: 'API_KEY_LIMIT_REACHED',
        message: `API key limit (${limit}) reached. Revoke unused keys or upgrade your plan.`,
        limit,
        usage: limit,
      });
    },
  );

  it('allows exactly five active keys out of fifty parallel creates on free', async () => {
    const fresh = await auth.tenant('free');
    const hosts = [auth.app, await auth.host()];
    const responses = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        hosts[index % 2].inject({
          method: 'POST',
          url: `/workspaces/${fresh.workspaceId}/api-keys`,
          headers: { authorization: `Bearer ${fresh.token}` },
          payload: { name: `k${index}` },
        }),
      ),
    );
    expect(responses.filter((response) => response.statusCode === 201)).toHaveLength(5);
    expect(responses.filter((response) => response.statusCode === 403)).toHaveLength(45);
    expect((await listed(fresh)).filter((key) => key.status === 'active')).toHaveLength(5);
  });

  it('does not count expired and revoked keys', async () => {
    const fresh = await auth.tenant('free');
    const ids: string[] = [];
    for (let index = 0; index < 5; index++) ids.push((await fresh.create({ name: 'k' })).json<Created>().id);
    expect((await fresh.create({ name: 'full' })).statusCode).toBe(403);
    await fresh.revoke(ids[0]);
    await auth.database.sql`update api_keys set expires_at = now() - interval '1 second' where id = ${ids[1]}`;
    expect((await fresh.create({ name: 'in place of the revoked' })).statusCode).toBe(201);
    expect((await fresh.create({ name: 'in place of the expired' })).statusCode).toBe(201);
    expect((await fresh.create({ name: 'full again' })).statusCode).toBe(403);
  });
});

describe('management with a JWT', () => {
  const list = (headers: Record<string, string>) =>
    auth.request({ url: `/workspaces/${tenant.workspaceId}/api-keys`, headers });

  it.each([
    ['none', {}],
    ['an empty bearer', { authorization: 'Bearer ' }],
    ['another scheme', { authorization: 'Basic eDp5' }],
    ['nonsense', { authorization: 'Bearer nonsense' }],
    ['an API key', { authorization: `Bearer svc_live_${'a'.repeat(12)}_${'b'.repeat(38)}` }],
    ['alg none', { authorization: 'Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0.' }],
    ['a token in x-api-key', { 'x-api-key': 'token' }],
  ])('answers %s with 401 JWT_INVALID', async (_name, headers) => {
    const response = await list(headers);
    expect(response.statusCode).toBe(401);
    expect(response.json()).toMatchObject({
      code: 'JWT_INVALID',
      message: 'Missing or invalid access token.',
      nextSteps: [expect.stringContaining('"candlepool token"')],
    });
  });

  it.each([
    ['expired', { exp: -60 }],
    ['of another issuer', { iss: 'elsewhere' }],
    ['for another audience', { aud: 'elsewhere' }],
    ['without exp', { exp: null }],
    ['without sub', { sub: null }],
    ['without iat', { iat: null }],
    ['signed by another key', { isForged: true }],
    ['of an unknown kid', { kid: '01a1fc4d-9d3e-7ebf-8c33-03e134b5943e' }],
    ['of a kid that is no id', { kid: "' or 1=1" }],
  ])('a token %s → 401', async (_name, change) => {
    const response = await list({ authorization: `Bearer ${await signWith(change)}` });
    expect(response.statusCode).toBe(401);
    expect(response.json()).toMatchObject({ code: 'JWT_INVALID' });
  });

  it('reads roles from Postgres at every request, not from the token', async () => {
    const { userId, token } = await tenant.member('changes@example.com', 'admin');
    expect((await tenant.list(token)).statusCode).toBe(200);
    await tenant.member('changes@example.com', 'member');
    const response = await tenant.list(token);
    expect(response.statusCode).toBe(403);
    expect(response.json()).toMatchObject({ code: 'INSUFFICIENT_ROLE', requiredRoles: ['owner', 'admin'] });
    await tenant.leave(userId);
    expect((await tenant.list(token)).statusCode).toBe(404);
  });

  it('answers a non-member, an unknown workspace and a malformed id with the same 404', async () => {
    const stranger = await auth.tenant();
    const answers = [
      await tenant.list(stranger.token),
      await auth.request({
        url: '/workspaces/01a1fc4d-9d3e-7ebf-8c33-03e134b5943e/api-keys',
        headers: { authorization: `Bearer ${tenant.token}` },
      }),
      await auth.request({ url: '/workspaces/x/api-keys', headers: { authorization: `Bearer ${tenant.token}` } }),
    ];
    expect(answers.map((answer) => [answer.statusCode, answer.json<{ message: string }>().message])).toEqual(
      Array.from({ length: 3 }, () => [404, 'Workspace not found.']),
    );
  });

  it('checks the role before the body', async () => {
    const { token } = await tenant.member('plain@example.com', 'member');
    expect((await tenant.create({ nonsense: true }, token)).statusCode).toBe(403);
  });

  async function signWith(change: {
    exp?: number | null;
    iss?: string;
    aud?: string;
    sub?: null;
    iat?: null;
    kid?: string;
    isForged?: boolean;
  }): Promise<string> {
    const { importJWK } = await import('jose');
    const [row] = await auth.database.sql`select id, private_jwk from signing_keys where is_active`;
    const key = change.isForged
      ? (await generateKeyPair('ES256')).privateKey
      : await importJWK(row.private_jwk as Record<string, string>, 'ES256');
    const now = Math.floor(Date.now() / 1000);
    const claims = {
      iss: change.iss ?? 'candlepool',
      aud: change.aud ?? 'candlepool',
      ...(change.sub !== null && { sub: tenant.ownerId }),
      ...(change.iat !== null && { iat: now - 120 }),
      ...(change.exp !== null && { exp: now + (change.exp ?? 600) }),
    };
    const kid = change.kid ?? String(row.id);
    return new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid }).sign(key);
  }
});

describe('the operator’s identity provider', () => {
  it.each(['ES256', 'EdDSA', 'RS256'])(
    'issues tokens signed with %s that are accepted in place of local ones',
    async (alg) => {
      const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
      const keys = [{ ...(await exportJWK(publicKey)), kid: 'one', alg }];
      const server = createServer((_request, response) => {
        response.setHeader('content-type', 'application/json').end(JSON.stringify({ keys }));
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const { port } = server.address() as AddressInfo;
      const provider = {
        AUTH_JWKS_URL: `http://127.0.0.1:${port}/jwks`,
        AUTH_ISSUER: 'https://id.example',
        AUTH_AUDIENCE: 'candlepool-api',
      };
      const federated = await createAuthApp(provider);
      try {
        const workspace = await federated.tenant();
        const { sql } = federated.database;
        await upsertUser(sql, { email: `owner-${workspace.workspaceId}@example.com`, subject: 'auth0|42' });
        const token = await new SignJWT({})
          .setProtectedHeader({ alg, kid: 'one' })
          .setIssuer(provider.AUTH_ISSUER)
          .setAudience(provider.AUTH_AUDIENCE)
          .setSubject('auth0|42')
          .setIssuedAt()
          .setExpirationTime('1h')
          .sign(privateKey);
        expect((await workspace.list(token)).statusCode).toBe(200);
        expect((await workspace.list(workspace.token)).statusCode).toBe(401);
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
        const cold = await federated.host();
        const away = await cold.inject({
          url: `/workspaces/${workspace.workspaceId}/api-keys`,
          headers: { authorization: `Bearer ${token}` },
        });
        expect([away.statusCode, away.json<{ code: string }>().code]).toEqual([503, 'UNAVAILABLE']);
      } finally {
        server.close();
        await federated[Symbol.asyncDispose]();
      }
    },
  );
});
