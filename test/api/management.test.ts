import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApiApp, type ApiApp, type Client } from '../support/apiApp.ts';
import { ast, brokenAst, graph, settings } from '../support/strategyPayloads.ts';

let api: ApiApp;
let client: Client;
let token: string;
beforeAll(async () => {
  api = await createApiApp();
  client = await api.client({ tier: 'free' });
  token = await api.token(client.workspaceId, 'admin');
});
afterAll(() => api[Symbol.asyncDispose]());

const post = (operation: string, payload: object, bearer = token, workspaceId = client.workspaceId) =>
  api.send({
    method: 'POST',
    url: `/workspaces/${workspaceId}/backtests/${operation}`,
    headers: { authorization: `Bearer ${bearer}` },
    payload,
  });
const operations = ['validate-strategy', 'validate-signal-graph'];

describe('an editor operation', () => {
  it('answers validate-signal-graph as validate does', async () => {
    const body = { settings, signalGraph: graph() };
    const reply = await post('validate-signal-graph', body);
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual((await client.post('/strategies/validate', body)).body);
    const broken = await post('validate-signal-graph', { settings, strategyAst: brokenAst() });
    expect(broken.body).toMatchObject({ valid: false, summary: { errors: 1 } });
  });

  it('compiles editor tokens into a canonical payload in validate-strategy', async () => {
    const entryTokens = [
      { id: 't1', type: 'indicator', name: 'sma', args: { length: 10 } },
      { id: 't2', type: 'operator', value: 'cross_up' },
      { id: 't3', type: 'indicator', name: 'sma', args: { length: 30 } },
    ];
    const exitTokens = [
      { id: 't4', type: 'market', value: 'close' },
      { id: 't5', type: 'operator', value: 'lt' },
      { id: 't6', type: 'number', value: 100 },
    ];
    const reply = await post('validate-strategy', { entryTokens, exitTokens, settings });
    expect(reply.status).toBe(200);
    expect(reply.body.issues.filter((issue: { severity: string }) => issue.severity === 'error')).toEqual([]);
    expect(reply.body.valid).toBe(true);
    expect(reply.body.strategyAst).toMatchObject({ protocol: 'svc.strategy', version: 1 });
    expect(
      reply.body.strategyAst.strategy.entry.trigger ?? reply.body.strategyAst.strategy.entry[0].trigger,
    ).toMatchObject({ kind: 'cross', op: 'cross_up' });
    const again = await client.post('/strategies/validate', { settings, strategyAst: reply.body.strategyAst });
    expect(again.body.summary.errors).toBe(0);
  });

  it('reports tokens that do not form a sentence as issues, not as a failure', async () => {
    const operator = { id: 'x', type: 'operator', value: 'gt' };
    for (const entryTokens of [
      [],
      [operator],
      [operator, operator],
      [{ id: 1 }],
      [null],
      [{ id: 'g', type: 'group', value: '(' }],
    ]) {
      const reply = await post('validate-strategy', { entryTokens, exitTokens: [], settings });
      expect(reply.status, JSON.stringify(entryTokens)).toBe(200);
      expect(reply.body).toMatchObject({ valid: false, strategyAst: null });
      expect(reply.body.issues.length).toBeGreaterThan(0);
    }
  });

  it('answers a missing or invalid token, or an API key, with 401', async () => {
    for (const operation of operations)
      for (const bearer of ['', 'nonsense', client.apiKey]) {
        const reply = await post(operation, {}, bearer);
        expect([reply.status, reply.body.message]).toEqual([401, 'Missing or invalid access token.']);
      }
  });

  it('is open to owner and admin, 403 for a plain member, and 404 for others', async () => {
    const body = { settings, strategyAst: ast() };
    const owner = await api.token(client.workspaceId, 'owner');
    expect((await post('validate-signal-graph', body, owner)).status).toBe(200);
    const member = await api.token(client.workspaceId, 'member');
    const stranger = await api.token((await api.client()).workspaceId, 'owner');
    for (const operation of operations) {
      expect((await post(operation, body, member)).body.code).toBe('INSUFFICIENT_ROLE');
      expect((await post(operation, body, stranger)).status).toBe(404);
      expect((await post(operation, body, token, randomUUID())).status).toBe(404);
      expect((await post(operation, body, token, 'nonsense')).status).toBe(404);
    }
  });

  it('answers an invalid envelope with 400, and payloads above the size of the tier with 413', async () => {
    expect((await post('validate-signal-graph', { settings })).status).toBe(400);
    expect((await post('validate-strategy', { settings })).status).toBe(400);
    expect((await post('validate-strategy', { entryTokens: [], name: 'x' })).status).toBe(400);
    const big = { settings, strategyAst: { ...ast(), meta: { note: 'x'.repeat(300_000) } } };
    expect((await post('validate-signal-graph', big)).status).toBe(413);
  });
});
