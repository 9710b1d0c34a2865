// One attempt to deliver a message, against receivers that misbehave, and what a delivery means for its webhook.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sendMessage } from '../../src/jobs/webhookRequest.ts';
import { aftermathOf } from '../../src/jobs/webhookTask.ts';
import { startReceiver, status, type WebhookReceiver } from '../support/webhookReceiver.ts';

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const BODY = '{"type":"backtest.ended","data":{"id":"1"}}';
const RUNNING = new AbortController().signal;

let receiver: WebhookReceiver;
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(() => receiver[Symbol.asyncDispose]());

const send = (url = receiver.url, allowsPrivate = true) =>
  sendMessage({ url, secret: SECRET, id: 'msg_1', body: BODY }, allowsPrivate, RUNNING);

describe('an attempt', () => {
  it('is signed as Standard Webhooks asks, and reports the status of the answer', async () => {
    receiver.answer = status(202);
    expect(await send()).toEqual({ status: 202 });
    const [{ headers, body }] = receiver.received;
    expect(body).toBe(BODY);
    expect(headers['content-type']).toBe('application/json');
    expect([...receiver.verified(SECRET).keys()]).toEqual(['msg_1']);
    expect(() => receiver.verified(`whsec_${Buffer.alloc(32, 8).toString('base64')}`)).toThrow(/signature/i);
  });

  it('follows no redirect', async () => {
    await using other = await startReceiver();
    receiver.answer = status(307, { location: other.url });
    expect(await send()).toEqual({ status: 307 });
    expect(other.received).toEqual([]);
  });

  it('reads nothing of an answer that never ends', async () => {
    receiver.answer = (response) => {
      response.writeHead(200);
      const timer = setInterval(() => response.write(Buffer.alloc(1 << 20)), 1);
      response.on('close', () => clearInterval(timer));
    };
    expect(await send()).toEqual({ status: 200 });
  });

  it.each([
    ['is cut off', (response: { destroy(): void }) => response.destroy(), 'the connection was cut'],
    [
      'has too large headers',
      status(200, { 'x-large': 'x'.repeat(20_000) }),
      'the headers of the answer are too large',
    ],
  ] as const)('says why when it %s', async (_name, answer, error) => {
    receiver.answer = answer;
    expect(await send()).toEqual({ error });
  });

  it('gives up on a receiver that does not answer within ten seconds', async () => {
    receiver.answer = () => {};
    expect(await send()).toEqual({ error: 'no answer within 10 seconds' });
  });

  it('says that nobody listens', async () => {
    await using gone = await startReceiver();
    const { url } = gone;
    await gone[Symbol.asyncDispose]();
    expect(await send(url)).toEqual({ error: 'the connection was refused' });
  });

  it('reaches no private address, however it is written, unless the operator allows it', async () => {
    receiver.answer = status(204);
    const before = receiver.received.length;
    const hosts = ['127.0.0.1', 'localhost', '2130706433', '0x7f.1', '[::1]', '[::ffff:127.0.0.1]', '0.0.0.0'];
    for (const host of hosts)
      expect(await send(`http://${host}:${receiver.port}/hook`, false), host).toEqual({
        error: 'the address is private',
      });
    for (const host of ['169.254.169.254', '10.0.0.1', '192.168.0.1', '172.16.0.1', '[fd00::1]', '[fe80::1]'])
      expect(await send(`http://${host}/`, false), host).toEqual({ error: 'the address is private' });
    expect(receiver.received.length).toBe(before);
    expect(await send(receiver.url, true)).toEqual({ status: 204 });
  });
});

describe('what a delivery means for its webhook', () => {
  const failed = { id: 'a', outcome: 'failed', status: 500, error: 'the receiver answered 500', retryInMs: 5 } as const;
  const delivered = { id: 'b', outcome: 'delivered', status: 200, error: null, retryInMs: null } as const;
  const unsent = { id: 'c', outcome: 'unsent', status: null, error: null, retryInMs: 0 } as const;

  it('rests twice as long after each delivery that failed as a whole, up to an hour', () => {
    const rests = Array.from({ length: 12 }, (_, before) => aftermathOf(before, [failed, unsent]).restMs / 1_000);
    expect(rests).toEqual([5, 10, 20, 40, 80, 160, 320, 640, 1_280, 2_560, 3_600, 3_600]);
  });

  it('does not rest when a message was delivered', () => {
    expect(aftermathOf(5, [failed, delivered])).toEqual({ failures: 0, restMs: 0, disabledReason: null });
    expect(aftermathOf(5, [unsent])).toEqual({ failures: 5, restMs: 0, disabledReason: null });
  });

  it('disables a webhook whose receiver is gone, or has refused everything until the last attempt', () => {
    const reasonOf = (...attempts: Parameters<typeof aftermathOf>[1]) => aftermathOf(9, attempts).disabledReason;
    expect(reasonOf({ ...failed, status: 410 }, delivered)).toMatch(/^The receiver answered 410/);
    expect(reasonOf({ ...failed, retryInMs: null })).toBe(
      'Nothing was delivered for three days: the receiver answered 500.',
    );
    expect(reasonOf({ ...failed, retryInMs: null }, delivered)).toBeNull();
  });
});
