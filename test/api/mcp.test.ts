// MCP: official clients, over HTTP and stdio, walk the tools from the manifest to a completed backtest.
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { boundedText } from '../../src/api/mcp/boundedAnswer.ts';
import { EXAMPLE_STRATEGY_AST } from '../../src/api/strategies/strategyExamples.ts';
import { ROOT } from '../../src/config.ts';
import { urlOf } from '../../src/db/connect.ts';
import type { Worker } from '../../src/jobs/runner.ts';
import { startWorker } from '../../src/jobs/runner.ts';
import { createApiApp, type ApiApp, type Client as Key } from '../support/apiApp.ts';
import { cleanEnvironment } from '../support/environment.ts';
import { quiet } from '../support/queue.ts';

let api: ApiApp;
let worker: Worker;
let url: URL;
let key: Key;
let other: Key;
beforeAll(async () => {
  api = await createApiApp();
  const { services } = api;
  worker = await startWorker({ url: urlOf(services.sql), threads: 1, snapshots: () => services.catalogue }, quiet);
  url = new URL('/mcp', await api.app.listen({ port: 0, host: '127.0.0.1' }));
  key = await api.client();
  other = await api.client();
});
afterAll(async () => {
  await worker?.[Symbol.asyncDispose]();
  await api?.[Symbol.asyncDispose]();
});

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

async function connect(apiKey: string): Promise<{ client: Client; callTool: CallTool }> {
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(
    new StreamableHTTPClientTransport(url, { requestInit: { headers: { authorization: `Bearer ${apiKey}` } } }),
  );
  return {
    client,
    callTool: async (name, args = {}) => answerOf(await client.callTool({ name, arguments: args })),
  };
}

/** The order that the contract recommends to agents. */
async function walk(callTool: CallTool): Promise<string> {
  const settings = { warmupPeriod: 200 };
  expect((await callTool('get_manifest', { path: '/workflow/0/tool' })).body).toBe('get_manifest');
  expect((await callTool('get_workspace_context')).body).toMatchObject({ subscription: { tier: 'pro' } });
  expect((await callTool('get_capabilities', { sections: ['limits'] })).body).toHaveProperty('limits');
  const payload = { settings, strategyAst: EXAMPLE_STRATEGY_AST };
  expect((await callTool('validate_strategy', payload)).body).toMatchObject({ valid: true });
  expect((await callTool('explain_strategy', payload)).body.plan).toContain('sma');
  const created = await callTool('create_strategy', { name: 'Golden cross', ...payload });
  const finalize = { strategyId: created.body.id, version: 1 };
  const ready = await callTool('finalize_strategy_version', finalize);
  expect(ready.body).toMatchObject({ status: 'ready' });
  const config = { timeframe: '1d', signalInstrument: { symbol: 'SPX' }, initialBalance: 10_000 };
  const run = await callTool('run_backtest', { strategyVersionId: ready.body.id, config });
  expect(run.body).toMatchObject({ status: 'completed' });
  const { body } = await callTool('get_backtest', { id: run.body.id });
  expect(body).toMatchObject({ id: run.body.id, status: 'completed' });
  return body.id as string;
}

describe('over HTTP', () => {
  it('lists the tools of the contract with schemas and hints', async () => {
    const { client } = await connect(key.apiKey);
    const { tools } = await client.listTools();
    const contract =
      'get_manifest get_workspace_context get_capabilities validate_strategy create_strategy finalize_strategy_version run_backtest get_backtest';
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(contract.split(' ')));
    const byName = new Map(tools.map((tool) => [tool.name, tool]));
    expect(byName.get('get_backtest')!.annotations).toMatchObject({ readOnlyHint: true, idempotentHint: true });
    expect(byName.get('create_strategy')!.annotations).toMatchObject({ readOnlyHint: false });
    expect(byName.get('run_backtest')!.inputSchema.required).toEqual(
      expect.arrayContaining(['strategyVersionId', 'config']),
    );
    for (const tool of tools) expect(tool.description?.length, tool.name).toBeGreaterThan(20);
  });

  it('leads an agent from the manifest to a completed backtest', async () => {
    const { callTool } = await connect(key.apiKey);
    await walk(callTool);
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
  });

  it('shows a key only the things of its own workspace', async () => {
    const mine = await connect(key.apiKey);
    const theirs = await connect(other.apiKey);
    const id = await walk(mine.callTool);
    const seen = await theirs.callTool('get_backtest', { id });
    expect(seen).toMatchObject({ isError: true, body: { status: 404, code: 'NOT_FOUND' } });
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
      examples: { signalGraph: { version: 2 } },
      kinds: { cross: expect.any(String) },
    });
    const short = await callTool('get_capabilities', { sections: ['indicators', 'enums'], maxBytes: 8_000 });
    expect(short.bytes).toBeLessThanOrEqual(8_000);
    const [, part] = Object.entries(short.body as object).find(([, member]) => member?.omitted || member?.path) ?? [];
    const path = part?.path ?? '/indicators';
    expect((await callTool('get_capabilities', { path, maxBytes: 2_000 })).bytes).toBeLessThanOrEqual(2_000);
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

  it('serves a client of the first SDK too', async () => {
    const client = new OldClient({ name: 'old', version: '1.0.0' });
    await client.connect(new OldTransport(url, { requestInit: { headers: { 'x-api-key': key.apiKey } } }));
    const answer = answerOf((await client.callTool({ name: 'get_workspace_context', arguments: {} })) as ToolResult);
    expect(answer.body).toMatchObject({ workspace: { id: key.workspaceId } });
    await client.close();
  });
});

describe('over stdio', () => {
  it('leads an agent from the manifest to a completed backtest', async () => {
    const client = new Client({ name: 'test', version: '1.0.0' });
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [join(ROOT, 'src/main.ts'), 'mcp', '--url', url.origin],
      env: cleanEnvironment({ CANDLEPOOL_API_KEY: key.apiKey }),
    });
    await client.connect(transport);
    await walk(async (name, args = {}) => answerOf(await client.callTool({ name, arguments: args })));
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
