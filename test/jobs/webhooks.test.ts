// Webhooks from the end of a run to the receiver, over the routes, the database and a worker: every run is told, once
// the receiver takes it, to its own workspace and to nobody else.
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { urlOf } from '../../src/db/connect.ts';
import { startWorker, type Worker } from '../../src/jobs/runner.ts';
import { createApiApp, type ApiApp, type Client } from '../support/apiApp.ts';
import { config } from '../support/backtestApi.ts';
import { eventually } from '../support/eventually.ts';
import { quiet } from '../support/queue.ts';
import { readyVersion } from '../support/sweepApi.ts';
import { startReceiver, status, type WebhookReceiver } from '../support/webhookReceiver.ts';

let api: ApiApp;
let worker: Worker;
beforeAll(async () => {
  api = await createApiApp({ WEBHOOKS_PRIVATE: 'on' });
  const { sql, catalogs } = api.services;
  const settings = { url: urlOf(sql), threads: 1, snapshots: () => catalogs, webhooksPrivate: true };
  worker = await startWorker(settings, quiet);
});
afterAll(async () => {
  await worker?.[Symbol.asyncDispose]();
  await api?.[Symbol.asyncDispose]();
});

const patch = ({ apiKey }: Client, path: string, payload: object) =>
  api.send({ method: 'PATCH', url: `/public/v1${path}`, headers: { 'x-api-key': apiKey }, payload });

async function createWebhook(client: Client, { url }: WebhookReceiver, more: object = {}) {
  const made = await client.post('/webhooks', { url, ...more });
  expect(made.status, made.text).toBe(201);
  return made.body as { readonly id: string; readonly secret: string };
}

/** Queues so many backtests at once. @returns their ids */
async function queueBacktests(client: Client, strategyVersionId: string, count: number): Promise<string[]> {
  const items = Array.from({ length: count }, (_, at) => ({
    strategyVersionId,
    config: config({ initialBalance: 10_000 + at }),
  }));
  const made = await client.post('/backtests/batch', { items });
  expect(made.status, made.text).toBe(200);
  return made.body.data.map(({ id }: { id: string }) => id);
}

/** The ids of runs that a receiver has been told of, each with its status. */
const told = (receiver: WebhookReceiver, secret: string): Map<string, unknown> =>
  new Map([...receiver.verified(secret).values()].map(({ data }) => [String(data.id), data.status]));

const webhook = async (client: Client, id: string) => (await client.get(`/webhooks/${id}`)).body;

describe('a webhook', () => {
  it('is told of each backtest, sweep and check that ends, whichever way, and of no other workspace', async () => {
    await using receiver = await startReceiver();
    const [client, stranger] = [await api.client(), await api.client()];
    const [version, theirs] = [await readyVersion(client), await readyVersion(stranger)];
    const { id, secret } = await createWebhook(client, receiver);
    const [first, ...more] = await queueBacktests(client, version, 30);
    await queueBacktests(stranger, theirs, 5);
    const sweep = await client.post('/sweeps', {
      strategyVersionId: version,
      config: config(),
      space: { fast: { min: 1, max: 4 }, slow: { min: 41, max: 44 } },
      method: 'grid',
    });
    await eventually(() => told(receiver, secret).get(first) === 'completed');
    const check = await client.post(`/backtests/${first}/robustness`, {});
    expect(check.status, check.text).toBe(201);
    await client.post(`/backtests/${first}/robustness/${check.body.id}/cancel`);
    const runs = [first, ...more, sweep.body.id as string, check.body.id as string];
    await eventually(() => told(receiver, secret).size >= runs.length);
    expect(new Set(told(receiver, secret).keys())).toEqual(new Set(runs));
    expect(told(receiver, secret).get(check.body.id)).toBe('cancelled');
    const kinds = new Set([...receiver.verified(secret).values()].map(({ type }) => type));
    expect(kinds).toEqual(new Set(['backtest.ended', 'sweep.ended', 'robustness.ended']));
    for (const { data } of receiver.verified(secret).values()) {
      const run = await api.send({ url: String(data.path), headers: { 'x-api-key': client.apiKey } });
      expect([run.status, run.body.id, run.body.status]).toEqual([200, data.id, data.status]);
    }
    await eventually(async () => (await webhook(client, id)).waiting === 0);
    // Each message once: the receiver took every first attempt.
    expect(receiver.received.length).toBe(runs.length);
  });

  it('loses nothing while its receiver is down, and sends again under the same id', async () => {
    await using receiver = await startReceiver();
    receiver.answer = status(503);
    const client = await api.client();
    const version = await readyVersion(client);
    const { id, secret } = await createWebhook(client, receiver, { events: ['backtest.ended'] });
    const runs = await queueBacktests(client, version, 12);
    const { body: failing } = await eventually(async () => {
      const messages = await client.get(`/webhooks/${id}/messages?state=waiting`);
      return messages.body.pagination.total === runs.length && messages.body.data[0].lastStatus !== null && messages;
    });
    expect(failing.data[0]).toMatchObject({
      lastStatus: 503,
      lastError: 'the receiver answered 503',
      deliveredAt: null,
    });
    // It rests after a few attempts: a receiver that is down is not tried with every message.
    expect(receiver.received.length).toBeLessThan(runs.length);
    receiver.answer = status(204);
    const tried = new Set(receiver.received.map(({ headers }) => headers['webhook-id']));
    expect((await patch(client, `/webhooks/${id}`, { enabled: true })).status).toBe(200);
    await eventually(async () => (await webhook(client, id)).waiting === 0);
    expect(new Set(told(receiver, secret).keys())).toEqual(new Set(runs));
    for (const each of tried)
      expect(receiver.received.filter(({ headers }) => headers['webhook-id'] === each).length).toBe(2);
    expect((await client.get(`/webhooks/${id}/messages?state=delivered`)).body.pagination.total).toBe(runs.length);
  });

  it('is locked by the end of a sweep only when the transaction ends, after its other locks', async () => {
    await using receiver = await startReceiver();
    const client = await api.client();
    const { id, secret } = await createWebhook(client, receiver);
    const space = { fast: { min: 1, max: 40 }, slow: { min: 41, max: 100 } };
    const asked = { strategyVersionId: await readyVersion(client), config: config(), space, method: 'grid' };
    const sweep = (await client.post('/sweeps', asked)).body.id as string;
    const { sql } = api.services;
    await sql.begin(async (tx) => {
      await tx`update sweeps set status = 'cancelled', finished_at = now() where id = ${sweep}`;
      expect(await sql`select 1 from webhooks where id = ${id} for no key update nowait`).toHaveLength(1);
    });
    await eventually(() => told(receiver, secret).get(sweep) === 'cancelled');
  });

  it('is disabled by a receiver that is gone, and told of nothing while it is paused', async () => {
    await using receiver = await startReceiver();
    receiver.answer = status(410);
    const client = await api.client();
    const version = await readyVersion(client);
    const { id } = await createWebhook(client, receiver);
    await client.post(`/webhooks/${id}/test`);
    const disabled = await eventually(async () => {
      const now = await webhook(client, id);
      return now.enabled === false && now;
    });
    expect(disabled.disabledReason).toMatch(/410/);
    // A test is sent all the same, so that its receiver can be mended before it is enabled.
    receiver.answer = status(204);
    const test = await client.post(`/webhooks/${id}/test`);
    await eventually(() => receiver.received.some(({ headers }) => headers['webhook-id'] === test.body.id));
    const [run] = await queueBacktests(client, version, 1);
    await client.get(`/backtests/${run}?wait=30`);
    expect((await client.get(`/webhooks/${id}/messages`)).body.pagination.total).toBe(2);
  });
});

describe('the routes of webhooks', () => {
  it('take the example of docs/webhooks.md', async () => {
    const [, text] = /```json\n(.*?)```/s.exec(await readFile('docs/webhooks.md', 'utf8'))!;
    const made = await (await api.client()).post('/webhooks', JSON.parse(text));
    expect(made.status, made.text).toBe(201);
    expect(made.body).toMatchObject({ ...JSON.parse(text), enabled: true, waiting: 0 });
  });

  it('show a webhook to its own workspace only, and its secret once', async () => {
    await using receiver = await startReceiver();
    const [client, stranger] = [await api.client(), await api.client()];
    const { id, secret } = await createWebhook(client, receiver);
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    for (const path of ['/webhooks', `/webhooks/${id}`, `/webhooks/${id}/messages`])
      expect((await client.get(path)).text).not.toContain(secret);
    expect((await stranger.get('/webhooks')).body.data).toEqual([]);
    const refused = [
      stranger.get(`/webhooks/${id}`),
      stranger.get(`/webhooks/${id}/messages`),
      stranger.post(`/webhooks/${id}/test`),
      stranger.post(`/webhooks/${id}/secret`),
      patch(stranger, `/webhooks/${id}`, { enabled: false }),
      stranger.delete(`/webhooks/${id}`),
    ];
    for (const reply of await Promise.all(refused)) expect(reply.body.code).toBe('NOT_FOUND');
    const replaced = await client.post(`/webhooks/${id}/secret`);
    expect(replaced.body.secret).not.toBe(secret);
    await client.post(`/webhooks/${id}/test`);
    await eventually(() => receiver.received.length === 1);
    expect([...receiver.verified(replaced.body.secret).values()][0]).toMatchObject({
      type: 'webhook.test',
      data: { webhookId: id },
    });
    expect((await client.delete(`/webhooks/${id}`)).body).toEqual({ deleted: true });
    expect((await client.get(`/webhooks/${id}`)).status).toBe(404);
    expect((await client.get(`/webhooks/${randomUUID()}`)).status).toBe(404);
  });

  it('keep an eleventh webhook out, also of two requests at once', async () => {
    const client = await api.client();
    const create = () => client.post('/webhooks', { url: 'https://example.com/hook' });
    const replies = await Promise.all(Array.from({ length: 12 }, create));
    expect(replies.filter((reply) => reply.status === 201).length).toBe(10);
    expect(replies.find((reply) => reply.status !== 201)?.body).toMatchObject({
      code: 'WEBHOOK_LIMIT_REACHED',
      status: 403,
      limit: 10,
    });
  });

  it('need a key that was given the scope, and the role of a member', async () => {
    const { DEFAULT_API_KEY_SCOPES } = await import('../../src/db/apiKeys.ts');
    const plain = await api.client({ scopes: DEFAULT_API_KEY_SCOPES });
    expect((await plain.get('/webhooks')).body).toMatchObject({
      code: 'INSUFFICIENT_SCOPE',
      requiredScopes: ['webhooks_write'],
    });
    const viewer = await api.client({ role: 'viewer' });
    expect((await viewer.post('/webhooks', { url: 'https://example.com/' })).body.code).toBe('INSUFFICIENT_ROLE');
  });
});
