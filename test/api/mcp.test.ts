// MCP: official clients, over HTTP and stdio, walk the tools from the manifest to a completed backtest.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as OldStdioTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { boundedText } from '../../src/api/mcp/boundedAnswer.ts';
import { EXAMPLE_STRATEGY_AST } from '../../src/api/strategies/strategyExamples.ts';
import { ROOT } from '../../src/config.ts';
import type { Worker } from '../../src/jobs/runner.ts';
import { createApiApp, type ApiApp, type Client as Key } from '../support/apiApp.ts';
import { startApiWorker } from '../support/apiWorker.ts';
import { cleanEnvironment } from '../support/environment.ts';
import { eventually } from '../support/eventually.ts';

let api: ApiApp;
let worker: Worker;
let url: URL;
let key: Key;
let other: Key;
beforeAll(async () => {
  api = await createApiApp();
  worker = await startApiWorker(api.services);
  url = new URL('/mcp', await api.app.listen({ port: 0, host: '127.0.0.1' }));
  key = await api.client();
  other = await api.client();
});
afterAll(async () => {
  await worker?.[Symbol.asyncDispose]();
  await api?.[Symbol.asyncDispose]();
});

const GUIDE = readFileSync(join(ROOT, 'docs/mcp.md'), 'utf8');

/** The names of the contract, in its order. */
const CONTRACT = [
  'get_manifest',
  'get_workspace_context',
  'get_capabilities',
  'validate_strategy',
  'create_strategy',
  'finalize_strategy_version',
  'run_backtest',
  'get_backtest',
];

interface ToolAnswer {
  readonly isError: boolean;
  readonly bytes: number;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into answers of every shape
  readonly body: any;
}
type CallTool = (name: string, args?: Record<string, unknown>) => Promise<ToolAnswer>;
interface ToolResult {
  readonly isError?: boolean;
  readonly content?: unknown;
}

function answerOf({ isError = false, content }: ToolResult): ToolAnswer {
  const [{ text }] = content as { text: string }[];
  return { isError, bytes: Buffer.byteLength(text), body: JSON.parse(text) };
}

/** Objects of an answer that say by `path` where an omitted part is. */
function pathsNamedIn(value: unknown): { readonly path: string }[] {
  if (typeof value !== 'object' || value === null) return [];
  const own = typeof (value as { path?: unknown }).path === 'string' ? [value as { path: string }] : [];
  return [...own, ...Object.values(value).flatMap(pathsNamedIn)];
}

interface HostConfig {
  readonly mcpServers: {
    readonly candlepool: { readonly command: string; readonly args: string[]; readonly env: Record<string, string> };
  };
}
/** What docs/mcp.md tells a host. */
const hostConfig = (): HostConfig => JSON.parse(/```json\n([^]*?)```/.exec(GUIDE)![1]) as HostConfig;

/** The newest revision of the protocol, and the one that clients ask for unless they are told to. */
const NEWEST = '2026-07-28';
const BEFORE = '2025-11-25';
const clientOf = (revision: string): Client =>
  new Client(
    { name: 'test', version: '1.0.0' },
    revision === NEWEST ? { versionNegotiation: { mode: { pin: NEWEST } } } : {},
  );

async function connect(apiKey: string, revision = BEFORE): Promise<{ client: Client; callTool: CallTool }> {
  const client = clientOf(revision);
  await client.connect(
    new StreamableHTTPClientTransport(url, { requestInit: { headers: { authorization: `Bearer ${apiKey}` } } }),
  );
  return {
    client,
    callTool: async (name, args = {}) => answerOf(await client.callTool({ name, arguments: args })),
  };
}

interface Walked {
  readonly strategyId: string;
  readonly versionId: string;
  readonly backtestId: string;
}

/** Calls the tools in the order that the manifest gives, which is that of the contract. */
async function walk(call: CallTool): Promise<Walked> {
  const called: string[] = [];
  const callTool: CallTool = async (name, args) => {
    if (called.at(-1) !== name) called.push(name);
    const answer = await call(name, args);
    expect([name, answer.isError, answer.isError ? answer.body : null]).toEqual([name, false, null]);
    return answer;
  };
  const settings = { warmupPeriod: 200 };
  const { body: workflow } = await callTool('get_manifest', { path: '/workflow' });
  expect((await callTool('get_workspace_context')).body).toMatchObject({ subscription: { tier: 'pro' } });
  expect((await callTool('get_capabilities', { sections: ['limits'] })).body).toHaveProperty('limits');
  const payload = { settings, strategyAst: EXAMPLE_STRATEGY_AST };
  expect((await callTool('validate_strategy', payload)).body).toMatchObject({ valid: true });
  const created = await callTool('create_strategy', { name: 'Golden cross', ...payload });
  const finalize = { strategyId: created.body.id, version: 1 };
  const ready = await callTool('finalize_strategy_version', finalize);
  expect(ready.body).toMatchObject({ status: 'ready' });
  const config = { timeframe: '1d', signalInstrument: { symbol: 'SPX' }, initialBalance: 10_000 };
  const run = await callTool('run_backtest', { strategyVersionId: ready.body.id, config });
  const { id } = run.body;
  const done = await eventually(async () => {
    const answer = await callTool('get_backtest', { id, wait: 25 });
    return !['queued', 'running'].includes(answer.body.status) && answer;
  });
  expect(done.body).toMatchObject({ id, status: 'completed' });
  expect(done.body.headline.totalPositions).toBeGreaterThan(0);
  expect(called).toEqual(CONTRACT);
  expect((workflow as { tool: string }[]).map(({ tool }) => tool)).toEqual(CONTRACT);
  return { strategyId: created.body.id, versionId: ready.body.id, backtestId: id };
}

describe('over HTTP', () => {
  it('pages through all series', async () => {
    const { callTool } = await connect(key.apiKey);
    const { data: items } = (await key.get('/market-data?limit=100')).body;
    expect(items.length).toBeGreaterThan(2);
    const found: object[] = [];
    let cursor: string | null = null;
    do {
      const { body } = await callTool('list_market_data', { limit: 2, ...(cursor !== null && { cursor }) });
      found.push(...body.data);
      cursor = body.pagination.nextCursor;
    } while (cursor !== null);
    expect(found).toEqual(items);
  });

  it('lists the tools of the contract with schemas and hints', async () => {
    const { client } = await connect(key.apiKey);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(CONTRACT));
    const byName = new Map(tools.map((tool) => [tool.name, tool]));
    expect(byName.get('get_backtest')!.annotations).toEqual({ readOnlyHint: true });
    // What is absent has the protocol's default.
    const hintsOf = (name: string) => ({
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: false,
      ...byName.get(name)!.annotations,
    });
    const writes = { readOnlyHint: false, destructiveHint: false };
    expect(hintsOf('cancel_backtest')).toEqual({ ...writes, idempotentHint: true });
    expect(hintsOf('create_strategy')).toEqual({ ...writes, idempotentHint: false });
    expect(hintsOf('delete_market_data')).toEqual({ readOnlyHint: false, destructiveHint: true, idempotentHint: true });
    expect(byName.get('run_backtest')!.inputSchema.required).toEqual(
      expect.arrayContaining(['strategyVersionId', 'config']),
    );
    for (const tool of tools) expect(tool.description?.length, tool.name).toBeGreaterThan(20);
    const listed = [...GUIDE.matchAll(/^\|(.*?)\|/gm)].flatMap(([, cell]) => [...cell.matchAll(/`(\w+)`/g)]);
    expect(listed.map(([, name]) => name).toSorted()).toEqual(tools.map(({ name }) => name).toSorted());
  });

  it.each([BEFORE, NEWEST])('leads an agent of revision %s from the manifest to a backtest', async (revision) => {
    const { client, callTool } = await connect(key.apiKey, revision);
    expect(client.getNegotiatedProtocolVersion()).toBe(revision);
    await walk(callTool);
    expect((await client.listPrompts()).prompts.map(({ name }) => name)).toContain('is_it_luck');
  });

  it('runs a sweep and reads its ranked rows', async () => {
    const { callTool } = await connect(key.apiKey);
    const strategy = structuredClone(EXAMPLE_STRATEGY_AST) as { strategy: Record<string, unknown> };
    const pointer = '/strategyAst/strategy/risk/stopLoss/value';
    const created = await callTool('create_strategy', { name: 'Sweep', strategyAst: strategy });
    const ready = await callTool('finalize_strategy_version', { strategyId: created.body.id, version: 1 });
    const config = { timeframe: '1d', signalInstrument: { symbol: 'SPX' }, initialBalance: 10_000 };
    const sweep = await callTool('run_sweep', {
      strategyVersionId: ready.body.id,
      config,
      space: { [pointer]: { values: [5, 10, 15] } },
      method: 'grid',
      objective: { key: 'returnPct' },
      wait: 25,
    });
    expect(sweep, JSON.stringify(sweep.body)).toMatchObject({ isError: false, body: { status: 'completed' } });
    expect(sweep.bytes).toBeLessThanOrEqual(8_000);
    const { body } = await callTool('get_sweep', { id: sweep.body.id });
    expect(body.id).toBe(sweep.body.id);
    const columns = ['variant', pointer, 'returnPct'];
    const pages = [];
    for (let offset: number | null = 0; offset !== null; offset = pages.at(-1).nextOffset)
      pages.push((await callTool('get_sweep_rows', { id: sweep.body.id, columns, offset, limit: 2 })).body);
    expect(pages.map(({ nextOffset }) => nextOffset)).toEqual([2, null]);
    const rows = pages.flatMap((page) => page.rows) as number[][];
    expect(rows.map(([variant, stop]) => [variant, stop])).toEqual([[0, 5], [1, 10], [2, 15]]); // prettier-ignore
    const best = Math.max(...rows.map(([, , returnPct]) => returnPct));
    expect(best).toBe(sweep.body.best.value);
  });

  it('reads a stored strategy back, with the payload of a version', async () => {
    const { callTool } = await connect(key.apiKey);
    const settings = { warmupPeriod: 210 };
    const payload = { settings, strategyAst: EXAMPLE_STRATEGY_AST };
    const { body: created } = await callTool('create_strategy', { name: 'Read back', ...payload });
    const { body: found } = await callTool('list_strategies', { search: 'Read back' });
    expect(found.data).toMatchObject([{ id: created.id, versions: [{ version: 1, status: 'draft' }] }]);
    const { body: strategy } = await callTool('get_strategy', { id: created.id });
    expect(strategy).toMatchObject({ name: 'Read back', versionCount: 1 });
    expect((await callTool('get_strategy', { id: created.id, version: 1 })).body).toMatchObject(payload);
  });

  it('lists templates, one of them in full', async () => {
    const { callTool } = await connect(key.apiKey);
    const { data: all } = (await key.get('/system-strategies?limit=100')).body;
    expect(all.length).toBeGreaterThan(30);
    for (const page of [{}, { limit: 10 }]) {
      const found: object[] = [];
      let cursor: string | null = null;
      do {
        const { body } = await callTool('list_templates', { ...page, ...(cursor !== null && { cursor }) });
        found.push(...body.data);
        cursor = body.pagination.nextCursor;
      } while (cursor !== null);
      expect(found).toEqual(all);
    }
    const template = await callTool('list_templates', { key: 'golden_cross' });
    expect(template.body).toMatchObject({ key: 'golden_cross', strategyAst: { protocol: 'svc.strategy' } });
  });

  it('explains the plan of a strategy', async () => {
    const { callTool } = await connect(key.apiKey);
    const { body } = await callTool('explain_strategy', { strategyAst: EXAMPLE_STRATEGY_AST });
    expect(body.plan).toContain('sma');
  });

  it('shows two keys only the things of their own workspaces, either way', async () => {
    const [mine, theirs] = [await connect(key.apiKey), await connect(other.apiKey)];
    const things = await Promise.all([walk(mine.callTool), walk(theirs.callTool)]);
    const config = { timeframe: '1d', signalInstrument: { symbol: 'SPX' }, initialBalance: 10_000 };
    for (const [index, { callTool }] of [mine, theirs].entries()) {
      const [own, foreign] = index === 0 ? things : things.toReversed();
      const { body: context } = await callTool('get_workspace_context');
      expect(context.workspace.id).toBe([key, other][index].workspaceId);
      const calls = ({ strategyId, versionId, backtestId }: Walked): [string, Record<string, unknown>][] => [
        ['get_backtest', { id: backtestId }],
        ['get_backtest', { id: backtestId, view: 'full' }],
        ['finalize_strategy_version', { strategyId, version: 1 }],
        ['run_backtest', { strategyVersionId: versionId, config, wait: 0 }],
        ['check_robustness', { backtestId, analyses: ['feeStress'], wait: 0 }],
      ];
      for (const [name, args] of calls(own))
        expect([name, (await callTool(name, args)).isError]).toEqual([name, false]);
      const refused = [...calls(foreign), ['cancel_backtest', { id: foreign.backtestId }] as const];
      for (const [name, args] of refused)
        expect([name, await callTool(name, args)]).toMatchObject([name, { isError: true, body: { status: 404 } }]);
    }
  });

  it('answers with the problem body when the API refuses', async () => {
    const { callTool } = await connect(key.apiKey);
    const refused = await callTool('create_strategy', { name: 'x', strategyAst: { protocol: 'svc.strategy' } });
    expect(refused).toMatchObject({ isError: true, body: { code: 'STRATEGY_INVALID' } });
    expect(refused.body.issues.length).toBeGreaterThan(0);
  });

  it('keeps answers within maxBytes and reads omitted parts by path', async () => {
    const { callTool } = await connect(key.apiKey);
    const pack = await callTool('get_capabilities');
    expect(JSON.stringify(pack.body)).not.toContain('"omitted"');
    expect(pack.body).toMatchObject({
      examples: { strategyAst: { version: 1 } },
      kinds: { cross: expect.any(String) },
    });
    const examples = await callTool('get_capabilities', { part: 'examples' });
    expect(examples.body).toMatchObject({ examples: { signalGraph: { version: 2 } } });
    const short = await callTool('get_capabilities', { sections: ['indicators', 'enums'], maxBytes: 8_000 });
    expect(short.bytes).toBeLessThanOrEqual(8_000);
    const [{ path }] = pathsNamedIn(short.body);
    expect(path).toMatch(/^\/(?:indicators|enums)\b/);
    const part = await callTool('get_capabilities', { sections: ['indicators', 'enums'], path, maxBytes: 2_000 });
    expect([part.isError, part.bytes <= 2_000]).toEqual([false, true]);
  });

  it('has read 24 KB when it may write a strategy: initialize, tools/list and the authoring pack', async () => {
    const headers = {
      authorization: `Bearer ${key.apiKey}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    };
    const clientInfo = { name: 'test', version: '1.0.0' };
    const messages = [
      ['initialize', { protocolVersion: BEFORE, capabilities: {}, clientInfo }],
      ['tools/list', {}],
      ['tools/call', { name: 'get_capabilities', arguments: {} }],
    ];
    let bytes = 0;
    for (const [id, [method, params]] of messages.entries()) {
      const body = JSON.stringify({ jsonrpc: '2.0', id, method, params });
      const text = await (await fetch(url, { method: 'POST', headers, body })).text();
      const { result } = JSON.parse(text.slice(text.indexOf('{'))) as { result: { content?: [{ text: string }] } };
      // An agent reads the text of an answer, not the JSON string that holds it.
      bytes += Buffer.byteLength(result.content?.[0].text ?? JSON.stringify(result));
    }
    expect(bytes).toBeGreaterThan(15_000);
    expect(bytes).toBeLessThanOrEqual(24 * 1024);
  });

  it('serves the rulebook and the manifest as resources', async () => {
    const { client } = await connect(key.apiKey);
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toContain('candlepool://fill-rules');
    const read = await client.readResource({ uri: 'candlepool://manifest' });
    expect(JSON.parse((read.contents[0] as { text: string }).text)).toMatchObject({ name: 'Candlepool' });
  });

  it('refuses a client without a valid key with 401', async () => {
    const answer = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' });
    expect(answer.status).toBe(401);
  });

  it('leads an agent with a client of the first SDK from the manifest to a completed backtest', async () => {
    const client = new OldClient({ name: 'old', version: '1.0.0' });
    await client.connect(new OldTransport(url, { requestInit: { headers: { 'x-api-key': key.apiKey } } }));
    const callTool: CallTool = async (name, args = {}) =>
      answerOf((await client.callTool({ name, arguments: args })) as ToolResult);
    await walk(callTool);
    expect((await callTool('get_workspace_context')).body).toMatchObject({ workspace: { id: key.workspaceId } });
    await client.close();
  });
});

describe('over stdio', () => {
  const { command, args, env } = hostConfig().mcpServers.candlepool;
  const started = (apiKey: string) => ({
    command: command.replace('/path/to/candlepool', ROOT),
    args: args.map((arg) => arg.replace('http://127.0.0.1:8080', url.origin)),
    env: cleanEnvironment({ ...env, CANDLEPOOL_API_KEY: apiKey }),
  });

  it('leads an agent from the manifest to a completed backtest, which another key cannot see', async () => {
    const [client, stranger] = [BEFORE, NEWEST].map(clientOf);
    await client.connect(new StdioClientTransport(started(key.apiKey)));
    await stranger.connect(new StdioClientTransport(started(other.apiKey)));
    const { backtestId } = await walk(async (name, args = {}) =>
      answerOf(await client.callTool({ name, arguments: args })),
    );
    expect(stranger.getNegotiatedProtocolVersion()).toBe(NEWEST);
    const seen = answerOf(await stranger.callTool({ name: 'get_backtest', arguments: { id: backtestId } }));
    expect(seen).toMatchObject({ isError: true, body: { status: 404, code: 'NOT_FOUND' } });
    await client.close();
    await stranger.close();
  });

  it('leads an agent with a client of the first SDK', async () => {
    const client = new OldClient({ name: 'old', version: '1.0.0' });
    await client.connect(new OldStdioTransport(started(key.apiKey)));
    await walk(async (name, args = {}) => answerOf((await client.callTool({ name, arguments: args })) as ToolResult));
    await client.close();
  });
});

describe('bounded answers', () => {
  it('keeps what fits, shortens lists and names where the rest is', () => {
    const answer = {
      small: 1,
      list: Array.from({ length: 1_000 }, (_, index) => ({ index })),
      text: 'x'.repeat(5_000),
    };
    const text = boundedText(answer, { path: '', maxBytes: 1_000 });
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(1_000);
    const body = JSON.parse(text) as { small: number; list: unknown[] };
    expect(body.small).toBe(1);
    expect(body.list.at(-1)).toMatchObject({ path: expect.stringMatching(/^\/list\/\d+$/) });
    expect(boundedText(answer, { path: '/list/999', maxBytes: 1_000 })).toBe('{"index":999}');
    expect(boundedText(answer, { path: '/nothing', maxBytes: 1_000 })).toContain('PATH_NOT_FOUND');
  });
});
