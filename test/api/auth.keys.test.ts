// Authentication by API key, row by row: transport, key states, scope and role, and the exact messages of 401.
import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { generateApiKey, parseApiKey } from '../../src/api/http/auth/keyFormat.ts';
import { API_KEY_SCOPES } from '../../src/db/apiKeys.ts';
import type { ApiKeyScope } from '../../src/db/apiKeys.ts';
import { MEMBER_ROLES } from '../../src/db/members.ts';
import { createAuthApp } from '../support/authApp.ts';
import type { AuthApp, Tenant } from '../support/authApp.ts';
import { eventually } from '../support/eventually.ts';

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
async function createKey(body: object = {}): Promise<Created> {
  const response = await tenant.create({ name: 'probe', ...body });
  expect(response.statusCode).toBe(201);
  return response.json<Created>();
}
const probe = (apiKey: string, path = '/probe') => auth.request({ url: path, headers: { 'x-api-key': apiKey } });
const MISSING = 'Missing API key. Provide x-api-key or Authorization: Bearer <api_key>.';

async function expectRefusal(
  headers: Record<string, string>,
  code: string,
  message: string,
  from: AuthApp['app'] = auth.app,
): Promise<void> {
  const response = await from.inject({ url: '/probe', headers });
  expect(response.statusCode).toBe(401);
  expect(response.headers['content-type']).toContain('application/problem+json');
  expect(response.json()).toMatchObject({ status: 401, code, message, retryable: false });
}

describe('the key format', () => {
  it('is svc_live_<keyId>_<secret>, and generated keys parse back', () => {
    for (let round = 0; round < 200; round++) {
      const { apiKey, keyId, secret } = generateApiKey();
      expect(apiKey).toMatch(/^svc_live_[0-9A-Za-z]{12}_[0-9A-Za-z]{38}$/);
      expect(parseApiKey(apiKey)).toEqual({ keyId, secret });
    }
  });

  it('reveals a change of any character without the database', () => {
    const { apiKey } = generateApiKey();
    for (let index = 9; index < apiKey.length; index++) {
      const other = apiKey[index] === 'a' ? 'b' : 'a';
      expect(parseApiKey(apiKey.slice(0, index) + other + apiKey.slice(index + 1))).toBeNull();
    }
  });
});

describe('a request with a key', () => {
  it('may send it as x-api-key', async () => {
    const { apiKey, id } = await createKey();
    const response = await probe(apiKey);
    expect(response.statusCode).toBe(200);
    expect(response.json()).toMatchObject({
      workspaceId: tenant.workspaceId,
      apiKeyId: id,
      role: 'member',
      tier: 'pro',
    });
  });

  it.each(['Bearer', 'bearer', 'BEARER'])('may send it as Authorization: %s <API_KEY>', async (scheme) => {
    const { apiKey } = await createKey();
    const response = await auth.request({ url: '/probe', headers: { authorization: `${scheme} ${apiKey}` } });
    expect(response.statusCode).toBe(200);
  });

  it('may send it in both headers, beside the credentials of a proxy too', async () => {
    const { apiKey } = await createKey();
    for (const authorization of [`Bearer ${apiKey}`, 'Basic dXNlcjpwYXNz', 'Bearer', '']) {
      const response = await auth.request({ url: '/probe', headers: { 'x-api-key': apiKey, authorization } });
      expect([authorization, response.statusCode]).toEqual([authorization, 200]);
    }
  });

  it('is refused when the two headers hold different credentials, whichever of them is right', async () => {
    const [{ apiKey }, { apiKey: other }] = [await createKey(), await createKey()];
    for (const [key, bearer] of [
      [apiKey, 'nonsense'],
      ['nonsense', apiKey],
      [apiKey, other],
    ]) {
      const headers = { 'x-api-key': key, authorization: `Bearer ${bearer}` };
      const response = await auth.request({ url: '/probe', headers });
      expect([response.statusCode, response.json()]).toMatchObject([
        400,
        {
          code: 'CREDENTIALS_DIFFER',
          message: 'The headers x-api-key and Authorization hold different credentials. Send one of the two.',
        },
      ]);
    }
  });

  it('treats an empty x-api-key as absent, and reads Authorization', async () => {
    const { apiKey } = await createKey();
    const headers = { 'x-api-key': '', authorization: `Bearer ${apiKey}` };
    expect((await auth.request({ url: '/probe', headers })).statusCode).toBe(200);
  });
});

describe('a request without a valid key', () => {
  it('is told how to send a key and who creates one', async () => {
    const { nextSteps } = (await auth.app.inject({ url: '/probe', headers: { 'x-api-key': 'nonsense' } })).json<{
      nextSteps: string[];
    }>();
    expect(nextSteps[0]).toContain('svc_live_<keyId>_<secret>, in the header x-api-key');
    expect(nextSteps[1]).toContain('"candlepool keys create"');
  });

  it.each([{}, { 'x-api-key': '' }, { authorization: '' }, { 'x-api-key': ' ', authorization: ' ' }])(
    'is refused when the key is missing: %j',
    (headers) => expectRefusal(headers as Record<string, string>, 'API_KEY_MISSING', MISSING),
  );

  const jwt = 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0.';
  it.each([
    ['malformed bearer value: empty', { authorization: 'Bearer' }],
    ['malformed bearer value: blanks', { authorization: 'Bearer   ' }],
    ['malformed bearer value: another scheme', { authorization: 'Basic dXNlcjpwYXNz' }],
    ['malformed bearer value: a JWT', { authorization: `Bearer ${jwt}` }],
    ['invalid key format: nonsense', { 'x-api-key': 'nonsense' }],
    [
      'invalid key format: another prefix',
      { 'x-api-key': 'sk_live_abcdefghijkl_abcdefghijklmnopqrstuvwxyz0123456789ab' },
    ],
    ['invalid key format: right form, wrong checksum', { 'x-api-key': `svc_live_${'a'.repeat(12)}_${'b'.repeat(38)}` }],
    ['invalid key format: two keys in one header', { 'x-api-key': 'svc_live_a, svc_live_b' }],
    ['invalid key format: 8 KB of it', { 'x-api-key': 'x'.repeat(8_000) }],
  ])('%s → Invalid API key', (_name, headers) => expectRefusal(headers, 'API_KEY_INVALID', 'Invalid API key'));

  it('is refused for an unknown keyId with Invalid API key', () =>
    expectRefusal({ 'x-api-key': generateApiKey().apiKey }, 'API_KEY_INVALID', 'Invalid API key'));

  it('is refused for a wrong secret with Invalid API key', async () => {
    const { apiKey } = await createKey();
    await expectRefusal({ 'x-api-key': withOtherSecret(apiKey) }, 'API_KEY_INVALID', 'Invalid API key');
  });

  it('is refused for a revoked key with API key has been revoked, from the next request on', async () => {
    const { apiKey, id } = await createKey();
    expect((await probe(apiKey)).statusCode).toBe(200);
    expect((await tenant.revoke(id)).statusCode).toBe(200);
    await expectRefusal({ 'x-api-key': apiKey }, 'API_KEY_REVOKED', 'API key has been revoked');
  });

  it('is refused by another host that remembers the secret of a revoked key', async () => {
    const other = await auth.host();
    const { apiKey, id } = await createKey();
    expect((await other.inject({ url: '/probe', headers: { 'x-api-key': apiKey } })).statusCode).toBe(200);
    await tenant.revoke(id);
    await expectRefusal({ 'x-api-key': apiKey }, 'API_KEY_REVOKED', 'API key has been revoked', other);
  });

  it('is refused for an expired key with API key has expired', async () => {
    const { apiKey, id } = await createKey({ expiresAt: new Date(Date.now() + 3_600_000).toISOString() });
    expect((await probe(apiKey)).statusCode).toBe(200);
    await auth.database.sql`update api_keys set expires_at = now() where id = ${id}`;
    await expectRefusal({ 'x-api-key': apiKey }, 'API_KEY_EXPIRED', 'API key has expired');
  });

  it('is told that a key was revoked rather than expired if both apply', async () => {
    const { apiKey, id } = await createKey();
    await auth.database.sql`update api_keys set expires_at = now() - interval '1 hour' where id = ${id}`;
    await expectRefusal({ 'x-api-key': apiKey }, 'API_KEY_EXPIRED', 'API key has expired');
    await tenant.revoke(id);
    await expectRefusal({ 'x-api-key': apiKey }, 'API_KEY_REVOKED', 'API key has been revoked');
  });

  it('is refused when the creator of the key is no longer a workspace member', async () => {
    const admin = await tenant.member('leaving@example.com', 'admin');
    const { apiKey } = (await tenant.create({ name: 'of one who leaves' }, admin.token)).json<Created>();
    expect((await probe(apiKey)).statusCode).toBe(200);
    await tenant.leave(admin.userId);
    const message = 'API key creator is no longer a workspace member';
    await expectRefusal({ 'x-api-key': apiKey }, 'API_KEY_CREATOR_INACTIVE', message);
  });

  it('is told that a key was revoked once its creator, who had left, is a member again', async () => {
    const admin = await tenant.member('returning@example.com', 'admin');
    const { apiKey, id } = (await tenant.create({ name: 'of one who returns' }, admin.token)).json<Created>();
    await tenant.leave(admin.userId);
    await tenant.member('returning@example.com', 'admin');
    await expectRefusal({ 'x-api-key': apiKey }, 'API_KEY_REVOKED', 'API key has been revoked');
    const { data } = (await tenant.list()).json<{ data: { id: string; status: string }[] }>();
    expect(data.find((key) => key.id === id)).toMatchObject({ status: 'revoked' });
    const { apiKey: fresh } = (await tenant.create({ name: 'made after the return' }, admin.token)).json<Created>();
    expect((await probe(fresh)).statusCode).toBe(200);
  });

  it('is told of a revoke or an expiry that came before its creator left', async () => {
    const admin = await tenant.member('early@example.com', 'admin');
    const make = async () => (await tenant.create({ name: 'early' }, admin.token)).json<Created>();
    const [revoked, expired] = [await make(), await make()];
    await tenant.revoke(revoked.id);
    await auth.database.sql`update api_keys set expires_at = now() - interval '1 hour' where id = ${expired.id}`;
    await tenant.leave(admin.userId);
    await expectRefusal({ 'x-api-key': revoked.apiKey }, 'API_KEY_REVOKED', 'API key has been revoked');
    await expectRefusal({ 'x-api-key': expired.apiKey }, 'API_KEY_EXPIRED', 'API key has expired');
    await tenant.member('early@example.com', 'admin');
    await expectRefusal({ 'x-api-key': expired.apiKey }, 'API_KEY_REVOKED', 'API key has been revoked');
  });

  it('is refused only in the workspace that the creator of the key has left', async () => {
    const elsewhere = await auth.tenant('pro');
    const admin = await tenant.member('of-two@example.com', 'admin');
    await elsewhere.member('of-two@example.com', 'admin');
    const { apiKey } = (await elsewhere.create({ name: 'elsewhere' }, admin.token)).json<Created>();
    await tenant.leave(admin.userId);
    expect((await probe(apiKey)).statusCode).toBe(200);
  });

  it('is refused for a dead key with any secret, without running argon2', async () => {
    const { apiKey, id } = await createKey();
    await tenant.revoke(id);
    const host = await auth.host();
    const refusal = ['API_KEY_REVOKED', 'API key has been revoked'] as const;
    await expectRefusal({ 'x-api-key': withOtherSecret(apiKey) }, ...refusal, host);
    expect(host.authentication.secrets.verifications).toBe(0);
  });

  it('does not lock out other tenants behind the same address', async () => {
    const host = await auth.host();
    const ask = (key: string) => host.inject({ url: '/probe', headers: { 'x-api-key': key } });
    const neighbor = await auth.tenant();
    const { apiKey: right } = (await neighbor.create({ name: 'right' })).json<Created>();
    for (let key = 0; key < 8; key++) {
      const { apiKey, id } = await createKey();
      if (key % 2 === 0) await tenant.revoke(id);
      for (let tries = 0; tries < 14; tries++) await ask(withOtherSecret(apiKey, tries));
      await tenant.revoke(id);
    }
    expect((await ask(right)).statusCode).toBe(200);
  });
});

describe('authorization', () => {
  it.each(API_KEY_SCOPES)('limits a key with only %s to that surface', async (scope) => {
    const { apiKey } = await createKey({ scopes: [scope] });
    for (const each of API_KEY_SCOPES) {
      const response = await probe(apiKey, `/probe/${each}`);
      if (each === scope) expect(response.statusCode).toBe(200);
      else {
        expect(response.statusCode).toBe(403);
        expect(response.json()).toMatchObject({ code: 'INSUFFICIENT_SCOPE', requiredScopes: [each] });
      }
    }
    expect((await probe(apiKey)).statusCode).toBe(200);
  });

  const write = (apiKey: string, scope: ApiKeyScope) =>
    auth.request({ method: 'POST', url: `/probe/${scope}/write`, headers: { 'x-api-key': apiKey } });

  it('rejects a viewer key on write endpoints even if it has write scopes', async () => {
    const { apiKey } = await createKey({ role: 'viewer' });
    expect((await probe(apiKey, '/probe/strategies_write')).statusCode).toBe(200);
    const response = await write(apiKey, 'strategies_write');
    expect(response.statusCode).toBe(403);
    expect(response.json()).toMatchObject({ code: 'INSUFFICIENT_ROLE', requiredRole: 'member', role: 'viewer' });
  });

  it.each(MEMBER_ROLES)('keeps a member key a member while its creator is an active %s', async (role) => {
    const { token } = await tenant.member(`now-${role}@example.com`, 'admin');
    const { apiKey, id } = (await tenant.create({ name: 'climber' }, token)).json<Created>();
    await tenant.member(`now-${role}@example.com`, role);
    expect((await write(apiKey, 'backtests_write')).statusCode).toBe(200);
    expect((await probe(apiKey)).json()).toMatchObject({ role: 'member' });
    const { data } = (await tenant.list()).json<{ data: { id: string; role: string }[] }>();
    expect(data.find((key) => key.id === id)).toMatchObject({ role: 'member' });
  });

  it('allows a member key to call write endpoints', async () => {
    const { apiKey } = await createKey();
    expect((await write(apiKey, 'backtests_write')).statusCode).toBe(200);
  });

  it('checks the scope before the role, and both before the body', async () => {
    const { apiKey } = await createKey({ role: 'viewer', scopes: ['workspace_read'] });
    expect((await write(apiKey, 'backtests_write')).json()).toMatchObject({ code: 'INSUFFICIENT_SCOPE' });
    const broken = await auth.request({
      method: 'POST',
      url: '/probe/workspace_read/write',
      headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
      payload: '{broken',
    });
    expect(broken.json()).toMatchObject({ code: 'INSUFFICIENT_ROLE' });
  });

  it('applies a change of tier to the next request', async () => {
    const { apiKey } = await createKey();
    const { sql } = auth.database;
    await sql`update workspaces set tier = 'plus' where id = ${tenant.workspaceId}`;
    expect((await probe(apiKey)).json()).toMatchObject({ tier: 'plus' });
    await sql`update workspaces set tier = 'pro' where id = ${tenant.workspaceId}`;
    expect((await probe(apiKey)).json()).toMatchObject({ tier: 'pro' });
  });
});

describe('the check of a secret', () => {
  it('runs argon2 once for 1,000 concurrent requests on a host that never saw the secret', async () => {
    const { apiKey } = await createKey();
    const host = await auth.host();
    const responses = await Promise.all(
      Array.from({ length: 1_000 }, () => host.inject({ url: '/probe', headers: { 'x-api-key': apiKey } })),
    );
    expect(responses.every((response) => response.statusCode === 200)).toBe(true);
    expect(host.authentication.secrets.verifications).toBe(1);
  });

  it('is skipped in the process that created the key', async () => {
    const before = auth.app.authentication.secrets.verifications;
    const { apiKey } = await createKey();
    await probe(apiKey);
    expect(auth.app.authentication.secrets.verifications).toBe(before);
  });

  it('answers 429 after ten wrong secrets, even for a thousand at once', async () => {
    const { apiKey } = await createKey();
    const host = await auth.host();
    const wrong = withOtherSecret(apiKey);
    const responses = await Promise.all(
      Array.from({ length: 1_000 }, (_, index) =>
        host.inject({ url: '/probe', headers: { 'x-api-key': withOtherSecret(wrong, index) } }),
      ),
    );
    const refused = responses.filter((response) => response.statusCode === 401);
    const throttled = responses.filter((response) => response.statusCode === 429);
    expect([refused.length, throttled.length]).toEqual([10, 990]);
    expect(host.authentication.secrets.verifications).toBe(10);
    expect(throttled[0].json()).toMatchObject({ code: 'RATE_LIMITED', retryable: true });
    expect(Number(throttled[0].headers['retry-after'])).toBeGreaterThan(0);
  });

  it('lets a known secret pass the throttle, so that guessing cannot lock out the owner', async () => {
    const { apiKey } = await createKey();
    const host = await auth.host();
    const ask = (key: string) => host.inject({ url: '/probe', headers: { 'x-api-key': key } });
    expect((await ask(apiKey)).statusCode).toBe(200);
    for (let tries = 0; tries < 15; tries++) await ask(withOtherSecret(apiKey, tries));
    expect((await ask(withOtherSecret(apiKey, 99))).statusCode).toBe(429);
    expect((await ask(apiKey)).statusCode).toBe(200);
  });

  it('reads a stored argon2id hash, and no part of the plaintext is in the row', async () => {
    const { apiKey, id } = await createKey();
    const secret = parseApiKey(apiKey)?.secret ?? '';
    const [row] = await auth.database
      .sql`select to_jsonb(k)::text as text, secret_hash from api_keys k where id = ${id}`;
    expect(row.secret_hash).toMatch(/^\$argon2id\$v=19\$m=19456,p=1,t=2\$/);
    expect(row.text).not.toContain(secret);
    expect(row.text).not.toContain(createHmac('sha256', '').update(secret).digest('hex'));
  });
});

describe('lastUsedAt', () => {
  const lastUsed = async (id: string): Promise<Date | null> => {
    const [row] = await auth.database.sql`select last_used_at from api_keys where id = ${id}`;
    return row.last_used_at as Date | null;
  };

  it('is written soon after the first accepted request, but not by refused ones', async () => {
    // Uses are written together: when that of a later request is there, so are those before it.
    const earlierUsesAreWritten = async (): Promise<void> => {
      const other = await createKey();
      await probe(other.apiKey);
      await eventually(() => lastUsed(other.id));
    };
    const { apiKey, id } = await createKey();
    await probe(withOtherSecret(apiKey));
    await earlierUsesAreWritten();
    expect(await lastUsed(id)).toBeNull();
    const before = Date.now();
    await probe(apiKey);
    const at = await eventually(() => lastUsed(id));
    expect(at.getTime()).toBeGreaterThanOrEqual(before - 1);
    await probe(apiKey);
    await earlierUsesAreWritten();
    expect(await lastUsed(id)).toEqual(at);
  });
});

/** The same keyId, another secret with a right checksum. */
function withOtherSecret(apiKey: string, seed = 0): string {
  const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  const keyId = apiKey.slice(9, 21);
  const body = `${'z'.repeat(26)}${String(seed).padStart(6, '0')}`;
  let crc = crc32Slow(`svc_live_${keyId}_${body}`);
  let digits = '';
  for (let index = 0; index < 6; index++) {
    digits = alphabet[crc % 62] + digits;
    crc = Math.floor(crc / 62);
  }
  return `svc_live_${keyId}_${body}${digits}`;
}

/** CRC-32 bit by bit (ISO-HDLC), written apart from the product's. */
function crc32Slow(text: string): number {
  let crc = 0xffffffff;
  for (const byte of Buffer.from(text)) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return (crc ^ 0xffffffff) >>> 0;
}
