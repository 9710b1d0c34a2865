// The thread of heavy requests when it stops answering: it is ended and replaced, the request that it was working on
// fails by name, and those of other workspaces are answered. Over HTTP, with a thread that blocks when it is asked to.
import { afterAll, describe, expect, it } from 'vitest';
import type { NewHeavyRequest } from '../../src/api/http/heavyMessages.ts';
import { startHeavyRequests } from '../../src/api/http/heavyThreads.ts';
import { silentSeconds, TICK_MS } from '../../src/api/http/threadWatch.ts';
import { createApiApp, type Client, type Reply } from '../support/apiApp.ts';
import { eventually } from '../support/eventually.ts';

const THREAD = new URL('../support/blockableThread.ts', import.meta.url);
/** A thread may be silent for 1 s here, and for 5 in operation. */
const tickMs = 100;
const api = await createApiApp({}, { module: THREAD, tickMs });
afterAll(() => api[Symbol.asyncDispose]());

/** Large enough to be left to the thread, which reads the name. */
const send = (client: Client, name: string): Promise<Reply> =>
  client.post('/strategies/validate', { name, filler: 'x'.repeat(20_000) });
const ready = async () => (await api.send({ url: '/readyz' })).body as Record<string, never>;
const replacements = async (): Promise<number> => {
  const { text } = await api.send({ url: '/metrics' });
  return Number(/^candlepool_heavy_thread_replacements_total (\d+)$/m.exec(text)?.[1]);
};

describe('a thread of heavy requests that stops answering', () => {
  it('may be silent for 5 s in operation', () => {
    expect([silentSeconds(TICK_MS), silentSeconds(tickMs)]).toEqual([5, 1]);
  });

  it('is replaced, fails only the request that it was working on, and shows in /readyz and metrics', async () => {
    const [blocking, neighbor] = [await api.client(), await api.client()];
    expect(await send(neighbor, 'first')).toMatchObject({ status: 200, body: { name: 'first' } });
    expect(await replacements()).toBe(0);
    const blocked = send(blocking, 'blocks');
    // Begins before the other one blocks, and is therefore in the thread as well.
    const waits = send(neighbor, 'waits');
    const behind = send(neighbor, 'behind');
    const degraded = await eventually(async () => (await ready()).status === 'degraded' && ready());
    expect(degraded.heavyRequests).toMatchObject({ isAnswering: false });
    // Small requests are answered meanwhile.
    expect((await neighbor.get('/workspace')).status).toBe(200);
    expect(await waits).toMatchObject({ status: 200, body: { name: 'waits' } });
    expect(await behind).toMatchObject({ status: 200, body: { name: 'behind' } });
    const { status, body, headers } = await blocked;
    expect([status, body.code, headers['retry-after']]).toEqual([503, 'REQUEST_STOPPED', '60']);
    expect(body.message).toMatch(
      /^The request was stopped: it had been computed for more than 1 s\. Nothing was stored/,
    );
    // Once beside the other, and once more alone.
    expect(await replacements()).toBe(2);
    expect(await ready()).toMatchObject({ status: 'ok', heavyRequests: { isAnswering: true, replacements: 2 } });
  });

  it('refuses large requests of the workspace that has stopped it, and no small ones', async () => {
    const [blocking, neighbor] = [await api.client(), await api.client()];
    expect((await send(blocking, 'blocks')).body.code).toBe('REQUEST_STOPPED');
    expect(await send(blocking, 'next')).toMatchObject({ status: 429, body: { code: 'RATE_LIMITED' } });
    expect((await blocking.get('/workspace')).status).toBe(200);
    expect((await send(neighbor, 'next')).status).toBe(200);
  });

  it('does not repeat a request that may have stored something', async () => {
    const [blocking, neighbor] = [await api.client(), await api.client()];
    const committed = send(neighbor, 'commits');
    const blocked = send(blocking, 'blocks');
    expect(await committed).toMatchObject({ status: 503, body: { code: 'UNAVAILABLE' } });
    expect((await committed).body.message).toContain('may have stored something');
    expect((await blocked).body.code).toBe('REQUEST_STOPPED');
  });
});

describe('a request whose client has gone', () => {
  const requestOf = (name: string): NewHeavyRequest => ({
    method: 'POST',
    route: '/x',
    url: '/x',
    headers: {},
    caller: null,
    member: null,
    body: Buffer.from(JSON.stringify({ name })),
  });

  it('is dropped when it has not begun, and told to stop when it has', async () => {
    await using queue = startHeavyRequests(api.services, Promise.resolve(), { module: THREAD });
    const [running, waiting] = [new AbortController(), new AbortController()];
    const first = queue.answer('a', requestOf('stops'), running.signal);
    const second = queue.answer('a', requestOf('second'), waiting.signal);
    await eventually(() => queue.state().active === 1);
    expect(queue.state()).toMatchObject({ active: 1, waiting: 1 });
    waiting.abort();
    await expect(second).rejects.toThrow('The client has gone.');
    expect(queue.state()).toMatchObject({ active: 1, waiting: 0 });
    running.abort();
    expect((await first).status).toBe(200);
    expect(queue.state()).toMatchObject({ active: 0, replacements: 0 });
  });
});
