import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { buildApp } from '../../src/api/app.ts';
import { createRateLimits } from '../../src/api/http/rateLimits.ts';
import { createApiApp } from '../support/apiApp.ts';

const api = await createApiApp({ RATE_LIMITS: 'on' });
afterAll(() => api[Symbol.asyncDispose]());
afterEach(() => void vi.useRealTimers());

/** A reply that remembers its headers. */
const reply = () => {
  const headers: Record<string, string> = {};
  return { headers, header: (name: string, value: string) => void (headers[name] = value) };
};
const NOON = Date.UTC(2026, 0, 1, 12);
/** `count` requests; how many were let through, and the headers of the last. */
function charge(limits: ReturnType<typeof createRateLimits>, id: string, count: number, workspaceId = id) {
  let passed = 0;
  const last = reply();
  for (let index = 0; index < count; index++) {
    try {
      limits.charge({ id, workspaceId, tier: 'free' }, last as never);
      passed++;
    } catch (error) {
      expect(error).toMatchObject({ code: 'RATE_LIMITED' });
    }
  }
  return { passed, headers: last.headers };
}

describe('the rate limit', () => {
  it('allows a free key 600 requests per minute, and headers state what is left', () => {
    const limits = createRateLimits(api.services, () => NOON + 15_000);
    expect(charge(limits, 'a', 1).headers).toEqual({
      'ratelimit-policy': '"minute";q=600;w=60',
      ratelimit: '"minute";r=599;t=45',
    });
    expect(charge(limits, 'a', 700).passed).toBe(599);
    expect(charge(limits, 'a', 1).headers.ratelimit).toBe('"minute";r=0;t=45');
    expect(charge(limits, 'b', 1).passed).toBe(1);
  });

  it('allows a workspace three times as many, whatever its number of keys', () => {
    const limits = createRateLimits(api.services, () => NOON + 15_000);
    const passed = ['k1', 'k2', 'k3', 'k4', 'k5'].map((key) => charge(limits, key, 500, 'w').passed);
    expect(passed).toEqual([500, 500, 500, 300, 0]);
    expect(charge(limits, 'k5', 1, 'w').headers.ratelimit).toBe('"minute";r=0;t=45');
    expect(charge(limits, 'other', 1, 'v').passed).toBe(1);
  });

  it('refuses failed authentications of one address after 300 per minute, and nothing else', () => {
    const limits = createRateLimits(api.services, () => NOON + 15_000);
    for (let count = 0; count < 300; count++) limits.chargeFailure('10.0.0.1');
    expect(() => limits.chargeFailure('10.0.0.1')).toThrow(/failed authentications/);
    expect(() => limits.chargeFailure('10.0.0.2')).not.toThrow();
    expect(charge(limits, 'k', 1).passed).toBe(1);
  });

  it('answers 401 until then, 429 afterwards, and still serves a right key from the same address', async () => {
    // Only the clock stands still: the minute cannot turn while we count.
    vi.useFakeTimers({ toFake: ['Date'], now: NOON + 600_000 });
    const client = await api.client({ tier: 'free' });
    const statuses: number[] = [];
    for (let count = 0; count < 302; count++)
      statuses.push((await api.send({ url: '/public/v1/workspace', headers: { 'x-api-key': 'nonsense' } })).status);
    expect([statuses[0], statuses.at(-1)]).toEqual([401, 429]);
    expect((await client.get('/workspace')).status).toBe(200);
    const url = `/workspaces/${client.workspaceId}/api-keys`;
    expect((await api.send({ url, headers: { authorization: 'Bearer nonsense' } })).status).toBe(429);
  });

  it('counts requests of the management API', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: NOON + 720_000 });
    const client = await api.client({ tier: 'free' });
    const token = await api.token(client.workspaceId, 'owner');
    const list = () =>
      api.send({ url: `/workspaces/${client.workspaceId}/api-keys`, headers: { authorization: `Bearer ${token}` } });
    expect((await list()).headers.ratelimit).toMatch(/^"minute";r=599;/);
    expect((await list()).headers.ratelimit).toMatch(/^"minute";r=598;/);
  });

  it('starts over in the next minute', () => {
    let time = NOON;
    const limits = createRateLimits(api.services, () => time);
    expect(charge(limits, 'a', 700).passed).toBe(600);
    time += 59_999;
    expect(charge(limits, 'a', 1).passed).toBe(0);
    time += 1;
    expect(charge(limits, 'a', 700).passed).toBe(600);
  });

  it('is shared by two processes once they have settled', async () => {
    const time = NOON + 120_000;
    const [one, two] = [0, 1].map(() => createRateLimits(api.services, () => time));
    expect(charge(one, 'shared', 400).passed).toBe(400);
    expect(charge(two, 'shared', 150).passed).toBe(150);
    await one.settle();
    await two.settle();
    expect(charge(two, 'shared', 100).passed).toBe(50);
    await two.settle();
    charge(one, 'shared', 1);
    await one.settle();
    expect(charge(one, 'shared', 10).passed).toBe(0);
  });

  it('counts requests during a settlement exactly once', async () => {
    const limits = createRateLimits(api.services, () => NOON + 240_000);
    charge(limits, 'busy', 100);
    const settling = limits.settle();
    charge(limits, 'busy', 50);
    await settling;
    await limits.settle();
    await limits.settle();
    expect(charge(limits, 'busy', 600).passed).toBe(450);
  });

  it('holds per process without a database, and forgets nothing', async () => {
    const sql = Object.assign(() => Promise.reject(new Error('away')), {}) as never;
    const limits = createRateLimits({ sql, log: api.services.log }, () => NOON);
    charge(limits, 'a', 500);
    await limits.settle();
    expect(charge(limits, 'a', 500).passed).toBe(100);
  });

  it('answers 429 with Retry-After before it checks scopes, and does not affect another key', async () => {
    // Only the clock stands still: the minute cannot turn while we count, and Postgres still answers.
    vi.useFakeTimers({ toFake: ['Date'], now: NOON + 360_000 + 15_000 });
    const client = await api.client({ tier: 'free', scopes: ['strategies_read'] });
    const other = await api.client({ tier: 'free', workspaceId: client.workspaceId });
    for (let count = 0; count < 600; count++) expect((await client.get('')).status).toBe(200);
    const limited = await client.get('');
    expect(limited.status).toBe(429);
    expect(limited.body).toMatchObject({ code: 'RATE_LIMITED', retryable: true, limit: 600 });
    expect(limited.headers['retry-after']).toBe('45');
    expect(limited.headers.ratelimit).toBe('"minute";r=0;t=45');
    expect((await client.get('/workspace')).status).toBe(429);
    expect((await other.get('')).status).toBe(200);
    vi.setSystemTime(NOON + 420_000);
    expect((await client.get('/workspace')).status).toBe(403);
  });

  it('does not count a request without a valid key', async () => {
    const bad = await api.send({ url: '/public/v1', headers: { 'x-api-key': 'nonsense' } });
    expect(bad.status).toBe(401);
    expect(bad.headers.ratelimit).toBeUndefined();
  });

  it('counts nothing under RATE_LIMITS=off', async () => {
    const app = await buildApp({ ...api.services, config: { ...api.services.config, rateLimits: false } });
    const client = await api.client({ tier: 'free' });
    const answer = await app.inject({ url: '/public/v1', headers: { 'x-api-key': client.apiKey } });
    expect(answer.statusCode).toBe(200);
    expect(answer.headers.ratelimit).toBeUndefined();
    await app.close();
  });
});
