// Slow bodies: no body, whatever it holds, takes long to accept or refuse, or is answered with 500.
import { afterAll, describe, expect, it } from 'vitest';
import { largeBodies, type OpenApi } from '../hostile/largeBodies.ts';
import { slowBodies } from '../hostile/slowBodies.ts';
import { createApiApp } from '../support/apiApp.ts';
import { scaled } from '../support/scale.ts';

/**
 * The longest that another request had to wait for this thread, on which all of the work is done here, in processor
 * time: waiting for a core does not add to it.
 */
const MOST_MS = 250;
const SEED = Number(process.env.CANDLEPOOL_SEED ?? 20_261_124);
const BODIES = scaled(600);
const BYTES = 4_000_000;

const api = await createApiApp();
const client = await api.client();
afterAll(() => api[Symbol.asyncDispose]());
const { body: copied } = await client.post('/system-strategies/golden_cross/copy', {});
const { body: version } = await client.post(`/strategies/${copied.id}/versions/finalize`, { version: 1 });
const token = await api.token(client.workspaceId, 'owner');

async function answerTo(method: 'POST', url: string, payload: Buffer | string) {
  const credentials = url.startsWith('/workspaces/')
    ? { authorization: `Bearer ${token}` }
    : { 'x-api-key': client.apiKey };
  const headers = { 'content-type': 'application/json', ...credentials };
  const turns = watchTurns();
  const { status } = await api.send({ method, url, headers, payload });
  return { status, ms: turns.longestMs() };
}

/** Measures the turns of the event loop until `longestMs` is called. */
function watchTurns() {
  let longest = 0;
  let isOver = false;
  let last = process.threadCpuUsage();
  const look = (): void => {
    const { user, system } = process.threadCpuUsage(last);
    longest = Math.max(longest, user + system);
    last = process.threadCpuUsage();
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  return {
    longestMs: () => {
      isOver = true;
      look();
      return longest / 1_000;
    },
  };
}

describe('a body', () => {
  it.each(slowBodies(version.id).map((each) => [each.name, each] as const))(
    'is answered soon, and below 500: %s',
    async (_name, { path, body }) => {
      // The first time includes compiling the code.
      await answerTo('POST', `/public/v1${path}`, body.subarray(0, 2));
      const { status, ms } = await answerTo('POST', `/public/v1${path}`, body);
      expect(status).toBeLessThan(500);
      expect(ms).toBeLessThan(MOST_MS);
    },
  );

  it(`is answered soon, and below 500: ${BODIES} that grew at random places`, async () => {
    const openapi = (await api.send({ url: '/public/v1/openapi.json' })).body as OpenApi;
    const slow: string[] = [];
    for (const { method, path, body } of largeBodies(openapi, SEED, BYTES).take(BODIES)) {
      const url = path.replace('{workspaceId}', client.workspaceId).replaceAll(/\{\w+\}/g, copied.id);
      const { status, ms } = await answerTo(method as 'POST', url, body);
      if (status >= 500 || ms > MOST_MS)
        slow.push(`${method} ${path} ${ms.toFixed(0)} ms, ${status}: ${body.slice(0, 300)}`);
    }
    expect(slow, `seed ${SEED}`).toEqual([]);
  });
});

it('the answer to a batch of a thousand wrong items names some fault of each, and has a few megabytes', async () => {
  const { body } = slowBodies(version.id).find(({ name }) => name === 'eighty unknown members, a thousand times')!;
  const reply = await client.post('/backtests/batch', JSON.parse(String(body)));
  const counts = (reply.body.data as { error: { issues: unknown[] } }[]).map(({ error }) => error.issues.length);
  expect([counts.length, counts[0], counts.at(-1)]).toEqual([1_000, 80, 1]);
  expect(reply.text.length).toBeLessThan(3_000_000);
});
