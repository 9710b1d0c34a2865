// MCP refusals: what a tool and a resource answer when the service refuses a call, is away, or its answer is lost.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { afterEach, describe, expect, it } from 'vitest';
import { callUrl } from '../../src/api/mcp/apiCall.ts';
import { createMcpServer } from '../../src/api/mcp/server.ts';

let server: Server | undefined;
afterEach(async () => {
  await new Promise((resolve) => (server === undefined ? resolve(null) : server.close(resolve)));
  server = undefined;
});

/** A service that answers every request in one way. */
async function serving(answer: Parameters<typeof createServer>[1]): Promise<string> {
  server = createServer(answer as () => void);
  await new Promise<void>((resolve) => server!.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function connected(baseUrl: string): Promise<Client> {
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  const client = new Client({ name: 'test', version: '1.0.0' });
  await createMcpServer(callUrl(baseUrl, 'svc_live_key_secret')).connect(ours);
  await client.connect(theirs);
  return client;
}

async function called(client: Client, name: string, args: Record<string, unknown> = {}) {
  const { isError, content } = await client.callTool({ name, arguments: args });
  const [{ text }] = content as { text: string }[];
  return { isError, body: JSON.parse(text) as Record<string, unknown> };
}

const refusal = {
  status: 429,
  code: 'RATE_LIMITED',
  message: 'Try again in 7 s.',
  retryable: true,
  retryAfterSeconds: 7,
};
const RUN = { strategyVersionId: '00000000-0000-4000-8000-000000000000', config: { timeframe: '1d' } };

describe('a refusal', () => {
  it('is the answer of a tool, and an error of a resource rather than its content', async () => {
    const url = await serving((_request, reply) => {
      reply.writeHead(429, { 'content-type': 'application/problem+json', connection: 'close' });
      reply.end(JSON.stringify(refusal));
    });
    const client = await connected(url);
    expect(await called(client, 'get_workspace_context')).toEqual({ isError: true, body: refusal });
    await expect(client.readResource({ uri: 'candlepool://manifest' })).rejects.toThrow('"retryAfterSeconds":7');
    await client.close();
  });
});

describe('a service that is away', () => {
  it('is named with its address, and every call may be sent again', async () => {
    const url = await serving(() => {});
    await new Promise((resolve) => server!.close(resolve));
    const client = await connected(url);
    for (const [name, args] of [
      ['get_workspace_context', {}],
      ['run_backtest', RUN],
    ] as const) {
      const { isError, body } = await called(client, name, args);
      expect(isError).toBe(true);
      expect(body).toMatchObject({ status: 503, code: 'UNAVAILABLE', retryable: true, retryAfterSeconds: 1 });
      expect(body.message).toContain(`No Candlepool service can be reached at ${url}`);
    }
    await client.close();
  });

  it('before its answer arrives leaves open whether a write without an idempotency key was carried out', async () => {
    const client = await connected(await serving((request) => request.socket.destroy()));
    const read = await called(client, 'get_workspace_context');
    expect(read.body).toMatchObject({
      retryable: true,
      message: expect.stringContaining('Send the same call again.') as string,
    });
    const write = await called(client, 'run_backtest', RUN);
    expect(write.body).toMatchObject({
      retryable: false,
      message: expect.stringContaining('may have been carried out') as string,
    });
    const keyed = await called(client, 'run_backtest', { ...RUN, idempotencyKey: 'once' });
    expect(keyed.body).toMatchObject({ retryable: true });
    await client.close();
  });
});
