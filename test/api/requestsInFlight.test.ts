// Requests in flight: how many of one workspace are worked on at the same time.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildApp } from '../../src/api/app.ts';
import { requireKey } from '../../src/api/http/auth/authentication.ts';
import { waitFor } from '../../src/api/http/waiting.ts';
import type { App } from '../../src/api/services.ts';
import { TIER_LIMITS } from '../../src/tiers.ts';
import { createApiApp, type ApiApp, type Client } from '../support/apiApp.ts';
import { eventually } from '../support/eventually.ts';

const LIMIT = TIER_LIMITS.free.requestsInFlight;

let api: ApiApp;
let app: App;
/** Requests to `/held` that have begun; each is answered when its entry is called. */
let held: (() => void)[];
/** Those that were let through, whether their turn has come or not. */
let admitted = 0;
/** Ends the requests to `/waiting`. */
let waited: AbortController;
/** How often requests to `/waiting` have looked whether there is anything to wait for. */
let looks = 0;
beforeEach(() => {
  waited = new AbortController();
  looks = 0;
});
beforeAll(async () => {
  api = await createApiApp({ RATE_LIMITS: 'on' });
  app = await buildApp(api.services, {
    registerMore: async (probed) => {
      const admit = async () => void admitted++;
      probed.get('/held', { onRequest: [requireKey(), admit] }, async () => {
        await new Promise<void>((resolve) => held.push(resolve));
        return {};
      });
      probed.get('/waiting', { onRequest: requireKey() }, async (request) => {
        const { notifications } = probed;
        const id = 'nothing';
        const options = { request, notifications, id, timeoutMs: 60_000, signals: [waited.signal] };
        await waitFor(options, async () => void looks++);
        return {};
      });
    },
  });
});
afterAll(async () => {
  await app.close();
  await api[Symbol.asyncDispose]();
});

const get = (client: Client, url: string) => app.inject({ url, headers: { 'x-api-key': client.apiKey } });
/** So many requests of a workspace in flight, of which four have begun, until `release` is called. */
async function hold(client: Client, count: number) {
  held = [];
  admitted = 0;
  const answers = Array.from({ length: count }, () => get(client, '/held'));
  await eventually(() => admitted >= count);
  return {
    release: async () => {
      for (let next = 0; next < count; next++) {
        await eventually(() => held.length > next);
        held[next]();
      }
      return Promise.all(answers);
    },
  };
}

describe('requests in flight', () => {
  it('are refused with Retry-After beyond what the tier allows a workspace, whichever key sends them', async () => {
    const client = await api.client({ tier: 'free' });
    const sameWorkspace = await api.client({ tier: 'free', workspaceId: client.workspaceId });
    const { release } = await hold(client, LIMIT);
    const refused = await get(sameWorkspace, '/public/v1');
    expect([refused.statusCode, refused.headers['retry-after'], refused.json()]).toMatchObject([
      429,
      '1',
      { code: 'RATE_LIMITED', retryable: true, limit: LIMIT, limitName: 'requestsInFlight', retryAfterSeconds: 1 },
    ]);
    await release();
    expect((await get(sameWorkspace, '/public/v1')).statusCode).toBe(200);
  });

  it('of one workspace do not count against another', async () => {
    const { release } = await hold(await api.client({ tier: 'free' }), LIMIT);
    expect((await get(await api.client({ tier: 'free' }), '/public/v1')).statusCode).toBe(200);
    await release();
  });

  it('are counted on the management API too', async () => {
    const client = await api.client({ tier: 'free' });
    const url = `/workspaces/${client.workspaceId}/api-keys`;
    const authorization = `Bearer ${await api.token(client.workspaceId, 'owner')}`;
    const { release } = await hold(client, LIMIT);
    expect((await app.inject({ url, headers: { authorization } })).statusCode).toBe(429);
    await release();
    expect((await app.inject({ url, headers: { authorization } })).statusCode).toBe(200);
  });

  it('are not counted while they wait for something to end', async () => {
    const client = await api.client({ tier: 'free' });
    const first = get(client, '/waiting');
    // Once more when the process listens for changes, which it does from its first wait on.
    await eventually(() => looks >= 2);
    const others = Array.from({ length: LIMIT - 1 }, () => get(client, '/waiting'));
    await eventually(() => looks > LIMIT);
    const waiting = [first, ...others, get(client, '/waiting')];
    await eventually(() => looks > LIMIT + 1);
    const { release } = await hold(client, LIMIT);
    expect((await get(client, '/public/v1')).statusCode).toBe(429);
    expect((await release()).map(({ statusCode }) => statusCode)).toEqual(Array.from({ length: LIMIT }, () => 200));
    waited.abort();
    expect(new Set((await Promise.all(waiting)).map(({ statusCode }) => statusCode))).toEqual(new Set([200]));
    expect((await get(client, '/public/v1')).statusCode).toBe(200);
  });

  it('stay counted when a request that waits for something is closed', async () => {
    const client = await api.client({ tier: 'free' });
    const closed = new AbortController();
    const headers = { 'x-api-key': client.apiKey };
    const waiting = app.inject({ url: '/waiting', headers, signal: closed.signal }).catch(() => null);
    await eventually(() => looks >= 1);
    const { release } = await hold(client, LIMIT);
    closed.abort();
    await waiting;
    expect((await get(client, '/public/v1')).statusCode).toBe(429);
    expect((await release()).map(({ statusCode }) => statusCode)).toEqual(Array.from({ length: LIMIT }, () => 200));
    expect((await get(client, '/public/v1')).statusCode).toBe(200);
  });

  it('are worked on four at a time, those of another workspace beside them', async () => {
    const [client, other] = [await api.client({ tier: 'free' }), await api.client({ tier: 'free' })];
    held = [];
    const answers = Array.from({ length: 12 }, () => get(client, '/held'));
    await eventually(() => held.length >= 4);
    expect((await get(other, '/public/v1')).statusCode).toBe(200);
    expect(held.length).toBe(4);
    held[0]();
    await eventually(() => held.length >= 5);
    for (let next = 1; next < 12; next++) {
      await eventually(() => held.length > next);
      held[next]();
    }
    expect(new Set((await Promise.all(answers)).map(({ statusCode }) => statusCode))).toEqual(new Set([200]));
  });

  it('lose their turn when their client goes', async () => {
    const client = await api.client({ tier: 'free' });
    held = [];
    const gone = new AbortController();
    const aborted = Array.from({ length: 8 }, () =>
      app.inject({ url: '/held', headers: { 'x-api-key': client.apiKey }, signal: gone.signal }).catch(() => null),
    );
    await eventually(() => held.length >= 4);
    gone.abort();
    await Promise.all(aborted);
    expect((await get(client, '/public/v1')).statusCode).toBe(200);
    for (const resolve of held) resolve();
  });

  it('are not limited under RATE_LIMITS=off', async () => {
    const unlimited = await buildApp({ ...api.services, config: { ...api.services.config, rateLimits: false } });
    const { apiKey } = await api.client({ tier: 'free' });
    const answers = Array.from({ length: 4 * LIMIT }, () =>
      unlimited.inject({ url: '/public/v1', headers: { 'x-api-key': apiKey } }),
    );
    expect(new Set((await Promise.all(answers)).map(({ statusCode }) => statusCode))).toEqual(new Set([200]));
    await unlimited.close();
  });
});
