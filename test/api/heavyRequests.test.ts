// Large and expensive requests: limits of bodies by route and tier, and the thread that answers what would hold up the
// others.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import { afterAll, describe, expect, it } from 'vitest';
import type { FromThread } from '../../src/api/http/heavyMessages.ts';
import { createLoopShare } from '../../src/api/http/loopShare.ts';
import { urlOf } from '../../src/db/connect.ts';
import { TIER_LIMITS, TIERS } from '../../src/tiers.ts';
import { createApiApp, type Client } from '../support/apiApp.ts';
import { strategy } from '../support/builders.ts';
import { eventually } from '../support/eventually.ts';

const api = await createApiApp({}, true);
afterAll(() => api[Symbol.asyncDispose]());

/** Legal, and of so many bytes. */
const paddedTo = (bytes: number, body: object): string => {
  const text = JSON.stringify(body);
  return text + ' '.repeat(bytes - text.length);
};
const send = (client: Client, path: string, payload: string, headers: Record<string, string> = {}) =>
  api.send({
    method: 'POST',
    url: `/public/v1${path}`,
    headers: { 'x-api-key': client.apiKey, 'content-type': 'application/json', ...headers },
    payload,
  });

// Which ends the process when its thread is stopped while it works.
it('the service is loaded without the addon of argon2', async () => {
  const script = `
    process.report.excludeNetwork = true;
    await import(${JSON.stringify(new URL('../../src/api/app.ts', import.meta.url))});
    console.log(process.report.getReport().sharedObjects.join());`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script]);
  expect(stdout).toMatch(/libc/);
  expect(stdout).not.toMatch(/argon2/);
});

describe('the limit of a body', () => {
  const ROUTES = [
    ['/strategies/validate', 'bodyBytes'],
    ['/strategies', 'bodyBytes'],
    ['/backtests/batch', 'batchBytes'],
    ['/backtests', 'configBytes'],
    ['/sweeps', 'configBytes'],
    ['/system-strategies/golden_cross/copy', 'actionBytes'],
    ['/backtests/01a1fc4d-9d3e-7ebf-8c33-03e134b5943e/cancel', 'actionBytes'],
  ] as const;

  it.each(TIERS)('is that of the route on the %s tier, and is refused by name', async (tier) => {
    const client = await api.client({ tier });
    for (const [path, limitName] of ROUTES) {
      const limit = TIER_LIMITS[tier][limitName];
      const over = await send(client, path, paddedTo(limit + 1, {}));
      expect([path, over.status, over.body]).toMatchObject([
        path,
        413,
        { code: 'PAYLOAD_TOO_LARGE', limit, limitName, tier },
      ]);
      const within = await send(client, path, paddedTo(limit, {}));
      expect([path, within.status]).not.toEqual([path, 413]);
    }
  });

  it('is kilobytes for the request of a key', async () => {
    const client = await api.client();
    const token = await api.token(client.workspaceId, 'owner');
    const reply = await api.send({
      method: 'POST',
      url: `/workspaces/${client.workspaceId}/api-keys`,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      payload: paddedTo(40_000, { name: 'x' }),
    });
    expect([reply.status, reply.body.limitName, reply.body.limit]).toEqual([413, 'actionBytes', 32_768]);
  });

  it('is published with the other limits of the tier', async () => {
    const client = await api.client({ tier: 'free' });
    const { body } = await client.get('/capabilities?sections=limits');
    expect(body.limits).toMatchObject({ bodyBytes: 1_048_576, batchBytes: 262_144, configBytes: 32_768 });
  });
});

describe('a large request', () => {
  it('is answered as a small one is', async () => {
    const client = await api.client();
    const body = { name: 'Large', settings: {}, strategyAst: strategy() };
    const made = await send(client, '/strategies', paddedTo(200_000, body), { 'x-request-id': 'mine' });
    expect([made.status, made.headers['x-request-id']]).toEqual([201, 'mine']);
    expect(made.headers.location).toBe(`/public/v1/strategies/${made.body.id}`);
    const small = await client.post('/strategies', body);
    expect(Object.keys(made.headers).toSorted()).toEqual(Object.keys(small.headers).toSorted());
    expect(await client.get(`/strategies/${made.body.id}`)).toMatchObject({ status: 200, body: { name: 'Large' } });
    const invalid = await send(client, '/strategies', paddedTo(200_000, { name: '' }));
    expect([invalid.status, invalid.body.code]).toEqual([400, 'VALIDATION_FAILED']);
    const broken = await send(client, '/strategies', `[${'1,'.repeat(50_000)}`);
    expect([broken.status, broken.body.code]).toEqual([400, 'MALFORMED_JSON']);
  });

  it('is created once under an Idempotency-Key', async () => {
    const client = await api.client();
    const text = paddedTo(100_000, { name: 'Once', settings: {}, strategyAst: strategy() });
    const first = await send(client, '/strategies', text, { 'idempotency-key': 'k' });
    const second = await send(client, '/strategies', text, { 'idempotency-key': 'k' });
    expect([first.status, second.status, second.headers['idempotency-replayed']]).toEqual([201, 201, 'true']);
    expect(second.body.id).toBe(first.body.id);
  });

  it('belongs to its own caller, whatever headers it brings', async () => {
    const [one, other] = [await api.client({ role: 'viewer' }), await api.client()];
    const text = paddedTo(100_000, { name: 'x', settings: {}, strategyAst: strategy() });
    const forged = { 'x-heavy-request': '1', 'x-caller': other.workspaceId };
    expect((await send(one, '/strategies', text, forged)).body).toMatchObject({ code: 'INSUFFICIENT_ROLE' });
    expect((await send(other, '/strategies', text, forged)).status).toBe(201);
  });

  it('does not hold up the small ones, and takes turns with those of other workspaces', async () => {
    const [busy, neighbor] = [await api.client(), await api.client()];
    const text = paddedTo(500_000, { settings: {}, strategyAst: strategy() });
    const order: string[] = [];
    const note = (who: string) => () => void order.push(who);
    const many = Array.from({ length: 30 }, () => send(busy, '/strategies/validate', text).then(note('busy')));
    const one = send(neighbor, '/strategies/validate', text).then(note('neighbor'));
    await Promise.all([...many, one]);
    expect(order.indexOf('neighbor')).toBeLessThan(10);
  });

  it('is refused when the workspace sends more at the same time than four of its largest bodies', async () => {
    const client = await api.client({ tier: 'free' });
    const text = paddedTo(TIER_LIMITS.free.bodyBytes, { settings: {}, strategyAst: strategy() });
    const replies = await Promise.all(Array.from({ length: 12 }, () => send(client, '/strategies/validate', text)));
    const statuses = replies.map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([200, 429]));
    expect(replies.find(({ status }) => status === 429)?.headers['retry-after']).toBe('1');
    expect((await send(client, '/strategies/validate', text)).status).toBe(200);
  });
});

it('the thread answers a ping, and says what it commits before the answer', async () => {
  const client = await api.client();
  const { authentication } = api.app;
  const caller = await authentication.authenticateKey({
    headers: { 'x-api-key': client.apiKey },
  } as never);
  const thread = new Worker(new URL('../../src/api/heavyThread.ts', import.meta.url), {
    workerData: { config: api.services.config, databaseUrl: urlOf(api.services.sql) },
  });
  const said: unknown[] = [];
  thread.on('message', (message: FromThread) =>
    said.push(typeof message === 'string' ? message : Object.keys(message)),
  );
  await eventually(() => said.includes('ready'));
  thread.postMessage('ping');
  const request = {
    id: 7,
    method: 'POST',
    url: '/public/v1/strategies',
    headers: { 'content-type': 'application/json' },
    caller,
    member: null,
    body: Buffer.from(JSON.stringify({ name: 'Committed', settings: {}, strategyAst: strategy() })),
  };
  thread.postMessage({ ...request, stop: new Int32Array(new SharedArrayBuffer(4)) });
  const answered = ['id', 'status', 'headers', 'body'];
  await eventually(() => said.length === 4);
  expect(said).toEqual(['ready', 'pong', ['committing'], answered]);
  // Its client has gone before its turn.
  thread.postMessage({ ...request, id: 8, stop: new Int32Array(new SharedArrayBuffer(4)).fill(1) });
  await eventually(() => said.length === 5);
  expect(said.slice(4)).toEqual([answered]);
  expect((await client.get('/strategies')).body.data).toHaveLength(1);
  const ended = once(thread, 'exit');
  thread.postMessage('close');
  await ended;
});

describe('the share of the event loop', () => {
  it('is spent by long work, and comes back', () => {
    let time = 0;
    const now = (): number => time;
    const share = createLoopShare(now, now);
    const work = (id: string, ms: number): void => share.measure(id, () => void (time += ms));
    work('a', 90);
    expect(share.isSpent('a')).toBe(false);
    work('a', 20);
    expect(share.isSpent('a')).toBe(true);
    expect(share.isSpent('b')).toBe(false);
    time += 2_000;
    expect(share.isSpent('a')).toBe(false);
  });

  it('does not count how long the thread has waited for a core', () => {
    let time = 0;
    let used = 0;
    const share = createLoopShare(
      () => time,
      () => used,
    );
    share.measure('a', () => {
      time += 500;
      used += 10;
    });
    expect(share.isSpent('a')).toBe(false);
  });

  it('is small for each once all together have used a lot, and enough for a few small requests', () => {
    let time = 0;
    const now = (): number => time;
    const share = createLoopShare(now, now);
    for (const id of ['a', 'b', 'c', 'd']) share.measure(id, () => void (time += 60));
    share.measure('idle', () => void (time += 15));
    expect(['a', 'b', 'c', 'd', 'idle'].map((id) => share.isSpent(id))).toEqual([true, true, true, true, false]);
  });
});
