// Webhooks and kill -9 of the worker that delivers them: no message is lost, and a message on its way comes again.
// Part of `npm run test:long`, since it starts two workers.
import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { expect, it } from 'vitest';
import { addWebhookJob } from '../../src/db/tickets.ts';
import { insertWebhook } from '../../src/db/webhooks.ts';
import { eventually } from '../support/eventually.ts';
import { killWorker } from '../support/queue.ts';
import { isLong } from '../support/scale.ts';
import { TestQueue } from '../support/testQueue.ts';
import { startReceiver, status } from '../support/webhookReceiver.ts';

const queue = new TestQueue();
/** Messages that the receiver takes before it stops answering; a delivery sends four at a time. */
const ANSWERED = 5;
const IN_FLIGHT = 4;

it.runIf(isLong)('tells of every run at least once when a worker is killed during a delivery', async () => {
  await using receiver = await startReceiver();
  const held: ServerResponse[] = [];
  receiver.answer = (response) => {
    if (receiver.received.length <= ANSWERED) status(204)(response);
    else held.push(response);
  };
  const secret = `whsec_${randomBytes(24).toString('base64')}`;
  const asked = { url: receiver.url, description: null, events: ['backtest.ended' as const], secret };
  const webhook = await queue.sql.begin((tx) => insertWebhook(tx, queue.workspaceId, asked, 10));
  // It rests until every run has ended, so that one delivery has all messages.
  await queue.sql`update webhooks set rests_until = now() + interval '1 hour'`;
  const ids = await queue.enqueue(Array.from({ length: 12 }, (_, value) => ({ act: 'spin', ms: 1, value })));
  const worker = await queue.spawnWorker();
  await queue.settled();
  await queue.sql`update webhooks set rests_until = null`;
  await addWebhookJob(queue.sql, webhook!.id);
  await eventually(() => held.length === IN_FLIGHT);
  await killWorker(worker);
  const before = receiver.received.map(({ headers }) => String(headers['webhook-id']));
  const inFlight = before.slice(ANSWERED);
  expect([before.length, new Set(before).size]).toEqual([ANSWERED + IN_FLIGHT, ANSWERED + IN_FLIGHT]);

  const waiting = () => queue.sql`select id from webhook_messages where due_at is not null`;
  expect((await waiting()).length).toBeGreaterThanOrEqual(IN_FLIGHT);
  // A minute later, the lease of the killed worker has ended.
  await queue.sql`update webhook_messages set due_at = now() where due_at is not null`;
  receiver.answer = status(204);
  await queue.spawnWorker();
  await eventually(async () => (await waiting()).length === 0);

  const told = [...receiver.verified(secret).values()].map(({ data }) => data.id);
  expect(new Set(told)).toEqual(new Set(ids));
  const bodiesOf = (id: string) =>
    receiver.received.filter(({ headers }) => headers['webhook-id'] === id).map(({ body }) => body);
  for (const id of inFlight) {
    const bodies = bodiesOf(id);
    expect(bodies.length).toBe(2);
    expect(bodies[1]).toBe(bodies[0]);
  }
  const [{ delivered }] = await queue.sql<[{ delivered: number }]>`
    select count(*)::int as delivered from webhook_messages where delivered_at is not null`;
  expect(delivered).toBe(ids.length);
});
