import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildApp } from '../../src/api/app.ts';
import { createRateLimits } from '../../src/api/rateLimits.ts';
import { createApiApp, type ApiApp } from '../support/apiApp.ts';

let api: ApiApp;
beforeAll(async () => {
  api = await createApiApp({ RATE_LIMITS: 'on' });
});
afterAll(() => api[Symbol.asyncDispose]());

/** A reply that remembers its headers. */
const reply = () => {
  const headers: Record<string, string> = {};
  return { headers, header: (name: string, value: string) => void (headers[name] = value) };
};
const NOON = Date.UTC(2026, 0, 1, 12);
/** `count` requests; how many were let through, and the headers of the last. */
function charge(limits: ReturnType<typeof createRateLimits>, keyId: string, count: number) {
  let passed = 0;
  const last = reply();
  for (let index = 0; index < count; index++) {
    try {
      limits.charge({ keyId, tier: 'free' }, last as never);
      passed++;
    } catch (error) {
      expect(error).toMatchObject({ code: 'RATE_LIMITED' });
    }
  }
  return { passed, headers: last.headers };
}

describe('rate limits', () => {
  test('a free key has 600 requests a minute, and headers tell what is left', () => {
    const limits = createRateLimits(api.services, () => NOON + 15_000);
    expect(charge(limits, 'a', 1).headers).toEqual({
      'ratelimit-policy': '"minute";q=600;w=60',
      ratelimit: '"minute";r=599;t=45',
    });
    expect(charge(limits, 'a', 700).passed).toBe(599);
    expect(charge(limits, 'a', 1).headers.ratelimit).toBe('"minute";r=0;t=45');
    expect(charge(limits, 'b', 1).passed).toBe(1);
  });

  test('the next minute starts anew', () => {
    let time = NOON;
    const limits = createRateLimits(api.services, () => time);
    expect(charge(limits, 'a', 700).passed).toBe(600);
    time += 59_999;
    expect(charge(limits, 'a', 1).passed).toBe(0);
    time += 1;
    expect(charge(limits, 'a', 700).passed).toBe(600);
  });

  test('two processes share the minute once they have settled', async () => {
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

  test('requests that come while a settlement is under way are neither lost nor counted twice', async () => {
    const limits = createRateLimits(api.services, () => NOON + 240_000);
    charge(limits, 'busy', 100);
    const settling = limits.settle();
    charge(limits, 'busy', 50);
    await settling;
    await limits.settle();
    await limits.settle();
    expect(charge(limits, 'busy', 600).passed).toBe(450);
  });

  test('without a database the limit holds for this process, and nothing is forgotten', async () => {
    const sql = Object.assign(() => Promise.reject(new Error('away')), {}) as never;
    const limits = createRateLimits({ sql, log: api.services.log }, () => NOON);
    charge(limits, 'a', 500);
    await limits.settle();
    expect(charge(limits, 'a', 500).passed).toBe(100);
  });

  test('over HTTP: 429 RATE_LIMITED with Retry-After after authentication and before scope, and another key is not touched', async () => {
    const client = await api.client({ tier: 'free', scopes: ['strategies_read'] });
    const other = await api.client({ tier: 'free', workspaceId: client.workspaceId });
    let limited = await client.get('');
    // A minute may turn while we count, once.
    for (let count = 0; count < 1_300 && limited.status !== 429; count++) limited = await client.get('');
    expect(limited.body).toMatchObject({ code: 'RATE_LIMITED', retryable: true, limit: 600 });
    expect(Number(limited.headers['retry-after'])).toBeGreaterThan(0);
    expect(Number(limited.headers['retry-after'])).toBeLessThanOrEqual(60);
    expect(limited.headers.ratelimit).toMatch(/^"minute";r=0;t=\d+$/);
    const scope = await client.get('/workspace');
    expect([429, 403]).toContain(scope.status);
    expect((await other.get('')).status).toBe(200);
    const bad = await api.send({ url: '/public/v1', headers: { 'x-api-key': 'nonsense' } });
    expect(bad.status).toBe(401);
    expect(bad.headers.ratelimit).toBeUndefined();
  });

  test('RATE_LIMITS=off counts nothing', async () => {
    const app = await buildApp({ ...api.services, config: { ...api.services.config, rateLimits: false } });
    const client = await api.client({ tier: 'free' });
    const answer = await app.inject({ url: '/public/v1', headers: { 'x-api-key': client.apiKey } });
    expect(answer.statusCode).toBe(200);
    expect(answer.headers.ratelimit).toBeUndefined();
    await app.close();
  });
});
