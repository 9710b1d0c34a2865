// The attacks on webhooks: receivers that never answer beside many runs that end, and the routes without pause.
import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { astOf, CONFIG, condition, readyVersion, type Attack, type Send } from './attack.ts';

const WEBHOOKS = '/public/v1/webhooks';
/** Of a workspace. */
const MAX_WEBHOOKS = 10;
/** A workspace tells so many webhooks of so many runs with one request. */
const RUNS = 50;

async function createWebhook(send: Send, key: string, url: string): Promise<string | undefined> {
  const made = await send(WEBHOOKS, { key, body: { url } });
  return (JSON.parse(made.text) as { id?: string }).id;
}

export const WEBHOOK_ATTACKS: readonly Attack[] = [
  {
    name: 'webhooks whose receivers never answer',
    parallel: 2,
    prepare: async (send, { pro, signal }) => {
      const silent = createServer((socket) => socket.on('error', () => {})).listen(0, '127.0.0.1');
      await once(silent, 'listening');
      signal.addEventListener('abort', () => silent.close());
      silent.unref();
      const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/`;
      for (let count = 0; count < MAX_WEBHOOKS; count++) await createWebhook(send, pro.key, url);
      const strategyVersionId = await readyVersion(send, pro.key, astOf([condition(9)]));
      const item = { strategyVersionId, config: CONFIG };
      const body = Buffer.from(JSON.stringify({ items: Array.from({ length: RUNS }, () => item) }));
      return () => send('/public/v1/backtests/batch', { key: pro.key, body });
    },
  },
  {
    name: 'webhooks made, changed, tested, listed and deleted without pause',
    parallel: 8,
    prepare: async (send, { free }) => {
      const { key } = free;
      const id = await createWebhook(send, key, 'http://127.0.0.1:9/');
      const path = `${WEBHOOKS}/${id}`;
      const calls = [
        () => send(WEBHOOKS, { key, body: { url: `https://${'a'.repeat(1_900)}.example/` } }),
        () => send(`${path}/test`, { key, method: 'POST' }),
        () => send(path, { key, method: 'PATCH', body: { enabled: true } }),
        () => send(`${path}/messages?limit=100`, { key }),
        () => send(`${path}/secret`, { key, method: 'POST' }),
        () => send(WEBHOOKS, { key }),
        () => send(path, { key }),
        async () => {
          const made = await createWebhook(send, key, 'https://deleted.example/');
          return send(`${WEBHOOKS}/${made}`, { key, method: 'DELETE' });
        },
      ];
      let turn = 0;
      return () => calls[turn++ % calls.length]();
    },
  },
];
