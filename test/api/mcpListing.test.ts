// Listings over MCP: short schemas beside the whole ones, structured content, prompts and progress, without a service.
import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { afterEach, describe, expect, it } from 'vitest';
import type { CallApi } from '../../src/api/mcp/apiCall.ts';
import { createMcpServer } from '../../src/api/mcp/server.ts';

const ID = '0198c1de-7a5b-7c4e-9d0a-2f6b1c3d4e5f';
let client: Client;
afterEach(() => client.close());

/** A client of a server whose calls of the API are answered by `answer`. */
async function connected(answer: (path: string) => readonly [status: number, body: unknown]): Promise<Client> {
  const call: CallApi = async ({ path }) => {
    const [status, body] = answer(path);
    return { status, body, header: () => null };
  };
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  client = new Client({ name: 'test', version: '1.0.0' });
  await createMcpServer(call).connect(ours);
  await client.connect(theirs);
  return client;
}

async function called(name: string, args: Record<string, unknown> = {}) {
  const { isError = false, content, structuredContent } = await client.callTool({ name, arguments: args });
  return { isError, structuredContent, body: JSON.parse((content as { text: string }[])[0].text) };
}

const nothing = () => [200, {}] as const;

describe('get_schema', () => {
  it('has every listed argument and more, with bounds and descriptions', async () => {
    await connected(nothing);
    const { tools } = await client.listTools();
    for (const { name, inputSchema, description } of tools) {
      const { isError, body } = await called('get_schema', { tool: name, maxBytes: 100_000 });
      expect([name, isError, body.name, body.description]).toEqual([name, false, name, description]);
      const { properties, required = [] } = body.inputSchema;
      expect(Object.keys(properties), name).toEqual(expect.arrayContaining(Object.keys(inputSchema.properties!)));
      expect(properties, name).toHaveProperty('maxBytes.maximum');
      expect(inputSchema.required ?? [], name).toEqual(required);
    }
    const { body } = await called('get_schema', { tool: 'run_backtest', path: '/inputSchema/properties/config' });
    expect(JSON.stringify(body)).toContain('"format":"date-time"');
    expect(JSON.stringify(body)).not.toMatch(/"override"|\\\\d/);
  });

  it('names the tools there are for one that there is not', async () => {
    await connected(nothing);
    const { isError, body } = await called('get_schema', { tool: 'run_backtset' });
    expect([isError, body.code]).toEqual([true, 'NOT_FOUND']);
    expect(body.message).toMatch(/^There is no tool "run_backtset"\. The tools are .*\brun_backtest,/);
  });
});

describe('tools/list', () => {
  it('has the type and at most one line of each argument', async () => {
    await connected(nothing);
    const { tools } = await client.listTools();
    const known = new Set(['type', 'enum', 'items', 'description']);
    for (const { name, inputSchema, description } of tools) {
      expect(description!.length, name).toBeLessThanOrEqual(130);
      for (const [argument, schema] of Object.entries(inputSchema.properties!)) {
        const { description: line = '', ...members } = schema as { description?: string };
        expect([name, argument, Object.keys(members).filter((each) => !known.has(each))]).toEqual([name, argument, []]);
        expect(line.length, `${name} ${argument}`).toBeLessThanOrEqual(60);
      }
    }
  });
});

describe('an argument that is not listed', () => {
  it('is named by the listing or the instructions, or belongs to few callers', async () => {
    await connected(nothing);
    const { tools } = await client.listTools();
    const rare = ['forkedFromVersionId', 'ignoreWarnings', 'protocol'];
    for (const { name, inputSchema } of tools) {
      const { body } = await called('get_schema', { tool: name, maxBytes: 100_000 });
      const named = `${String(inputSchema.description)} ${client.getInstructions()}`;
      for (const [argument, { description }] of Object.entries<{ description?: string }>(body.inputSchema.properties))
        if (!Object.hasOwn(inputSchema.properties!, argument) && !rare.includes(argument))
          expect(description?.startsWith('Not used') ? argument : named, name).toMatch(new RegExp(`\\b${argument}\\b`));
    }
  });
});

describe('structured content', () => {
  it('is the answer as an object, as its schema says, and a part of it under `part`', async () => {
    const run = { id: ID, status: 'completed', headline: { returnPct: 0.5 }, rows: [1, 2] };
    await connected(() => [200, run]);
    const { tools } = await client.listTools();
    const { outputSchema } = tools.find(({ name }) => name === 'get_backtest')!;
    expect(outputSchema).toMatchObject({ properties: { id: { type: 'string' }, status: { type: 'string' } } });
    expect(await called('get_backtest', { id: ID })).toEqual({ isError: false, body: run, structuredContent: run });
    for (const [path, part] of [
      ['/rows', [1, 2]],
      ['/status', 'completed'],
    ] as const)
      expect(await called('get_backtest', { id: ID, path })).toMatchObject({ body: part, structuredContent: { part } });
  });

  it('stays valid where members are shortened, and refusals have none', async () => {
    const issues = Array.from({ length: 500 }, (_, index) => ({
      code: 'X',
      path: `/${index}`,
      message: 'x'.repeat(90),
    }));
    await connected(() => [200, { valid: false, issues }]);
    await client.listTools();
    const { structuredContent } = await called('validate_strategy', { strategyAst: {}, maxBytes: 1_000 });
    expect(structuredContent).toMatchObject({ valid: false });
    await client.close();
    await connected(() => [404, { status: 404, code: 'NOT_FOUND', message: 'There is none.' }]);
    await client.listTools();
    const refused = await called('get_backtest', { id: ID });
    expect(refused).toMatchObject({ isError: true, body: { code: 'NOT_FOUND' } });
    expect(refused.structuredContent).toBeUndefined();
  });
});

describe('validate_strategy', () => {
  it('echoes the payload only if it is asked for', async () => {
    const verdict = { valid: true, issues: [], compiled: { strategyAst: {} } };
    await connected(() => [200, verdict]);
    expect((await called('validate_strategy', { strategyAst: {} })).body).toEqual({ valid: true, issues: [] });
    expect((await called('validate_strategy', { strategyAst: {}, compiled: true })).body).toEqual(verdict);
  });
});

describe('progress', () => {
  it('tells the id of a queued run before its result', async () => {
    await connected((path) => (path.includes('?') ? [200, { id: ID, status: 'completed' }] : [201, { id: ID }]));
    const heard: (string | undefined)[] = [];
    await client.callTool(
      { name: 'run_backtest', arguments: { strategyVersionId: ID, config: {} } },
      { onprogress: ({ message }) => heard.push(message) },
    );
    expect(heard).toEqual([`Queued as ${ID}.`]);
  });
});

describe('prompts', () => {
  it('are listed with their argument, which their text repeats', async () => {
    await connected(nothing);
    const { prompts } = await client.listPrompts();
    expect(prompts.map(({ name }) => name)).toEqual(['research_idea', 'why_no_trades', 'is_it_luck']);
    const { tools } = await client.listTools();
    const names = tools.map(({ name }) => name);
    for (const { name, arguments: [argument] = [] } of prompts) {
      const { messages } = await client.getPrompt({ name, arguments: { [argument.name]: 'THIS ONE' } });
      const { text } = messages[0].content as { text: string };
      expect(text, name).toContain('THIS ONE');
      // Every tool that a text names exists.
      for (const [word] of text.matchAll(/\b(?:get|run|list|check|create|finalize|validate)_\w+/g))
        expect(names, `${name}: ${word}`).toContain(word);
    }
  });

  it.each([
    ['luck', { backtestId: ID }, /There is no such prompt\. The prompts are research_idea/],
    ['is_it_luck', {}, /Prompt is_it_luck needs the argument "backtestId"/],
    ['research_idea', { idea: 'x'.repeat(5_000) }, /"idea" has 5000 characters, more than 4000/],
  ] as const)('refuse %s %j', async (name, args, message) => {
    await connected(nothing);
    await expect(client.getPrompt({ name, arguments: args })).rejects.toThrow(message);
  });
});
