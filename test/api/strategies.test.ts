import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TIER_LIMITS } from '../../src/tiers.ts';
import { createApiApp, type ApiApp, type Client, type Reply } from '../support/apiApp.ts';
import { ast, brokenAst, contradictoryAst, graph, settings } from '../support/strategyPayloads.ts';

let api: ApiApp;
let client: Client;
beforeAll(async () => {
  api = await createApiApp();
  client = await api.client();
});
afterAll(() => api[Symbol.asyncDispose]());

const codes = (reply: Reply): string[] => reply.body.issues.map((issue: { code: string }) => issue.code);
const paths = (reply: Reply): string[] => reply.body.issues.map((issue: { path: string }) => issue.path);
const create = async (level = 100, who = client): Promise<Reply> =>
  who.post('/strategies', { name: 'A strategy', settings, strategyAst: ast(level) });
const finalize = (id: string, body: object, who = client): Promise<Reply> =>
  who.post(`/strategies/${id}/versions/finalize`, { settings, ...body });

describe('validate (spec §4.3.9)', () => {
  test('spec §4.3.9: a valid payload is answered 200 with valid, summary, issues, analysis and compiled', async () => {
    const reply = await client.post('/strategies/validate', { settings, strategyAst: ast() });
    expect(reply.status).toBe(200);
    expect(reply.body).toMatchObject({ valid: true, summary: { errors: 0 }, requiresConfirmation: false });
    expect(reply.body.compiled.strategyAst.protocol).toBe('svc.strategy');
    expect(reply.body.analysis.conditionCount).toBe(2);
  });

  test('spec §1: a signal graph is compiled into the canonical format', async () => {
    const reply = await client.post('/strategies/validate', { settings, signalGraph: graph() });
    expect(reply.body.valid).toBe(true);
    expect(reply.body.compiled.strategyAst).toMatchObject({ protocol: 'svc.strategy', version: 1 });
  });

  test('spec §2.7: each issue has code, path, field, severity and message, and a fault in a payload is 200', async () => {
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

  test('spec §2.8: maxConcurrentPositions outside 1 to 100, a negative warmupPeriod and an unknown setting are issues', async () => {
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

  test('spec §2.8, §8: maxConcurrentPositions 1 and 100 and warmupPeriod 0 are within bounds', async () => {
    for (const right of [{ maxConcurrentPositions: 1 }, { maxConcurrentPositions: 100, warmupPeriod: 0 }, {}]) {
      const reply = await client.post('/strategies/validate', { settings: right, strategyAst: ast() });
      expect(reply.body.summary.errors, JSON.stringify(right)).toBe(0);
    }
  });

  test('spec §2.7: WARMUP_TOO_SHORT is a warning, and does not make a payload invalid', async () => {
    const strategyAst = ast();
    const left = { kind: 'indicator', indicator: 'sma', args: { length: 50 } };
    strategyAst.strategy.entry.trigger.left = left as never;
    const reply = await client.post('/strategies/validate', { settings: { warmupPeriod: 3 }, strategyAst });
    expect(reply.body.valid).toBe(true);
    expect(reply.body.issues).toContainEqual(
      expect.objectContaining({ code: 'WARMUP_TOO_SHORT', severity: 'warning' }),
    );
  });

  test('spec §1: neither payload is 400 PAYLOAD_REQUIRED', async () => {
    const reply = await client.post('/strategies/validate', { settings });
    expect(reply.status).toBe(400);
    expect(reply.body.code).toBe('VALIDATION_FAILED');
    expect(codes(reply)).toContain('PAYLOAD_REQUIRED');
  });

  test('a wrong envelope is 400 and tells the faults of the payloads inside it as well', async () => {
    const reply = await client.post('/strategies/validate', { strategyAst: brokenAst(), extra: 1 });
    expect(reply.status).toBe(400);
    expect(paths(reply)).toEqual(
      expect.arrayContaining(['/settings', '/extra', '/strategyAst/strategy/entry/trigger/op']),
    );
  });

  test.each([
    ['an array', []],
    ['settings that are a list', { settings: [], strategyAst: ast() }],
    ['a payload that is a string', { settings, strategyAst: 'buy low' }],
    ['a payload that is null', { settings, strategyAst: null }],
    ['settings null', { settings: null, strategyAst: ast() }],
    ['a name', { settings, strategyAst: ast(), name: 'x' }],
  ])('%s is a wrong envelope: 400 with issues', async (_what, body) => {
    const reply = await client.post('/strategies/validate', body);
    expect([reply.status, reply.body.code]).toEqual([400, 'VALIDATION_FAILED']);
    expect(reply.body.issues.length).toBeGreaterThan(0);
  });

  test('two payloads that mean the same are valid, two that do not disagree', async () => {
    const same = await client.post('/strategies/validate', { settings, strategyAst: ast(7), signalGraph: graph(7) });
    expect(same.body.valid).toBe(true);
    const other = await client.post('/strategies/validate', { settings, strategyAst: ast(7), signalGraph: graph(8) });
    expect(codes(other)).toContain('PAYLOADS_DISAGREE');
  });

  test('spec §8: tier condition limits are enforced by validation', async () => {
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

  test('validate shows that an entry that can never be true asks for confirmation', async () => {
    const reply = await client.post('/strategies/validate', { settings, strategyAst: contradictoryAst() });
    expect(reply.body).toMatchObject({ valid: true, requiresConfirmation: true });
  });
});

describe('create (spec §4.3.10)', () => {
  test('spec §3.2, §4.3.10: creates a strategy with draft version 1, 201 with Location', async () => {
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

  test('spec §1: a graph alone is stored with the AST it compiles to, and both are read back', async () => {
    const { body } = await client.post('/strategies', { name: 'Graph', settings, signalGraph: graph(2) });
    const read = await client.get(`/strategies/${body.id}`);
    const [version] = read.body.versions;
    expect(version.signalGraph).toEqual(graph(2));
    expect(version.strategyAst).toMatchObject({ protocol: 'svc.strategy', version: 1 });
  });

  test('payloads are stored as they were sent, members in the order of the author, odd characters too', async () => {
    const strategyAst = { ...ast(3), meta: { zebra: 1, ant: 'a\u0000b \ud83d\ude00' } };
    const { body } = await client.post('/strategies', { name: 'Order', settings, strategyAst });
    const { text } = await client.get(`/strategies/${body.id}`);
    expect(text).toContain(JSON.stringify(strategyAst));
  });

  test('an invalid payload is 422 STRATEGY_INVALID with issues, and nothing is stored', async () => {
    const before = (await client.get('/strategies')).body.pagination.total;
    const reply = await client.post('/strategies', { name: 'Broken', settings, strategyAst: brokenAst() });
    expect([reply.status, reply.body.code]).toEqual([422, 'STRATEGY_INVALID']);
    expect(reply.body.issues.length).toBeGreaterThan(0);
    expect((await client.get('/strategies')).body.pagination.total).toBe(before);
  });

  test('warnings never block a creation, not even an entry that can never be true', async () => {
    const reply = await client.post('/strategies', { name: 'Never', settings, strategyAst: contradictoryAst() });
    expect(reply.status).toBe(201);
    expect(reply.body.warnings.map((issue: { code: string }) => issue.code)).toContain('CONTRADICTION');
  });

  test.each([
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

  test('a name of 200 and a description of 2,000 characters fit, and names need not be unique', async () => {
    const body = { name: 'x'.repeat(200), description: 'y'.repeat(2000), settings, strategyAst: ast() };
    expect((await client.post('/strategies', body)).status).toBe(201);
    expect((await client.post('/strategies', body)).status).toBe(201);
  });

  test('spec §5.3: a viewer key is refused on every write whatever its scopes', async () => {
    const viewer = await api.client({ role: 'viewer', workspaceId: client.workspaceId });
    for (const path of ['/strategies', '/strategies/validate', `/strategies/${randomUUID()}/versions/finalize`]) {
      const reply = await viewer.post(path, {});
      expect([reply.status, reply.body.code], path).toEqual([403, 'INSUFFICIENT_ROLE']);
    }
  });

  test('spec §5.3: each strategy route needs its scope', async () => {
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

  test('the number of strategies of a tier holds under parallel creations: 403 TIER_LIMIT_REACHED', async () => {
    const free = await api.client({ tier: 'free' });
    const replies = await Promise.all(Array.from({ length: 30 }, (_, index) => create(index + 1, free)));
    const made = replies.filter((reply) => reply.status === 201);
    expect(made).toHaveLength(TIER_LIMITS.free.strategies);
    const refused = replies.find((reply) => reply.status === 403)!;
    expect(refused.body).toMatchObject({ code: 'TIER_LIMIT_REACHED', limit: 25, usage: 25, limitName: 'strategies' });
  });

  test('payloads above the size of the tier are 413, whitespace not counted', async () => {
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

describe('list and read (spec §4.3.7, §4.3.8)', () => {
  test('spec §2.3, §2.4, §4.3.8: a strategy is read with its versions, payloads included', async () => {
    const { body } = await create(4);
    const reply = await client.get(`/strategies/${body.id}`);
    expect(reply.status).toBe(200);
    expect(reply.body.versions[0].strategyAst).toEqual(ast(4));
    expect(reply.body).not.toHaveProperty('warnings');
  });

  test('spec §7: an id that is unknown, of another workspace, or no uuid is 404', async () => {
    const stranger = await api.client();
    const { body } = await create(4, stranger);
    for (const id of [randomUUID(), body.id, 'nonsense', '%00', "'; drop table strategies; --"]) {
      const reply = await client.get(`/strategies/${encodeURIComponent(id)}`);
      expect([reply.status, reply.body.code], id).toEqual([404, 'NOT_FOUND']);
    }
  });

  test('spec §4.1, §4.3.7: a list is 200, its rows leave payloads out, pages follow each other and total is exact', async () => {
    const lister = await api.client();
    for (const name of ['c', 'a', 'B', 'b', 'a'])
      await lister.post('/strategies', { name, settings, strategyAst: ast() });
    const seen: string[] = [];
    let cursor = '';
    for (let page = 0; page < 3; page++) {
      const reply = await lister.get(`/strategies?sort=name&limit=2${cursor && `&cursor=${cursor}`}`);
      expect(reply.status).toBe(200);
      expect(reply.body.pagination).toMatchObject({ limit: 2, total: 5, hasMore: page < 2 });
      for (const row of reply.body.data) {
        seen.push(row.name);
        expect(row.versions[0]).not.toHaveProperty('strategyAst');
      }
      cursor = reply.body.pagination.nextCursor;
    }
    expect(seen).toEqual(['B', 'a', 'a', 'b', 'c']);
    expect(cursor).toBeNull();
  });

  test('the default order is newest first, and every sort has its reverse', async () => {
    const lister = await api.client();
    for (const name of ['one', 'two', 'three'])
      await lister.post('/strategies', { name, settings, strategyAst: ast() });
    const names = async (query: string) =>
      (await lister.get(`/strategies${query}`)).body.data.map((row: { name: string }) => row.name);
    expect(await names('')).toEqual(['three', 'two', 'one']);
    for (const sort of ['createdAt', 'updatedAt', 'name'])
      expect(await names(`?sort=${sort}`)).toEqual((await names(`?sort=-${sort}`)).reverse());
  });

  test('status keeps strategies that have such a version, search looks into name and description, % and _ are letters', async () => {
    const lister = await api.client();
    const names = async (query: string) =>
      (await lister.get(`/strategies?sort=name&${query}`)).body.data.map((row: { name: string }) => row.name);
    const { body } = await lister.post('/strategies', { name: '100% Ready', settings, strategyAst: ast() });
    await finalize(body.id, { version: 1, strategyAst: ast() }, lister);
    await lister.post('/strategies', { name: 'Draft', description: 'under_score', settings, strategyAst: ast() });
    expect(await names('status=ready')).toEqual(['100% Ready']);
    expect(await names('status=draft')).toEqual(['Draft']);
    expect(await names('search=0%25+rE')).toEqual(['100% Ready']);
    expect(await names('search=r_s')).toEqual(['Draft']);
    expect(await names('search=%25%25')).toEqual([]);
  });

  test.each([
    'limit=0',
    'limit=101',
    'limit=x',
    'limit=1.5',
    'sort=id',
    'sort=',
    'status=running',
    'page=2',
    '__proto__=1',
    'limit=1&limit=2',
  ])('the query %s is 400 VALIDATION_FAILED', async (query) => {
    const reply = await client.get(`/strategies?${query}`);
    expect([reply.status, reply.body.code]).toEqual([400, 'VALIDATION_FAILED']);
    expect(reply.body.issues[0].path).toMatch(/^\/query\//);
  });

  test('a cursor of other filters, of another sort, or forged is 400 CURSOR_INVALID', async () => {
    const lister = await api.client();
    for (let count = 0; count < 3; count++) await create(count + 1, lister);
    const { nextCursor } = (await lister.get('/strategies?limit=1')).body.pagination;
    const [fingerprint] = JSON.parse(Buffer.from(nextCursor, 'base64url').toString());
    const forge = (...parts: unknown[]) => Buffer.from(JSON.stringify(parts)).toString('base64url');
    for (const query of [
      `cursor=${nextCursor}&status=draft`,
      `cursor=${nextCursor}&sort=name`,
      'cursor=nonsense',
      `cursor=${forge(fingerprint, 'not a date', randomUUID())}`,
      `cursor=${forge(fingerprint, '2020-01-01', 'not an id')}`,
      `cursor=${forge(fingerprint, 1, 2)}`,
    ]) {
      const reply = await lister.get(`/strategies?limit=1&${query}`);
      expect([reply.status, reply.body.code], query).toEqual([400, 'CURSOR_INVALID']);
    }
    expect((await lister.get(`/strategies?limit=2&cursor=${nextCursor}`)).status).toBe(200);
  });

  test('rows made in the same millisecond are each listed once', async () => {
    const lister = await api.client();
    const { sql } = api.services;
    await sql`insert into strategies (workspace_id, name, created_at)
      select ${lister.workspaceId}, 'n' || n, '2026-01-01' from generate_series(1, 25) n`;
    const ids = new Set<string>();
    let cursor: string | null = '';
    while (cursor !== null) {
      const reply: Reply = await lister.get(`/strategies?limit=4${cursor && `&cursor=${cursor}`}`);
      for (const row of reply.body.data) ids.add(row.id);
      cursor = reply.body.pagination.nextCursor;
    }
    expect(ids.size).toBe(25);
  });
});
