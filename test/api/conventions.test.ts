import { gzipSync } from 'node:zlib';
import { once } from 'node:events';
import { connect } from 'node:net';
import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import { buildApp } from '../../src/api/app.ts';
import { connect as connectDatabase, urlOf } from '../../src/db/connect.ts';
import { TIER_LIMITS } from '../../src/tiers.ts';
import { createApiApp } from '../support/apiApp.ts';
import { ast, brokenAst, settings } from '../support/strategyPayloads.ts';

const api = await createApiApp();
const client = await api.client();
afterAll(() => api[Symbol.asyncDispose]());

const validate = (payload: string | Buffer, headers: Record<string, string> = {}) =>
  api.send({
    method: 'POST',
    url: '/public/v1/strategies/validate',
    headers: { 'x-api-key': client.apiKey, 'content-type': 'application/json', ...headers },
    payload,
  });

describe('a failure', () => {
  it('is problem+json with status, message, code, retryable and requestId', async () => {
    const reply = await client.get(`/strategies/${randomUUID()}`);
    expect(reply.headers['content-type']).toBe('application/problem+json; charset=utf-8');
    expect(reply.body).toMatchObject({ status: 404, code: 'NOT_FOUND', retryable: false, title: 'Not found' });
    expect(reply.body.instance).toMatch(/^\/public\/v1\/strategies\//);
    expect(reply.body.requestId).toBe(reply.headers['x-request-id']);
  });

  it('is 401 with the exact message for a missing key, whatever the body', async () => {
    const reply = await api.send({ method: 'POST', url: '/public/v1/strategies', payload: { nonsense: 1 } });
    expect(reply.status).toBe(401);
    expect(reply.body.message).toBe('Missing API key. Provide x-api-key or Authorization: Bearer <api_key>.');
    expect(reply.headers['www-authenticate']).toBe('Bearer');
  });

  it('is 404 for an unknown route even without a key, and 405 with Allow for another method', async () => {
    for (const url of ['/public/v1/nothing', '/public/v2', '/public/v1/strategies/a/b', '/wp-admin'])
      expect((await api.send({ url })).status, url).toBe(404);
    for (const [method, url, allow] of [
      ['DELETE', '/public/v1/strategies', 'GET, HEAD, POST'],
      ['PUT', `/public/v1/strategies/${randomUUID()}`, 'DELETE, GET, HEAD, PATCH'],
      ['GET', '/public/v1/system-strategies/golden_cross/copy', 'POST'],
      ['PATCH', '/public/v1/capabilities/', 'GET, HEAD'],
      ['POST', '/healthz', 'GET, HEAD'],
    ] as const) {
      const reply = await api.send({ method, url });
      expect([reply.status, reply.body.code, reply.headers.allow], `${method} ${url}`).toEqual([
        405,
        'METHOD_NOT_ALLOWED',
        allow,
      ]);
    }
  });

  it('is 404 for a path that cannot be decoded', async () => {
    const reply = await client.get('/strategies/%zz');
    expect([reply.status, reply.body.code]).toEqual([404, 'NOT_FOUND']);
    expect(reply.headers['x-request-id']).toBe(reply.body.requestId);
  });

  it('does not result from a trailing slash', async () => {
    expect((await client.get('/')).status).toBe(200);
    expect((await client.get('/workspace/')).status).toBe(200);
  });
});

describe('a body', () => {
  it.each([
    ['a half object', '{"settings":'],
    ['words', 'buy low'],
    ['two values', '{} {}'],
    ['a trailing comma', '{"a":1,}'],
    ['NaN', '{"settings":{"warmupPeriod":NaN}}'],
    ['bytes that are no UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
    ['__proto__', '{"__proto__":{"isAdmin":true}}'],
    ['__proto__ deep inside', '{"settings":{},"strategyAst":{"meta":{"__proto__":1}}}'],
    ['__proto__ in escapes', '{"\\u005f_proto__":1}'],
    ['constructor.prototype', '{"constructor":{"prototype":{"x":1}}}'],
  ])('%s is 400 MALFORMED_JSON', async (_what, payload) => {
    const reply = await validate(payload);
    expect([reply.status, reply.body.code]).toEqual([400, 'MALFORMED_JSON']);
    expect(({} as Record<string, unknown>).isAdmin).toBeUndefined();
  });

  it('that is broken JSON is answered with the place of the error', async () => {
    expect((await validate('{"a":1,}')).body.message).toMatch(/position 7|line 1/);
  });

  it('is 400 VALIDATION_FAILED if it is missing', async () => {
    for (const payload of ['', 'null']) {
      const reply = await validate(payload);
      expect([reply.status, reply.body.code]).toEqual([400, 'VALIDATION_FAILED']);
    }
  });

  it('is 415 with another media type, but a charset does not change the type', async () => {
    for (const type of [
      'text/plain',
      'application/xml',
      'multipart/form-data; boundary=x',
      'application/x-www-form-urlencoded',
      'json',
    ]) {
      const reply = await validate('{}', { 'content-type': type });
      expect([reply.status, reply.body.code], type).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE']);
    }
    const reply = await validate(JSON.stringify({ settings, strategyAst: ast() }), {
      'content-type': 'application/json; charset=utf-8',
    });
    expect(reply.status).toBe(200);
  });

  it('is 415 when it says that it is compressed, since it would be read as it is', async () => {
    const body = JSON.stringify({ settings, strategyAst: ast() });
    const reply = await validate(gzipSync(body), { 'content-encoding': 'gzip' });
    expect([reply.status, reply.body.message]).toEqual([415, 'Send the body without Content-Encoding.']);
    expect((await validate(body, { 'content-encoding': 'identity' })).status).toBe(200);
  });

  it('is 413 above 8 MiB on every tier', async () => {
    const reply = await validate(Buffer.alloc(TIER_LIMITS.pro.bodyBytes + 1, 0x20));
    expect([reply.status, reply.body.code, reply.body.limit]).toEqual([
      413,
      'PAYLOAD_TOO_LARGE',
      TIER_LIMITS.pro.bodyBytes,
    ]);
  });

  it.each([
    [
      'a payload 100,000 deep',
      () => `{"settings":{},"strategyAst":${'{"left":'.repeat(100_000)}1${'}'.repeat(100_000)}}`,
    ],
    ['lists 1,000,000 deep', () => `{"settings":{},"strategyAst":${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}}`],
    [
      '1 MiB of nodes',
      () =>
        JSON.stringify({
          settings: {},
          signalGraph: {
            nodes: Array.from({ length: 30_000 }, (_, id) => ({ id: `n${id}`, kind: 'const', value: id })),
          },
        }),
    ],
    ['huge numbers', () => '{"settings":{"warmupPeriod":1e400},"strategyAst":{"version":-1e999}}'],
    [
      'a million settings',
      () => `{"settings":{${Array.from({ length: 200_000 }, (_, key) => `"k${key}":1`).join()}},"strategyAst":{}}`,
    ],
    ['ten thousand unknown members', () => `{${Array.from({ length: 10_000 }, (_, key) => `"k${key}":1`).join()}}`],
  ])('%s is answered at once with issues, 400 or 413, never 500', async (_what, make) => {
    const payload = make();
    const started = process.threadCpuUsage();
    const reply = await validate(payload);
    const { user, system } = process.threadCpuUsage(started);
    expect([200, 400, 413]).toContain(reply.status);
    if (reply.status === 200) expect(reply.body.valid).toBe(false);
    expect(reply.text.length).toBeLessThan(200_000);
    // Of this thread's processor time, client and server together; generous, since code that runs for the first time is
    // slow.
    expect((user + system) / 1000).toBeLessThan(1_500);
  });

  it('is refused with the names of unknown members, like unknown query parameters', async () => {
    const member = await client.post('/strategies/validate', { settings, strategyAst: ast(), dryRun: true });
    expect(member.body.issues).toEqual([
      {
        code: 'UNKNOWN_FIELD',
        path: '/dryRun',
        field: 'dryRun',
        severity: 'error',
        message: 'Unknown member "dryRun"; remove it.',
      },
    ]);
    for (const path of [
      '',
      '/workspace',
      '/capabilities',
      '/system-strategies',
      '/strategies',
      '/market-data',
      '/system-strategies/golden_cross',
    ]) {
      const reply = await client.get(`${path}?verbose=1`);
      expect([reply.status, reply.body.code], path).toEqual([400, 'VALIDATION_FAILED']);
      expect(reply.body.issues[0]).toMatchObject({ code: 'UNKNOWN_FIELD', path: '/query/verbose' });
    }
  });
});

describe('the order of answers', () => {
  const write = '/public/v1/strategies';
  const huge = Buffer.alloc(TIER_LIMITS.pro.bodyBytes + 1, 0x20);
  const json = { 'content-type': 'application/json' };

  it('puts 401 before 413 and 400', async () => {
    const reply = await api.send({ method: 'POST', url: write, headers: json, payload: huge });
    expect(reply.status).toBe(401);
  });

  it('puts 403 for scope before 403 for role, and both before the body', async () => {
    const { workspaceId } = client;
    const neither = await api.client({ workspaceId, role: 'viewer', scopes: ['strategies_read'] });
    const viewer = await api.client({ workspaceId, role: 'viewer' });
    for (const [who, code] of [
      [neither, 'INSUFFICIENT_SCOPE'],
      [viewer, 'INSUFFICIENT_ROLE'],
    ] as const) {
      const headers = { 'x-api-key': who.apiKey, ...json };
      const reply = await api.send({ method: 'POST', url: write, headers, payload: '{"broken' });
      expect([reply.status, reply.body.code]).toEqual([403, code]);
    }
  });

  it('puts 404 before 422', async () => {
    const reply = await client.post(`/strategies/${randomUUID()}/versions/finalize`, {
      settings,
      strategyAst: brokenAst(),
    });
    expect(reply.status).toBe(404);
  });
});

describe('the set of headers', () => {
  it('returns a valid request id, and a new one in place of an invalid one', async () => {
    const kept = await client.get('/workspace', { 'x-request-id': 'agent-7:call.42' });
    expect(kept.headers['x-request-id']).toBe('agent-7:call.42');
    for (const bad of ['', 'a b', 'x'.repeat(129), '<script>']) {
      const made = await client.get('/workspace', { 'x-request-id': bad });
      expect(made.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    }
  });

  it('forbids sniffing and framing', async () => {
    const { headers } = await client.get('/workspace');
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(headers['content-security-policy']).toContain("default-src 'none'");
    expect(headers).not.toHaveProperty('x-powered-by');
  });
});

describe('the set of operational routes', () => {
  it('needs no key for healthz and readyz', async () => {
    for (const url of ['/healthz', '/readyz']) expect((await api.send({ url })).body).toEqual({ status: 'ok' });
  });

  it('counts requests by route, not by path', async () => {
    const id = randomUUID();
    await client.get(`/strategies/${id}`);
    const { text } = await api.send({ url: '/metrics' });
    expect(text).toContain('route="/public/v1/strategies/:id",status="404"');
    expect(text).not.toContain(id);
  });
});

describe('an API without a database', () => {
  it('answers requests and readyz with 503 UNAVAILABLE and Retry-After, but healthz with 200', async () => {
    const sql = connectDatabase(urlOf(api.services.sql));
    const app = await buildApp({ ...api.services, sql, shortReads: sql });
    await sql.end({ timeout: 0 });
    const reply = await app.inject({ url: '/public/v1', headers: { 'x-api-key': client.apiKey } });
    expect([reply.statusCode, reply.json().code, reply.headers['retry-after']]).toEqual([503, 'UNAVAILABLE', '1']);
    expect((await app.inject({ url: '/readyz' })).statusCode).toBe(503);
    expect((await app.inject({ url: '/healthz' })).statusCode).toBe(200);
    await app.close();
  });
});

describe('a stopping process', () => {
  it('answers its waiters with connection: close, and does not wait for idle clients', async () => {
    const arrived = Promise.withResolvers<void>();
    const app = await buildApp(api.services, {
      registerMore: async (scope) => {
        scope.get('/wait', async () => {
          arrived.resolve();
          await once(scope.drainSignal, 'abort');
          return { told: true };
        });
      },
    });
    const { port } = new URL(await app.listen({ port: 0, host: '127.0.0.1' }));
    const open = (path: string): Promise<string> => {
      const socket = connect(Number(port), '127.0.0.1');
      socket.on('error', () => {});
      socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`);
      return once(socket, 'data').then(([bytes]) => String(bytes));
    };
    expect(await open('/healthz')).toContain('200 OK');
    const waiter = open('/wait');
    await arrived.promise;
    const started = performance.now();
    await app.close();
    // Node by itself would close the idle connection after 72 seconds.
    expect(performance.now() - started).toBeLessThan(60_000);
    const answer = await waiter;
    expect(answer).toContain('200 OK');
    expect(answer.toLowerCase()).toContain('connection: close');
    expect(answer).toContain('{"told":true}');
  });
});
