// Connections over a real socket: slow senders, refused bodies, broken requests.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { CompactSign, importJWK } from 'jose';
import type { JWK } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildApp } from '../../src/api/app.ts';
import { signLocalToken } from '../../src/api/http/auth/tokens.ts';
import { activeSigningKey } from '../../src/db/signingKeys.ts';
import { registerWorker } from '../../src/db/workerProcesses.ts';
import { enqueue, makeWorkspace } from '../support/queue.ts';
import { createApiApp, type ApiApp, type Client } from '../support/apiApp.ts';

let api: ApiApp;
let client: Client;
let port: number;
beforeAll(async () => {
  api = await createApiApp();
  client = await api.client();
  port = Number(new URL(await api.app.listen({ port: 0, host: '127.0.0.1' })).port);
});
afterAll(() => api[Symbol.asyncDispose]());

/** Everything the server sends until it closes the connection. */
async function answerTo(write: (socket: Socket) => void): Promise<{ status: number; text: string }> {
  const socket = connect(port, '127.0.0.1');
  let text = '';
  socket.on('data', (chunk) => (text += String(chunk)));
  socket.on('error', () => {});
  await once(socket, 'connect');
  write(socket);
  await once(socket, 'close');
  return { status: Number(text.split(' ', 2)[1]), text };
}
const head = (length: string, key = client.apiKey): string =>
  `POST /public/v1/strategies/validate HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\ncontent-type: ` +
  `application/json\r\n${length}\r\n\r\n`;

describe('a request that never arrives whole', () => {
  it('is answered 408 as a problem, and its connection closed', async () => {
    const { requestTimeout, headersTimeout } = api.app.server;
    expect([requestTimeout, headersTimeout]).toEqual([60_000, 15_000]);
    // Of two timeouts, Node takes the longer one for the whole request.
    Object.assign(api.app.server, { requestTimeout: 400, headersTimeout: 400 });
    const answer = await answerTo((socket) => socket.write(`${head('content-length: 1000')}{"settings":`));
    Object.assign(api.app.server, { requestTimeout, headersTimeout });
    expect(answer.status).toBe(408);
    expect(answer.text).toContain('content-type: application/problem+json');
    expect(answer.text).toContain('"code":"REQUEST_TIMEOUT"');
  });

  it('is answered 408 even without its headers', async () => {
    const { requestTimeout, headersTimeout } = api.app.server;
    Object.assign(api.app.server, { requestTimeout: 400, headersTimeout: 400 });
    const answer = await answerTo((socket) => socket.write('GET /healthz HTTP/1.1\r\nhost: x\r\n'));
    Object.assign(api.app.server, { requestTimeout, headersTimeout });
    expect(answer.status).toBe(408);
  });

  it('is cut off after a refusal that did not need its body', async () => {
    const begun = performance.now();
    const answer = await answerTo((socket) => socket.write(`${head('content-length: 1000', 'nonsense')}{`));
    expect(answer.status).toBe(401);
    expect(performance.now() - begun).toBeLessThan(50_000);
  });
});

it.each(['content-length', 'chunked'])('answers a body over the limit with 413, %s', async (kind) => {
  const block = Buffer.alloc(1 << 20, 0x20);
  const { status } = await answerTo((socket) => {
    const isChunked = kind === 'chunked';
    socket.write(head(isChunked ? 'transfer-encoding: chunked' : `content-length: ${20 * block.length}`));
    for (let sent = 0; sent < 20; sent++) {
      if (isChunked) socket.write(`${block.length.toString(16)}\r\n`);
      socket.write(block);
      if (isChunked) socket.write('\r\n');
    }
    if (isChunked) socket.write('0\r\n\r\n');
    socket.end();
  });
  expect(status).toBe(413);
});

it('answers a client that reads only after its whole body, and then closes, with 413', async () => {
  const body = Buffer.alloc(9 << 20, 0x20);
  const { status } = await answerTo((socket) => {
    socket.pause();
    socket.write(head(`connection: close\r\ncontent-length: ${body.length}`));
    socket.write(body, () => socket.resume());
  });
  expect(status).toBe(413);
});

it('answers headers over the limit with a 431 problem, and other protocols with 400', async () => {
  const large = await answerTo((socket) => socket.write(`GET / HTTP/1.1\r\nx: ${'y'.repeat(40_000)}\r\n\r\n`));
  expect([large.status, large.text.includes('"code":"HEADERS_TOO_LARGE"')]).toEqual([431, true]);
  const broken = await answerTo((socket) => socket.write('nonsense\r\n\r\n'));
  expect([broken.status, broken.text.includes('"code":"MALFORMED_REQUEST"')]).toEqual([400, true]);
});

describe('an odd request', () => {
  it.each(['/public/v1/strategies', '/public/v1/strategies/validate', '/docs', '/healthz'])(
    'answers QUERY %s without a content type below 500',
    async (path) => {
      for (const body of ['', 'content-length: 2\r\n']) {
        const request =
          `QUERY ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${client.apiKey}\r\nconnection: ` +
          `close\r\n${body}\r\n${body && '{}'}`;
        const { status } = await answerTo((socket) => socket.write(request));
        expect(status).toBeLessThan(500);
      }
    },
  );

  it.each(['a%5Cb', '%00', '..%2f..%2fpackage.json', '../../package.json', 'a\\b', '%5C..%5C'])(
    'answers GET /docs/static/%s below 500',
    async (name) => {
      const request = `GET /docs/static/${name} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`;
      const { status } = await answerTo((socket) => socket.write(request));
      expect(status).toBeLessThan(500);
    },
  );
});

/** Signed as our own tokens are, with any value as its `sub`. */
async function tokenOf(sub: unknown): Promise<string> {
  const { sql, config } = api.services;
  await signLocalToken(sql, config, { subject: 'anyone', email: 'a@example.com', ttlSeconds: 60 });
  const stored = await activeSigningKey(sql, () => Promise.reject(new Error('there is a key')));
  const iat = Math.floor(Date.now() / 1000);
  const claims = { iss: config.auth.issuer, aud: config.auth.audience, iat, exp: iat + 60, sub };
  return new CompactSign(new TextEncoder().encode(JSON.stringify(claims)))
    .setProtectedHeader({ alg: stored.algorithm, kid: stored.id })
    .sign(await importJWK(stored.privateJwk as JWK, stored.algorithm));
}

describe('values that the database refuses', () => {
  it('answers a time outside the years 1 to 9999 in a filter with 400', async () => {
    for (const instant of [
      '+020000-01-01T00:00:00Z',
      '-000100-01-01T00:00:00Z',
      '0000-01-01T00:00:00Z',
      '+275760-09-13T00:00:00.000Z',
    ])
      for (const name of ['createdAfter', 'createdBefore'])
        expect((await client.get(`/backtests?${name}=${encodeURIComponent(instant)}`)).status, instant).toBe(400);
  });

  it('refuses a key that expires outside the years 1 to 9999', async () => {
    const token = await api.token(client.workspaceId, 'owner');
    for (const expiresAt of ['+020000-01-01T00:00:00Z', '+275760-09-13T00:00:00.000Z', '9999-12-31T23:59:59-23:59']) {
      const reply = await api.send({
        method: 'POST',
        url: `/workspaces/${client.workspaceId}/api-keys`,
        headers: { authorization: `Bearer ${token}` },
        payload: { name: 'k', role: 'member', scopes: ['strategies_read'], expiresAt },
      });
      expect(reply.status, reply.text).toBeLessThan(500);
    }
  });

  it.each([['a', 'b'], 7, { a: 1 }, true, 'a\0b', ''])('answers a token whose sub is %j with 401', async (subject) => {
    const reply = await api.send({
      url: `/workspaces/${client.workspaceId}/api-keys`,
      headers: {
        authorization: `Bearer ${await tokenOf(subject)}`,
      },
    });
    expect([reply.status, reply.body.code]).toEqual([401, 'JWT_INVALID']);
  });

  it('answers 503 for a full disk, and for a statement that takes too long', async () => {
    const causes = { full: '53100', slow: '57014' };
    const app = await buildApp(api.services, {
      registerMore: async (more) => {
        for (const [name, code] of Object.entries(causes))
          more.get(`/${name}`, async () => {
            throw Object.assign(new Error('could not extend file'), { code });
          });
      },
    });
    for (const name of Object.keys(causes)) {
      const reply = await app.inject({ url: `/${name}` });
      expect([reply.statusCode, reply.headers['retry-after']]).toEqual([503, '1']);
      expect(reply.json()).toMatchObject({ retryable: true, retryAfterSeconds: 1 });
      if (name === 'full') expect(reply.json().message).toContain('The disk of the database is full.');
    }
    await app.close();
  });
});

describe('a body with too many values', () => {
  it.each([
    [
      'params',
      (): unknown => ({
        config: { params: Object.fromEntries(Array.from({ length: 100_000 }, (_, n) => [`p${n}`, n])) },
      }),
    ],
    ['unknown members', (): unknown => Object.fromEntries(Array.from({ length: 100_000 }, (_, n) => [`p${n}`, n]))],
    ['wrong elements', (): unknown => ({ settings: Array.from({ length: 600_000 }, () => 1) })],
  ])('is refused before its schema is applied: %s', async (_name, body) => {
    const reply = await client.post('/strategies/validate', body());
    expect(reply.status).toBe(400);
    expect(reply.body.issues).toEqual([expect.objectContaining({ code: 'TOO_MANY_VALUES' })]);
  });
});

it('shows the delay of the event loop on /metrics, whose metrics docs/operations.md lists', async () => {
  const { text } = await api.send({ url: '/metrics' });
  expect(text).toContain('nodejs_eventloop_lag_p99_seconds');
  const shown = [...text.matchAll(/^# TYPE (candlepool_\w+)/gm)].map(([, name]) => name);
  const page = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');
  const listed = [...page.matchAll(/`(candlepool_\w+)`/g)].map(([, name]) => name);
  expect(shown.toSorted()).toEqual([...new Set(listed)].toSorted());
});

it('answers /readyz with 503 while work is due and no worker takes any', async () => {
  const { sql } = api.services;
  const workspace = await makeWorkspace(sql);
  await enqueue(sql, workspace, { sha256: '0'.repeat(64) }, [{}]);
  await sql`
    update backtests set created_at = now() - interval '1 minute' where workspace_id = ${workspace.workspaceId}`;
  const worker = { id: randomUUID(), poolId: 'p', host: 'h', pid: 1, threads: 1 };
  await registerWorker(sql, worker);
  expect((await api.send({ url: '/readyz' })).status).toBe(200);
  await sql`update worker_processes set took_at = now() - interval '20 seconds' where id = ${worker.id}`;
  const stalled = await api.send({ url: '/readyz' });
  expect([stalled.status, stalled.headers['retry-after']]).toEqual([503, '1']);
  expect(stalled.body.message).toMatch(/^Backtests have been due for 6\d s and no worker takes them\.$/);
  await sql`delete from worker_processes`;
});
