import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import { TIER_LIMITS } from '../../src/tiers.ts';
import { createApiApp, type Reply } from '../support/apiApp.ts';
import { ast, brokenAst, contradictoryAst, graph, settings } from '../support/strategyPayloads.ts';

const api = await createApiApp();
const client = await api.client();
afterAll(() => api[Symbol.asyncDispose]());

const codes = (reply: Reply): string[] => reply.body.issues.map((issue: { code: string }) => issue.code);
const paths = (reply: Reply): string[] => reply.body.issues.map((issue: { path: string }) => issue.path);
const create = async (level = 100, who = client): Promise<Reply> =>
  who.post('/strategies', { name: 'A strategy', settings, strategyAst: ast(level) });

describe('validate', () => {
  it('leaves the canonical payload out with compiled=false, and nothing else', async () => {
    const body = { settings, strategyAst: ast() };
    const [whole, short] = [
      await client.post('/strategies/validate', body),
      await client.post('/strategies/validate?compiled=false', body),
    ];
    const { compiled, ...report } = whole.body;
    expect([compiled.strategyAst.protocol, short.body]).toEqual(['svc.strategy', report]);
    expect(short.text.length).toBeLessThan(whole.text.length / 2);
    expect((await client.post('/strategies/validate?compiled=no', body)).status).toBe(400);
  });

  it('answers a valid payload with 200, valid, summary, issues, analysis and compiled', async () => {
    const reply = await client.post('/strategies/validate', { settings, strategyAst: ast() });
    expect(reply.status).toBe(200);
    expect(reply.body).toMatchObject({ valid: true, summary: { errors: 0 }, requiresConfirmation: false });
    expect(reply.body.compiled.strategyAst.protocol).toBe('svc.strategy');
    expect(reply.body.analysis.conditionCount).toBe(2);
  });

  it('compiles a signal graph into the canonical format', async () => {
    const reply = await client.post('/strategies/validate', { settings, signalGraph: graph() });
    expect(reply.body.valid).toBe(true);
    expect(reply.body.compiled.strategyAst).toMatchObject({ protocol: 'svc.strategy', version: 1 });
  });

  it('answers 200 for an invalid payload, with code, path, field, severity and message per issue', async () => {
    const reply = await client.post('/strategies/validate', { settings, strategyAst: brokenAst() });
    expect(reply.status).toBe(200);
    expect(reply.body.valid).toBe(false);
    const [issue] = reply.body.issues;
    expect(issue).toMatchObject({
      field: 'strategyAst',
      severity: 'error',
      path: '/strategyAst/strategy/entry/trigger/op',
    });
    expect(issue.message).not.toBe('');
  });

  it('reports maxConcurrentPositions outside 1 to 100, a negative warmupPeriod and unknown settings', async () => {
    for (const wrong of [
      { maxConcurrentPositions: 0 },
      { maxConcurrentPositions: 101 },
      { warmupPeriod: -1 },
      { leverage: 2 },
    ]) {
      const reply = await client.post('/strategies/validate', { settings: wrong, strategyAst: ast() });
      expect(reply.status).toBe(200);
      expect(reply.body.valid, JSON.stringify(wrong)).toBe(false);
      expect(reply.body.issues[0].field).toBe('settings');
    }
  });

  it('accepts maxConcurrentPositions 1 and 100 and warmupPeriod 0', async () => {
    for (const right of [{ maxConcurrentPositions: 1 }, { maxConcurrentPositions: 100, warmupPeriod: 0 }, {}]) {
      const reply = await client.post('/strategies/validate', { settings: right, strategyAst: ast() });
      expect(reply.body.summary.errors, JSON.stringify(right)).toBe(0);
    }
  });

  it('reports WARMUP_TOO_SHORT as a warning, which does not make a payload invalid', async () => {
    const strategyAst = ast();
    const left = { kind: 'indicator', indicator: 'sma', args: { length: 50 } };
    strategyAst.strategy.entry.trigger.left = left as never;
    const reply = await client.post('/strategies/validate', { settings: { warmupPeriod: 3 }, strategyAst });
    expect(reply.body.valid).toBe(true);
    expect(reply.body.issues).toContainEqual(
      expect.objectContaining({ code: 'WARMUP_TOO_SHORT', severity: 'warning' }),
    );
  });

  it('answers a request without a payload with 400 PAYLOAD_REQUIRED', async () => {
    const reply = await client.post('/strategies/validate', { settings });
    expect(reply.status).toBe(400);
    expect(reply.body.code).toBe('VALIDATION_FAILED');
    expect(codes(reply)).toContain('PAYLOAD_REQUIRED');
  });

  it('answers an invalid envelope with 400, including the issues of the payloads inside it', async () => {
    const reply = await client.post('/strategies/validate', { strategyAst: brokenAst(), extra: 1 });
    expect(reply.status).toBe(400);
    expect(paths(reply)).toEqual(
      expect.arrayContaining(['/settings', '/extra', '/strategyAst/strategy/entry/trigger/op']),
    );
  });

  it.each([
    ['an array', []],
    ['settings that are a list', { settings: [], strategyAst: ast() }],
    ['a payload that is a string', { settings, strategyAst: 'buy low' }],
    ['a payload that is null', { settings, strategyAst: null }],
    ['settings null', { settings: null, strategyAst: ast() }],
    ['an empty name', { settings, strategyAst: ast(), name: '' }],
    ['a member it does not know', { settings, strategyAst: ast(), title: 'x' }],
  ])('answers %s as an invalid envelope with 400 and issues', async (_what, body) => {
    const reply = await client.post('/strategies/validate', body);
    expect([reply.status, reply.body.code]).toEqual([400, 'VALIDATION_FAILED']);
    expect(reply.body.issues.length).toBeGreaterThan(0);
  });

  it('accepts the body of create unchanged', async () => {
    const body = { name: 'A strategy', description: 'Buys high.', settings, strategyAst: ast() };
    const reply = await client.post('/strategies/validate', body);
    expect([reply.status, reply.body.valid]).toEqual([200, true]);
    expect((await client.post('/strategies', body)).status).toBe(201);
  });

  it('accepts two payloads with the same meaning, and reports those that disagree', async () => {
    const same = await client.post('/strategies/validate', { settings, strategyAst: ast(7), signalGraph: graph(7) });
    expect(same.body.valid).toBe(true);
    const other = await client.post('/strategies/validate', { settings, strategyAst: ast(7), signalGraph: graph(8) });
    expect(codes(other)).toContain('PAYLOADS_DISAGREE');
  });

  it('enforces the condition limits of the tier', async () => {
    const free = await api.client({ tier: 'free' });
    const payload = ast();
    const leaf = payload.strategy.entry.trigger;
    const items = Array.from({ length: 11 }, (_, index) => ({ ...leaf, right: { kind: 'const', value: index } }));
    const strategyAst = {
      ...payload,
      strategy: { ...payload.strategy, entry: { ...payload.strategy.entry, trigger: { kind: 'any', items } } },
    };
    const refused = await free.post('/strategies/validate', { settings, strategyAst });
    expect(codes(refused)).toContain('TIER_LIMIT_CONDITIONS');
    const allowed = await client.post('/strategies/validate', { settings, strategyAst });
    expect(allowed.body.summary.errors).toBe(0);
  });

  it('treats an entry that can never be true as finalize does: invalid unless acknowledged', async () => {
    const { body: made } = await client.post('/strategies', { name: 'N', settings, strategyAst: contradictoryAst() });
    for (const ignoreWarnings of [undefined, false, true]) {
      const body = { settings, strategyAst: contradictoryAst(), ignoreWarnings };
      const { body: report } = await client.post('/strategies/validate', body);
      const finalized = await client.post(`/strategies/${made.id}/versions/finalize`, body);
      expect(report).toMatchObject({ valid: ignoreWarnings === true, requiresConfirmation: true });
      expect(finalized.status === 200).toBe(report.valid);
    }
  });
});

describe('create', () => {
  it('creates a strategy with draft version 1, 201 with Location', async () => {
    const reply = await client.post('/strategies', {
      name: 'Breakout',
      description: 'Above a level',
      settings,
      strategyAst: ast(1),
    });
    expect(reply.status).toBe(201);
    expect(reply.headers.location).toBe(`/public/v1/strategies/${reply.body.id}`);
    expect(reply.body).toMatchObject({ name: 'Breakout', description: 'Above a level', templateKey: null });
    expect(reply.body.warnings).toBeInstanceOf(Array);
    expect(reply.body.versions).toHaveLength(1);
    expect(reply.body.versions[0]).toMatchObject({
      strategyId: reply.body.id,
      version: 1,
      status: 'draft',
      forkedFromVersionId: null,
      settings,
      strategyAst: ast(1),
      signalGraph: null,
      readyAt: null,
    });
  });

  it('stores a graph with the AST it compiles to, and returns both', async () => {
    const { body } = await client.post('/strategies', { name: 'Graph', settings, signalGraph: graph(2) });
    const { body: version } = await client.get(`/strategies/${body.id}/versions/1`);
    expect(version.signalGraph).toEqual(graph(2));
    expect(version.strategyAst).toMatchObject({ protocol: 'svc.strategy', version: 1 });
  });

  it('accepts what GET answers, like validate, including a null payload', async () => {
    const made = await client.post('/strategies', { name: 'Round', settings, strategyAst: ast(9), description: null });
    expect([made.status, made.body.description]).toEqual([201, '']);
    const { name, description } = (await client.get(`/strategies/${made.body.id}`)).body;
    const {
      settings: stored,
      strategyAst,
      signalGraph,
    } = (await client.get(`/strategies/${made.body.id}/versions/1`)).body;
    expect(signalGraph).toBeNull();
    const payloads = { settings: stored, strategyAst, signalGraph };
    expect((await client.post('/strategies', { name, description, ...payloads })).status).toBe(201);
    expect((await client.post('/strategies/validate', payloads)).body).toMatchObject({ valid: true });
    const neither = await client.post('/strategies/validate', { ...payloads, strategyAst: null });
    expect(neither.body.issues).toMatchObject([{ code: 'PAYLOAD_REQUIRED' }]);
  });

  it('stores payloads as sent, with the author’s order of members and unusual characters', async () => {
    const strategyAst = { ...ast(3), meta: { zebra: 1, ant: 'a\u0000b \ud83d\ude00' } };
    const { body } = await client.post('/strategies', { name: 'Order', settings, strategyAst });
    const { text } = await client.get(`/strategies/${body.id}/versions/1`);
    expect(text).toContain(JSON.stringify(strategyAst));
  });

  it('answers an invalid payload with 422 STRATEGY_INVALID and issues, and stores nothing', async () => {
    const before = (await client.get('/strategies')).body.pagination.total;
    const reply = await client.post('/strategies', { name: 'Broken', settings, strategyAst: brokenAst() });
    expect([reply.status, reply.body.code]).toEqual([422, 'STRATEGY_INVALID']);
    expect(reply.body.issues.length).toBeGreaterThan(0);
    expect((await client.get('/strategies')).body.pagination.total).toBe(before);
  });

  it('is not blocked by warnings, even about an entry that can never be true', async () => {
    const reply = await client.post('/strategies', { name: 'Never', settings, strategyAst: contradictoryAst() });
    expect(reply.status).toBe(201);
    expect(reply.body.warnings.map((issue: { code: string }) => issue.code)).toContain('CONTRADICTION');
  });

  it.each([
    ['no name', { settings, strategyAst: ast() }, '/name'],
    ['an empty name', { name: '', settings, strategyAst: ast() }, '/name'],
    ['a name of blanks', { name: '   ', settings, strategyAst: ast() }, '/name'],
    ['a name of 201 characters', { name: 'x'.repeat(201), settings, strategyAst: ast() }, '/name'],
    ['a name with NUL', { name: 'a\u0000b', settings, strategyAst: ast() }, '/name'],
    ['a name that is a number', { name: 5, settings, strategyAst: ast() }, '/name'],
    [
      'a description of 2,001 characters',
      { name: 'x', description: 'x'.repeat(2001), settings, strategyAst: ast() },
      '/description',
    ],
    ['no settings', { name: 'x', strategyAst: ast() }, '/settings'],
    ['an unknown member', { name: 'x', settings, strategyAst: ast(), entryTokens: [] }, '/entryTokens'],
  ])('%s is 400 at its path', async (_what, body, path) => {
    const reply = await client.post('/strategies', body);
    expect([reply.status, reply.body.code]).toEqual([400, 'VALIDATION_FAILED']);
    expect(paths(reply)).toContain(path);
  });

  it('accepts a name of 200 and a description of 2,000 characters, and duplicate names', async () => {
    const body = { name: 'x'.repeat(200), description: 'y'.repeat(2000), settings, strategyAst: ast() };
    expect((await client.post('/strategies', body)).status).toBe(201);
    expect((await client.post('/strategies', body)).status).toBe(201);
  });

  it('refuses a viewer key on every write, whatever its scopes', async () => {
    const viewer = await api.client({ role: 'viewer', workspaceId: client.workspaceId });
    for (const path of ['/strategies', '/strategies/validate', `/strategies/${randomUUID()}/versions/finalize`]) {
      const reply = await viewer.post(path, {});
      expect([reply.status, reply.body.code], path).toEqual([403, 'INSUFFICIENT_ROLE']);
    }
  });

  it('requires the scope of each strategy route', async () => {
    const reader = await api.client({ scopes: ['workspace_read'], workspaceId: client.workspaceId });
    for (const [method, path, scope] of [
      ['GET', '/strategies', 'strategies_read'],
      ['GET', `/strategies/${randomUUID()}`, 'strategies_read'],
      ['POST', '/strategies', 'strategies_write'],
      ['POST', '/strategies/validate', 'strategies_write'],
      ['POST', `/strategies/${randomUUID()}/versions/finalize`, 'strategies_write'],
    ] as const) {
      const reply = method === 'GET' ? await reader.get(path) : await reader.post(path, {});
      expect([reply.status, reply.body.code], path).toEqual([403, 'INSUFFICIENT_SCOPE']);
      expect(reply.body.requiredScopes).toEqual([scope]);
    }
  });

  it('gets its place in the quota back from archiving, which keeps a strategy readable', async () => {
    const free = await api.client({ tier: 'free' });
    const make = () => free.post('/strategies', { name: 'One of many', settings, strategyAst: ast() });
    const made = [];
    for (let index = 0; index < 25; index++) made.push((await make()).body);
    expect((await make()).body).toMatchObject({
      code: 'TIER_LIMIT_REACHED',
      message: expect.stringContaining('DELETE'),
    });
    const path = `/strategies/${made[3].id}`;
    const archived = await free.delete(path);
    expect(archived).toMatchObject({ status: 200, body: { id: made[3].id, archivedAt: expect.any(String) } });
    expect((await free.delete(path)).body).toEqual(archived.body);
    expect((await make()).status).toBe(201);
    expect((await free.get('/workspace')).body.subscription.usage.strategies).toBe(25);
    const read = (await free.get(path)).body;
    expect(read).toMatchObject({ archivedAt: archived.body.archivedAt, versions: [{ version: 1 }] });
    expect(Date.parse(read.updatedAt)).toBeGreaterThan(Date.parse(made[3].updatedAt));
    const idsOf = async (query: string) =>
      (await free.get(`/strategies?limit=100${query}`)).body.data.map((row: { id: string }) => row.id);
    expect(await idsOf('')).not.toContain(made[3].id);
    expect(await idsOf('&archived=true')).toEqual([made[3].id]);
    const finalized = await free.post(`${path}/versions/finalize`, { version: 1 });
    expect(finalized).toMatchObject({ status: 409, body: { code: 'STRATEGY_ARCHIVED' } });
  });

  it('lets only a member with strategies_write archive, and only in the own workspace', async () => {
    const { body } = await client.post('/strategies', { name: 'Mine', settings, strategyAst: ast() });
    const path = `/strategies/${body.id}`;
    expect((await (await api.client()).delete(path)).status).toBe(404);
    expect((await client.delete('/strategies/nonsense')).status).toBe(404);
    const { workspaceId } = client;
    expect((await (await api.client({ workspaceId, role: 'viewer' })).delete(path)).status).toBe(403);
    expect((await (await api.client({ workspaceId, scopes: ['strategies_read'] })).delete(path)).status).toBe(403);
  });

  it('enforces the tier’s number of strategies under parallel creates: 403 TIER_LIMIT_REACHED', async () => {
    const free = await api.client({ tier: 'free' });
    const replies = await Promise.all(Array.from({ length: 30 }, (_, index) => create(index + 1, free)));
    const made = replies.filter((reply) => reply.status === 201);
    expect(made).toHaveLength(TIER_LIMITS.free.strategies);
    const refused = replies.find((reply) => reply.status === 403)!;
    expect(refused.body).toMatchObject({ code: 'TIER_LIMIT_REACHED', limit: 25, usage: 25, limitName: 'strategies' });
  });

  it('answers payloads above the size of the tier with 413, not counting whitespace', async () => {
    const free = await api.client({ tier: 'free' });
    const big = { ...ast(), meta: { note: 'x'.repeat(TIER_LIMITS.free.payloadBytes) } };
    const reply = await free.post('/strategies/validate', { settings, strategyAst: big });
    expect([reply.status, reply.body.code, reply.body.limit]).toEqual([413, 'PAYLOAD_TOO_LARGE', 262_144]);
    expect((await client.post('/strategies/validate', { settings, strategyAst: big })).status).toBe(200);
    const padded = `${' '.repeat(300_000)}${JSON.stringify({ settings, strategyAst: ast() })}`;
    const spaced = await api.send({
      method: 'POST',
      url: '/public/v1/strategies/validate',
      headers: { 'x-api-key': free.apiKey, 'content-type': 'application/json' },
      payload: padded,
    });
    expect(spaced.status).toBe(200);
  });
});
