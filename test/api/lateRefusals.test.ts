// Late refusals: who goes on asking after 60 refusals in a minute waits half a second for each further one.
import fastify from 'fastify';
import { expect, it } from 'vitest';
import { answerFailures } from '../../src/api/http/failures.ts';
import { LateRefusals } from '../../src/api/http/lateRefusals.ts';
import type { ProblemCode } from '../../src/api/http/problemTable.ts';
import { problem } from '../../src/api/http/problems.ts';
import type { App } from '../../src/api/services.ts';

/** Refuses every request with the code in its path. */
function refuser() {
  const sleeps: number[] = [];
  const clock = { now: 0 };
  const sleep = async (ms: number): Promise<void> => void sleeps.push(ms);
  const app = fastify({ trustProxy: true }) as unknown as App;
  answerFailures(app, new LateRefusals(sleep, () => clock.now));
  app.decorateRequest('caller', null as never);
  app.addHook('onRequest', async (request) => {
    const workspaceId = request.headers['x-workspace'];
    if (workspaceId !== undefined) request.caller = { workspaceId } as never;
  });
  app.get('/:code', async ({ params }) => {
    throw problem((params as { code: ProblemCode }).code);
  });
  const ask = async (times: number, headers: Record<string, string>, code: ProblemCode = 'RATE_LIMITED') => {
    for (let each = 0; each < times; each++) {
      const { statusCode } = await app.inject({ url: `/${code}`, headers });
      expect(statusCode).toBe(code === 'RATE_LIMITED' ? 429 : 404);
    }
  };
  return { ask, sleeps, clock };
}

it('refuses a workspace at once 60 times a minute, and late from then on', async () => {
  const { ask, sleeps, clock } = refuser();
  await ask(60, { 'x-workspace': 'one' });
  expect(sleeps).toEqual([]);
  await ask(3, { 'x-workspace': 'one' });
  expect(sleeps).toEqual([500, 500, 500]);
  await ask(60, { 'x-workspace': 'two' });
  expect(sleeps).toHaveLength(3);
  clock.now += 60_000;
  await ask(60, { 'x-workspace': 'one' });
  expect(sleeps).toHaveLength(3);
});

it('counts requests without a valid key by address, apart from those of workspaces at the same address', async () => {
  const { ask, sleeps } = refuser();
  await ask(61, { 'x-forwarded-for': '192.0.2.1' });
  expect(sleeps).toHaveLength(1);
  await ask(60, { 'x-forwarded-for': '192.0.2.2' });
  await ask(60, { 'x-forwarded-for': '192.0.2.1', 'x-workspace': 'one' });
  expect(sleeps).toHaveLength(1);
});

it('delays nothing but refusals for too many requests', async () => {
  const { ask, sleeps } = refuser();
  await ask(100, { 'x-workspace': 'one' }, 'NOT_FOUND');
  expect(sleeps).toEqual([]);
});
