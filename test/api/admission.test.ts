// Admission: every route that there is has a limit, so that a new one without any fails here.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyReply, InjectOptions } from 'fastify';
import { Gauge } from 'prom-client';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ProblemError } from '../../src/api/http/problems.ts';
import { createApiApp, type ApiApp, type Client } from '../support/apiApp.ts';

/** What an orchestrator and a monitor ask. Nothing else may be without a limit. */
const PROBES = ['/health', '/healthz', '/metrics', '/readyz'];
const SPENT_ADDRESS = '192.0.2.1';

let api: ApiApp;
let client: Client;
let neighbor: Client;
let token: string;
beforeAll(async () => {
  // Only the clock stands still: the minute cannot turn.
  vi.useFakeTimers({ toFake: ['Date'] });
  api = await createApiApp({ RATE_LIMITS: 'on' });
  client = await api.client({ tier: 'free' });
  neighbor = await api.client({ tier: 'free' });
  token = await api.token(client.workspaceId, 'owner');
  const { rateLimits } = api.app;
  const reply = { header: () => {} } as unknown as FastifyReply;
  let keys = 0;
  spend(() => rateLimits.charge({ id: `key ${keys++}`, workspaceId: client.workspaceId, tier: 'free' }, reply));
  spend(() => rateLimits.chargeOpen(SPENT_ADDRESS));
});
afterAll(async () => {
  vi.useRealTimers();
  await api[Symbol.asyncDispose]();
});

/** Uses up what a minute allows. */
function spend(charge: () => void): void {
  for (let count = 0; count < 10_000; count++) {
    try {
      charge();
    } catch (error) {
      if (error instanceof ProblemError && error.code === 'RATE_LIMITED') return;
      throw error;
    }
  }
  throw new Error('There is no limit.');
}

/** Asks with the key, or the token, of the workspace that has used up its minute, from an address that has too. */
const ask = (options: InjectOptions & { readonly url: string }) =>
  api.send({
    ...options,
    remoteAddress: SPENT_ADDRESS,
    headers: options.url.startsWith('/workspaces/')
      ? { authorization: `Bearer ${token}` }
      : { 'x-api-key': client.apiKey },
  });

describe('a workspace and an address that have used up their minute', () => {
  it('get 429 from every route but the probes', async () => {
    const calls = [...api.app.knownRoutes].flatMap(([url, { methods }]) =>
      [...methods].map((method) => ({
        name: `${method} ${url}`,
        method: method as 'GET',
        url: url
          .replace(':workspaceId', client.workspaceId)
          .replaceAll(/:[A-Za-z]+/g, randomUUID())
          .replace('*', 'x'),
      })),
    );
    expect(calls.length).toBeGreaterThan(70);
    const answers = await Promise.all(
      calls.map(async ({ name, method, url }) => [name, (await ask({ method, url })).status] as const),
    );
    const unlimited = answers.filter(([, status]) => status !== 429).map(([name]) => name);
    expect(unlimited.toSorted()).toEqual(PROBES.flatMap((url) => [`GET ${url}`, `HEAD ${url}`]).toSorted());
  });

  it('get 429 from paths and methods that do not exist', async () => {
    for (const [method, url] of [
      ['GET', '/wp-admin'],
      ['OPTIONS', '/public/v1/strategies'],
      ['PUT', '/mcp'],
      ['POST', '/docs'],
    ] as const) {
      const reply = await ask({ method, url });
      expect([method, url, reply.status, Number(reply.headers['retry-after']) > 0]).toEqual([method, url, 429, true]);
    }
  });

  it('leave the keys of others from the same address alone', async () => {
    const headers = { 'x-api-key': neighbor.apiKey };
    const reply = await api.send({ url: '/public/v1/workspace', remoteAddress: SPENT_ADDRESS, headers });
    expect(reply.status).toBe(200);
  });
});

describe('probes', () => {
  it('share an answer that is being made, however many ask for it', async () => {
    let collected = 0;
    const collect = async (): Promise<void> => {
      collected++;
      await sleep(50);
    };
    api.app.metrics.registerMetric(new Gauge({ name: 'test_collected', help: 'Counts.', collect, registers: [] }));
    const replies = await Promise.all(Array.from({ length: 100 }, () => api.send({ url: '/metrics' })));
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(100);
    expect(collected).toBe(1);
  });
});
