// A receiver of webhooks: an HTTP server in this process that records every request and answers as it is told.
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface WebhookReceiver extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** Every request so far, in the order of arrival. */
  readonly received: readonly Received[];
  /** How it answers from now on; default: 204. */
  answer: (response: ServerResponse) => void;
  /** Checks the signature of each request with the package of the standard. @returns their bodies by `webhook-id` */
  verified(secret: string): Map<string, { type: string; timestamp: string; data: Record<string, unknown> }>;
}

export const status =
  (code: number, headers: Record<string, string> = {}) =>
  (response: ServerResponse) => {
    response.writeHead(code, headers).end();
  };

export async function startReceiver(): Promise<WebhookReceiver> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (text: string) => (body += text));
    request.on('end', () => {
      received.push({ headers: request.headers, body });
      receiver.answer(response);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const receiver: WebhookReceiver = {
    url: `http://127.0.0.1:${port}/hook`,
    port,
    received,
    answer: status(204),
    verified: (secret) =>
      new Map(
        received.map(({ headers, body }) => [
          String(headers['webhook-id']),
          new Webhook(secret).verify(body, headers as Record<string, string>) as never,
        ]),
      ),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
  return receiver;
}
