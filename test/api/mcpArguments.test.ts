// Arguments of MCP tools: JSON in strings is read, and every fault is named with its place and its remedy.
import { Client as McpClient, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { EXAMPLE_STRATEGY_AST } from '../../src/api/strategies/strategyExamples.ts';
import { createLiveApi, SPX_CONFIG } from '../support/liveApi.ts';

const live = await createLiveApi();
const mcp = new McpClient({ name: 'test', version: '1.0.0' });
let versionId: string;
beforeAll(async () => {
  const url = new URL('/mcp', await live.api.app.listen({ port: 0, host: '127.0.0.1' }));
  const headers = { authorization: `Bearer ${live.client.apiKey}` };
  await mcp.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  const created = await call('create_strategy', { name: 'Golden cross', strategyAst: EXAMPLE_STRATEGY_AST });
  const ready = await call('finalize_strategy_version', { strategyId: created.body.id, version: 1 });
  versionId = ready.body.id as string;
});
afterAll(async () => {
  await mcp.close();
  await live[Symbol.asyncDispose]();
});

// oxlint-disable-next-line typescript/no-explicit-any -- tests look into answers of every shape
async function call(name: string, args: object): Promise<{ isError: boolean; body: any }> {
  const { content, isError = false } = await mcp.callTool({ name, arguments: { ...args } });
  return { isError, body: JSON.parse((content as { text: string }[])[0].text) };
}

it('reads objects, lists and numbers that were sent as strings of their JSON', async () => {
  const payload = { strategyAst: JSON.stringify(EXAMPLE_STRATEGY_AST), settings: '{"warmupPeriod":200}' };
  expect(await call('validate_strategy', payload)).toMatchObject({ isError: false, body: { valid: true } });
  const run = { strategyVersionId: versionId, config: JSON.stringify(SPX_CONFIG), wait: '25' };
  expect(await call('run_backtest', run)).toMatchObject({ isError: false, body: { status: 'completed' } });
  const items = JSON.stringify([{ strategyVersionId: versionId, config: SPX_CONFIG }]);
  expect((await call('run_backtests', { items })).body).toMatchObject({ accepted: 1, refused: 0 });
  expect(await call('get_capabilities', { sections: '["limits"]' })).toMatchObject({ isError: false });
});

it('reads strings inside of a list, and inside of a string', async () => {
  const item = { strategyVersionId: versionId, config: JSON.stringify(SPX_CONFIG) };
  const broken = { ...item, config: '{"timeframe":' };
  expect((await call('run_backtests', { items: [item, JSON.stringify(item)] })).body).toMatchObject({ accepted: 2 });
  expect((await call('run_backtests', { items: JSON.stringify([item]) })).body).toMatchObject({ accepted: 1 });
  const { body } = await call('run_backtests', { items: [item, { strategyVersionId: versionId, config: 5 }] });
  expect(body).toMatchObject({
    accepted: 1,
    refused: 1,
    data: [{}, { error: { issues: [{ path: '/items/1/config' }] } }],
  });
  expect((await call('run_backtests', { items: [item, broken] })).body.issues).toMatchObject([
    { path: '/items/1/config', suggestion: 'Send the object itself, not a string of it.' },
  ]);
});

it('refuses a string whose JSON names a member twice', async () => {
  const strategyAst = JSON.stringify(EXAMPLE_STRATEGY_AST).replace('"length":50', '"length":50,"length":51');
  const { isError, body } = await call('validate_strategy', { strategyAst });
  expect(isError).toBe(true);
  expect(body.issues).toMatchObject([
    { code: 'DUPLICATE_MEMBER', path: '/strategyAst/strategy/entry/trigger/left/args/length' },
  ]);
});

it('says where the JSON of a string ends to be valid', async () => {
  const { isError, body } = await call('validate_strategy', { strategyAst: '{"protocol": "svc.strategy",' });
  expect([isError, body.code]).toEqual([true, 'VALIDATION_FAILED']);
  expect(body.issues).toEqual([
    {
      code: 'TYPE_MISMATCH',
      path: '/strategyAst',
      field: 'strategyAst',
      severity: 'error',
      message: expect.stringMatching(/^"strategyAst" is a string that is not valid JSON: .+\.$/),
      suggestion: 'Send the object itself, not a string of it.',
    },
  ]);
});

it('passes what is wrong in a body on to the API, which repairs it', async () => {
  const config = { ...SPX_CONFIG, timeframe: '1D', initialBalance: -5 };
  const { body } = await call('run_backtest', { strategyVersionId: versionId, config });
  const { body: refused } = await live.client.post('/backtests', { strategyVersionId: versionId, config });
  expect(body.issues).toEqual(refused.issues);
  expect(body.issues.map(({ path, suggestion }: Record<string, string>) => [path, suggestion])).toEqual([
    ['/config/timeframe', 'Did you mean "1d"?'],
    ['/config/initialBalance', 'Give a number above 0. Example: 10000.'],
  ]);
});

it.each([
  ['validate_strategy', { strategy_ast: {} }, 'Unknown argument "strategy_ast".', 'Did you mean "strategyAst"?'],
  ['get_workspace_context', { foo: 1 }, 'Unknown argument "foo".', 'The arguments are path, maxBytes.'],
  ['get_backtest', {}, 'Missing member "id".', undefined],
  ['get_backtest', { id: 'x', wait: 'soon' }, '"wait" must be a number.', undefined],
  ['get_backtest', { id: 'x', wait: 1_000 }, '"wait" must be at most 25.', undefined],
  ['get_backtest', { id: 'x', path: 'funnel' }, '"path" must be empty or begin with /.', undefined],
])('%s %j: %s', async (name, args, message, suggestion) => {
  const { isError, body } = await call(name, args);
  expect([isError, body.code, body.message]).toEqual([true, 'VALIDATION_FAILED', message]);
  expect(body.issues[0].suggestion).toBe(suggestion);
});
