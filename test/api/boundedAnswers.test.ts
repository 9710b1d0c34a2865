// Bounded answers, ranked by use: whatever the view and its size, what is read first is there, over HTTP and MCP.
import { Client as McpClient, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readFirstOf } from '../../src/api/backtests/backtestBodies.ts';
import { createLiveApi, SPX_CONFIG } from '../support/liveApi.ts';
import { all, compare, constant, cross, indicator, market, type Json } from '../support/builders.ts';

const live = await createLiveApi();
const { client, run } = live;
const mcp = new McpClient({ name: 'test', version: '1.0.0' });
beforeAll(async () => {
  const url = new URL('/mcp', await live.api.app.listen({ port: 0, host: '127.0.0.1' }));
  const headers = { authorization: `Bearer ${client.apiKey}` };
  await mcp.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
});
afterAll(async () => {
  await mcp.close();
  await live[Symbol.asyncDispose]();
});

const close = market('close');
const rsi = (length: number): Json => indicator('rsi', { length });
const payload = (trigger: Json, value = 100) => ({
  strategyAst: {
    protocol: 'svc.strategy',
    version: 1,
    strategy: {
      kind: 'strategy',
      entry: { kind: 'entry', trigger, action: { side: 'long', sizing: { mode: 'percent_equity', value } } },
      risk: { stopLoss: { mode: 'percent', value: 5 } },
    },
  },
});
const strategies: [string, object][] = [
  ['trades', payload(cross(close, 'cross_up', indicator('sma', { length: 50 })))],
  ['never trades', payload(all(compare(rsi(14), 'lt', constant(5)), compare(rsi(7), 'gt', constant(60))))],
  ['has its orders rejected', payload(compare(rsi(14), 'lt', constant(35)), 300)],
  [
    'has forty conditions',
    payload(all(...Array.from({ length: 40 }, (_, at) => compare(rsi(at + 5), 'lt', constant(30))))),
  ],
];

const at = (answer: unknown, pointer: string): unknown =>
  pointer
    .split('/')
    .slice(1)
    .reduce((part, name) => (part as Record<string, unknown> | undefined)?.[name], answer);
const isShown = (part: unknown): boolean =>
  part !== undefined && part !== null && !(typeof part === 'object' && 'omitted' in part && 'path' in part);

async function tool(
  name: string,
  args: object,
): Promise<{ text: string; isError: boolean; body: Record<string, unknown> }> {
  const { content, isError = false } = await mcp.callTool({ name, arguments: { ...args } });
  const [{ text }] = content as { text: string }[];
  return { text, isError, body: JSON.parse(text) as Record<string, unknown> };
}

describe.each(strategies)('the result of a strategy that %s', (_, strategy) => {
  let id: string;
  beforeAll(async () => {
    const { body } = await run(strategy);
    expect(body.status).toBe('completed');
    id = body.id;
  });

  it('names in readFirst what each view has', async () => {
    const views: [string, unknown][] = [['full', (await client.get(`/backtests/${id}`)).body]];
    for (const maxBytes of [1_000, 2_500, 8_000, 50_000]) {
      const { text, body } = await client.get(`/backtests/${id}?view=agent&maxBytes=${maxBytes}`);
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(maxBytes);
      views.push([`agent in ${maxBytes}`, body]);
      const seen = await tool('get_backtest', { id, maxBytes });
      expect(Buffer.byteLength(seen.text)).toBeLessThanOrEqual(maxBytes);
      views.push([`agent by MCP in ${maxBytes}`, seen.body]);
    }
    views.push(['full by MCP', (await tool('get_backtest', { id, view: 'full' })).body]);
    for (const [view, body] of views) {
      const { readFirst } = body as { readFirst: string[] };
      expect(readFirst.length, view).toBeGreaterThan(2);
      for (const pointer of readFirst) expect(isShown(at(body, pointer)), `${view}: ${pointer}`).toBe(true);
    }
  });

  it('keeps diagnosis, funnel and rules before the headline, and the headline before all else', async () => {
    for (const maxBytes of [1_000, 8_000]) {
      const { body } = await client.get(`/backtests/${id}?view=agent&maxBytes=${maxBytes}`);
      const order = ['id', 'status', 'error', 'readFirst', 'diagnosis', 'funnel', 'rules', 'headline'];
      expect(Object.keys(body).slice(0, 8)).toEqual(order);
      expect(body.diagnosis.length * body.rules.length).toBeGreaterThan(0);
      expect(body.nearMisses?.length ?? 0).toBeLessThanOrEqual(3);
    }
  });

  it('has no more than six significant digits in an agent view', async () => {
    const { text } = await client.get(`/backtests/${id}?view=agent&maxBytes=50000`);
    const numbers = text.match(/(?<=[[:,])-?\d+\.\d+(e-?\d+)?(?=[\],}])/g) ?? [];
    expect(numbers.length).toBeGreaterThan(3);
    for (const number of numbers) expect(Number(Number(number).toPrecision(6)), number).toBe(Number(number));
  });

  it('has the trace and the rules first, the numbers in the order of the rulebook, the preview last', async () => {
    const { text } = await client.get(`/backtests/${id}`);
    const { summaryJson } = (JSON.parse(text) as { result: { summaryJson: object } }).result;
    const keys = Object.keys(summaryJson);
    expect(keys.slice(0, 5)).toEqual(['strategyTrace', 'ruleStatsSummary', 'returnPct', 'netProfit', 'initialBalance']);
    expect(keys.at(-1)).toBe('equityPreview');
    expect(keys.indexOf('totalNotional')).toBeLessThan(keys.indexOf('byExitReason'));
  });

  it('is read further by the path of a part that did not fit', async () => {
    const short = await tool('get_backtest', { id, maxBytes: 1_000 });
    const names = (short.body.omitted as string[]).filter((name) => /^\w+$/.test(name));
    for (const name of ['equityPreview', ...names.slice(0, 3)]) {
      const part = await tool('get_backtest', { id, path: `/${name}`, maxBytes: 1_000 });
      expect(part.body?.code, name).not.toBe('PATH_NOT_FOUND');
    }
    for (const pointer of (await client.get(`/backtests/${id}`)).body.readFirst) {
      const part = await tool('get_backtest', { id, view: 'full', path: pointer, maxBytes: 1_000 });
      expect(Buffer.byteLength(part.text)).toBeLessThanOrEqual(1_000);
      expect(part.body.code, pointer).not.toBe('PATH_NOT_FOUND');
    }
    // An id is hardly longer than the mark that would stand for it.
    expect((await tool('get_backtest', { id, view: 'full', maxBytes: 3_000 })).body.id).toBe(id);
    const wrong = await tool('get_backtest', { id, path: '/headline/return' });
    expect(wrong.isError).toBe(true);
    expect(wrong.body).toMatchObject({ code: 'PATH_NOT_FOUND', message: expect.stringContaining('returnPct') });
  });
});

it('names in readFirst what a backtest without a result has', async () => {
  const { body: version } = await live.finalize(strategies[0][1]);
  const queued = await client.post('/backtests', { strategyVersionId: version.id, config: SPX_CONFIG });
  for (const view of ['full', 'agent']) {
    // Whether it has ended meanwhile or not.
    const { body } = await client.get(`/backtests/${queued.body.id}?view=${view}`);
    for (const pointer of body.readFirst) expect(isShown(at(body, pointer)), pointer).toBe(true);
  }
  expect(readFirstOf({ result: null, error: null })).toEqual(['/status', '/progress']);
  expect(readFirstOf({ result: null, error: { code: 'RESOURCE_LIMIT' } })).toEqual(['/status', '/error']);
});
