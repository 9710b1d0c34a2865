// Admission of MCP clients: what a message costs, what is refused, and in which form.
import { EventEmitter } from 'node:events';
import { Client as McpClient, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { loopShare } from '../../src/api/http/loopShare.ts';
import { EXAMPLE_STRATEGY_AST } from '../../src/api/strategies/strategyExamples.ts';
import { TIER_LIMITS } from '../../src/tiers.ts';
import { createApiApp, type ApiApp, type Client, type Reply } from '../support/apiApp.ts';
import { eventually } from '../support/eventually.ts';

let api: ApiApp;
let url: URL;
beforeAll(async () => {
  // Only the clock stands still: the minute cannot turn while requests are counted.
  vi.useFakeTimers({ toFake: ['Date'] });
  api = await createApiApp({
    RATE_LIMITS: 'on',
    PUBLIC_URL: 'https://api.example/',
    ALLOWED_ORIGINS: 'https://agent.example, http://lab.example:3000',
  });
  url = new URL('/mcp', await api.app.listen({ port: 0, host: '127.0.0.1' }));
});
afterAll(async () => {
  vi.useRealTimers();
  await api?.[Symbol.asyncDispose]();
});

const { free } = TIER_LIMITS;
const NO_REPLY = { header: () => {} } as unknown as FastifyReply;
const ACCEPT = 'application/json, text/event-stream';
const messageOf = (method: string, params: object = {}) => ({ jsonrpc: '2.0', id: 1, method, params });
const toolCall = (name: string, args: object = {}) => messageOf('tools/call', { name, arguments: args });

/** Posts a message, or what else is given, as clients of the 2025 revisions do. */
const send = (client: Client, body: unknown, headers: Record<string, string> = {}): Promise<Reply> =>
  api.send({
    method: 'POST',
    url: '/mcp',
    headers: { 'x-api-key': client.apiKey, 'content-type': 'application/json', accept: ACCEPT, ...headers },
    payload: JSON.stringify(body),
  });
/** What is left of the minute, as the answer says. */
const leftOf = ({ headers }: Reply): number => Number(/r=(\d+)/.exec(String(headers.ratelimit))![1]);
// oxlint-disable-next-line typescript/no-explicit-any -- tests look into answers of every shape
const resultOf = ({ text }: Reply): any => JSON.parse(text.slice(text.indexOf('{'))).result;
const toolAnswer = (reply: Reply) => JSON.parse(resultOf(reply).content[0].text);

const MODERN = '2026-07-28';
/** A request for a stream of changes, as clients of the current revision send it. */
const subscription = () => ({
  ...messageOf('subscriptions/listen', {
    notifications: { toolsListChanged: true, resourcesListChanged: true },
    _meta: {
      'io.modelcontextprotocol/protocolVersion': MODERN,
      'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1.0.0' },
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  }),
});

/** What a flight listens to, and how it is closed. */
function closable() {
  const raw = new EventEmitter().setMaxListeners(0);
  return { raw, end: () => raw.emit('close') };
}

/** A backtest of a new free workspace that no worker takes. */
async function waitingBacktest(): Promise<{ client: Client; id: string }> {
  const client = await api.client({ tier: 'free' });
  const made = await client.post('/strategies', { name: 'x', settings: {}, strategyAst: EXAMPLE_STRATEGY_AST });
  const ready = await client.post(`/strategies/${made.body.id}/versions/finalize`, { version: 1 });
  const config = { timeframe: '1d', signalInstrument: { symbol: 'SPX' }, initialBalance: 10_000 };
  const { body } = await client.post('/backtests', { strategyVersionId: ready.body.id, config });
  return { client, id: body.id };
}

describe('a message', () => {
  it('counts as one request, and so do all the calls that its tool makes', async () => {
    const { client, id } = await waitingBacktest();
    const before = leftOf(await client.get('/workspace'));
    const listed = await send(client, messageOf('tools/list'));
    const called = await send(client, toolCall('get_workspace_context'));
    // Two calls of the API: it waits in slices of five seconds.
    const waited = await send(client, toolCall('get_backtest', { id, wait: 6 }));
    expect(toolAnswer(waited)).toMatchObject({ id, status: 'queued' });
    expect([listed, called, waited].map(leftOf)).toEqual([before - 1, before - 2, before - 3]);
    expect(leftOf(await client.get('/workspace'))).toBe(before - 4);
  });

  it('is refused with 429 as a JSON-RPC error, once the minute is used up', async () => {
    const client = await api.client({ tier: 'free' });
    const [{ id }] = await api.services.sql`select id from api_keys where workspace_id = ${client.workspaceId}`;
    const asker = { id, workspaceId: client.workspaceId, tier: 'free' } as const;
    for (let sent = 1; sent < free.requestsPerMinute; sent++) api.app.rateLimits.charge(asker, NO_REPLY);
    expect((await send(client, messageOf('ping'))).status).toBe(200);
    const refused = await send(client, messageOf('ping'));
    expect(refused.status).toBe(429);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect(refused.body).toMatchObject({
      jsonrpc: '2.0',
      id: null,
      error: { code: -32_000, data: { code: 'RATE_LIMITED', retryable: true, limit: free.requestsPerMinute } },
    });
    expect(refused.body.error.message).toMatch(/^More than 600 requests per minute .* Try again in \d+ s\.$/);
    const mcp = new McpClient({ name: 'test', version: '1.0.0' });
    const headers = { 'x-api-key': client.apiKey };
    const connecting = mcp.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
    await expect(connecting).rejects.toThrow(/More than 600 requests per minute/);
  });
});

describe('requests to /mcp', () => {
  it('are counted as in flight, but not while their tools wait for a run', async () => {
    const { client, id } = await waitingBacktest();
    const gone = new AbortController();
    const wait = (): Promise<Response | null> =>
      fetch(url, {
        method: 'POST',
        headers: { 'x-api-key': client.apiKey, 'content-type': 'application/json', accept: ACCEPT },
        body: JSON.stringify(toolCall('get_backtest', { id, wait: 25 })),
        signal: gone.signal,
      }).catch(() => null);
    const { requestsInFlight } = api.app;
    const waiting: Promise<Response | null>[] = [];
    while (waiting.length < free.requestsInFlight + 4) {
      waiting.push(wait());
      await eventually(() => requestsInFlight.openOf(client.workspaceId) === waiting.length);
      // It holds a place until it waits.
      await eventually(async () => (await send(client, messageOf('ping'))).status === 200);
    }
    gone.abort();
    expect(requestsInFlight.openOf(client.workspaceId)).toBeGreaterThan(free.requestsInFlight);
    await Promise.all(waiting);
    await eventually(() => requestsInFlight.openOf(client.workspaceId) === 0);
  });

  it('are refused beyond what the tier allows in flight, and beyond eight times as many that wait', async () => {
    const client = await api.client({ tier: 'free' });
    const { raw, end } = closable();
    const asker = { workspaceId: client.workspaceId, tier: 'free' } as const;
    const flights = Array.from({ length: free.requestsInFlight }, () => {
      const request = { flight: null } as unknown as FastifyRequest;
      api.app.requestsInFlight.begin(asker, request, { raw } as unknown as FastifyReply);
      return request.flight!;
    });
    const refused = await send(client, messageOf('tools/list'));
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '1']);
    expect(refused.body.error.data).toMatchObject({ code: 'RATE_LIMITED', limitName: 'requestsInFlight' });
    const never = new Promise<void>(() => {});
    for (const flight of flights) void flight.pause(never);
    expect((await send(client, messageOf('tools/list'))).status).toBe(200);
    for (let open = flights.length; open < 8 * free.requestsInFlight; open++) {
      const request = { flight: null } as unknown as FastifyRequest;
      api.app.requestsInFlight.begin(asker, request, { raw } as unknown as FastifyReply);
      void request.flight!.pause(never);
    }
    const crowded = await send(client, messageOf('tools/list'));
    expect([crowded.status, crowded.body.error.data.limitName, crowded.body.error.data.limit]).toEqual([
      429,
      'requestsWaiting',
      8 * free.requestsInFlight,
    ]);
    end();
    expect((await send(client, messageOf('tools/list'))).status).toBe(200);
  });

  it('wait while their workspace has used its share of the event loop, and those of others do not', async () => {
    const [busy, neighbor] = [await api.client({ tier: 'free' }), await api.client({ tier: 'free' })];
    const order: string[] = [];
    loopShare.add(busy.workspaceId, 1_000);
    const waiting = send(busy, messageOf('ping')).then(({ status }) => order.push(`busy ${status}`));
    await send(neighbor, messageOf('ping')).then(({ status }) => order.push(`neighbor ${status}`));
    await waiting;
    expect(order).toEqual(['neighbor 200', 'busy 200']);
  });

  it('hold one message each: a batch is refused, whatever is in it', async () => {
    const client = await api.client({ tier: 'free' });
    for (const batch of [[], [messageOf('ping')], Array.from({ length: 100 }, () => messageOf('tools/list'))]) {
      const reply = await send(client, batch);
      expect([reply.status, reply.body.error.code]).toEqual([400, -32_600]);
      expect(reply.body.error.message).toMatch(/^Send one JSON-RPC message per request\./);
    }
  });

  it('have the size of a config, by tier, and few values', async () => {
    const client = await api.client({ tier: 'free' });
    const large = await send(client, toolCall('validate_strategy', { strategyAst: 'x'.repeat(free.configBytes) }));
    expect([large.status, large.body.error.data]).toMatchObject([413, { limit: free.configBytes, tier: 'free' }]);
    const pro = await api.client();
    const items = Array.from({ length: 60_000 }, () => 1);
    const many = await send(pro, toolCall('run_backtests', { items }));
    expect([many.status, many.body.error.message]).toEqual([
      400,
      'The body holds more than 50000 values. Send less at a time.',
    ]);
  });
});

describe('the server', () => {
  it('opens no streams of its own, and ends a subscription at once', async () => {
    const client = await api.client({ tier: 'free' });
    const headers = { 'x-api-key': client.apiKey, accept: ACCEPT };
    for (const method of ['GET', 'DELETE'] as const) {
      const reply = await api.send({ method, url: '/mcp', headers });
      expect([method, reply.status, reply.headers.allow]).toEqual([method, 405, 'POST']);
    }
    const reply = await send(client, subscription(), {
      'mcp-protocol-version': MODERN,
      'mcp-method': 'subscriptions/listen',
    });
    expect(reply.status).toBe(200);
    expect(reply.text).toContain('"notifications/subscriptions/acknowledged"');
    expect(reply.text).toContain('"resultType":"complete"');
  });
});

describe('a web page', () => {
  const from = (origin: string, client: Client, headers: Record<string, string> = {}) =>
    send(client, messageOf('ping'), { origin, ...headers });

  it.each([
    ['https://api.example', 'PUBLIC_URL'],
    ['https://agent.example', 'ALLOWED_ORIGINS'],
    ['http://lab.example:3000', 'ALLOWED_ORIGINS'],
    ['http://localhost:6274', 'the own machine'],
    ['http://127.0.0.1:8080', 'the own machine'],
    ['http://[::1]:8080', 'the own machine'],
    ['', 'a program that sends the header without a value'],
  ])('of %j may call: %s', async (origin) => {
    const client = await api.client({ tier: 'free' });
    expect((await from(origin, client)).status).toBe(200);
  });

  it.each([
    'https://evil.example',
    'http://api.example',
    'https://api.example:444',
    'http://lab.example',
    'https://localhost.evil.example',
    'null',
    'nonsense',
  ])('of %j is refused with 403, before its key is looked at', async (origin) => {
    const client = await api.client({ tier: 'free' });
    for (const apiKey of [client.apiKey, 'nonsense']) {
      const reply = await from(origin, { ...client, apiKey });
      expect([reply.status, reply.body.error.data.code]).toEqual([403, 'ORIGIN_NOT_ALLOWED']);
      expect(reply.body.error.message).toContain('ALLOWED_ORIGINS');
    }
  });

  it('of the address that it was sent to may call, but not of a name, which may resolve to anything', async () => {
    const client = await api.client({ tier: 'free' });
    expect((await from('http://192.0.2.1:8080', client, { host: '192.0.2.1:8080' })).status).toBe(200);
    expect((await from('http://192.0.2.1:8080', client, { host: '192.0.2.2:8080' })).status).toBe(403);
    expect((await from('http://evil.example:8080', client, { host: 'evil.example:8080' })).status).toBe(403);
  });
});

it('a client that sends two different credentials is refused at /mcp as everywhere else', async () => {
  const [client, other] = [await api.client({ tier: 'free' }), await api.client({ tier: 'free' })];
  const token = await api.token(client.workspaceId, 'owner');
  const reply = await send(client, messageOf('ping'), { authorization: `Bearer ${other.apiKey}` });
  expect([reply.status, reply.body.error.data.code]).toEqual([400, 'CREDENTIALS_DIFFER']);
  expect((await send(client, messageOf('ping'), { authorization: `Bearer ${client.apiKey}` })).status).toBe(200);
  const paths = ['/public/v1/workspace', `/workspaces/${client.workspaceId}/api-keys`, '/docs', '/nothing'];
  for (const path of paths) {
    const headers = { 'x-api-key': client.apiKey, authorization: `Bearer ${token}` };
    const answer = await api.send({ url: path, headers });
    expect([path, answer.status, answer.body.code]).toEqual([path, 400, 'CREDENTIALS_DIFFER']);
  }
});

describe('hostile arguments', () => {
  it.each([
    ['a path of 2,000 names', 'get_manifest', { path: '/'.repeat(2_000) }],
    ['a path of 30,000 names', 'get_manifest', { path: '/'.repeat(30_000) }],
    ['40,000 strings of JSON', 'run_backtests', { items: Array.from({ length: 40_000 }, () => '1') }],
    ['40,000 strings of broken JSON', 'run_backtests', { items: Array.from({ length: 40_000 }, () => '[') }],
    [
      '4,900 unknown arguments',
      'get_manifest',
      Object.fromEntries(Array.from({ length: 4_900 }, (_, n) => [`k${n}`, 1])),
    ],
  ])('are refused in a fraction of a second: %s', async (_what, name, args) => {
    const client = await api.client();
    await send(client, toolCall(name, args));
    const begun = process.threadCpuUsage();
    const reply = await send(client, toolCall(name, args));
    const { user, system } = process.threadCpuUsage(begun);
    expect(resultOf(reply).isError).toBe(true);
    // Processor time of this thread, which waiting does not add to; it is 10 to 50 ms. The long path took a minute.
    expect((user + system) / 1_000).toBeLessThan(250);
  });
});
