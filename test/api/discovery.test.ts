import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PROBLEMS } from '../../src/api/problems.ts';
import { ISSUE_CODES } from '../../src/engine/index.ts';
import { TIER_LIMITS, TIERS } from '../../src/tiers.ts';
import { createApiApp, type ApiApp, type Client } from '../support/apiApp.ts';
import { ast, settings } from '../support/strategyPayloads.ts';

let api: ApiApp;
let client: Client;
beforeAll(async () => {
  api = await createApiApp();
  client = await api.client({ tier: 'plus' });
});
afterAll(() => api[Symbol.asyncDispose]());

describe('manifest (spec §4.3.1)', () => {
  test('spec §1: lists the eight tools in the recommended order with method, path and scope', async () => {
    const { status, body } = await client.get('');
    expect(status).toBe(200);
    const calls = body.workflow.map((step: Record<string, string>) => [
      step.tool,
      `${step.method} ${step.path}`,
      step.scope,
    ]);
    expect(calls).toEqual([
      ['get_manifest', 'GET /public/v1', null],
      ['get_workspace_context', 'GET /public/v1/workspace', 'workspace_read'],
      ['get_capabilities', 'GET /public/v1/capabilities', null],
      ['validate_strategy', 'POST /public/v1/strategies/validate', 'strategies_write'],
      ['create_strategy', 'POST /public/v1/strategies', 'strategies_write'],
      ['finalize_strategy_version', 'POST /public/v1/strategies/{id}/versions/finalize', 'strategies_write'],
      ['run_backtest', 'POST /public/v1/backtests', 'backtests_write'],
      ['get_backtest', 'GET /public/v1/backtests/{id}', 'backtests_read'],
    ]);
  });

  test('spec §9: names the protocols with their versions, and API version 1.0.0', async () => {
    const { body } = await client.get('');
    expect(body.version).toBe('1.0.0');
    expect(body.protocols.signalGraph).toMatchObject({ protocol: 'svc.signal-graph', version: 2 });
    expect(body.protocols.strategyAst).toMatchObject({ protocol: 'svc.strategy', version: 1 });
    expect(body.backtestStates.terminal).toEqual(['completed', 'failed', 'cancelled']);
  });

  test('every route of the workflow and every link exists', async () => {
    const { body } = await client.get('');
    const routes = [...body.workflow.map((step: { path: string }) => step.path), ...Object.values<string>(body.links)];
    for (const path of routes) {
      const url = path.replace('{id}', '00000000-0000-7000-8000-000000000000');
      const reply = await api.send({ url });
      expect([200, 401, 302, 405], url).toContain(reply.status);
    }
  });

  test('any valid key may read it', async () => {
    const narrow = await api.client({ workspaceId: client.workspaceId, role: 'viewer', scopes: ['backtests_read'] });
    for (const path of ['', '/capabilities', '/market-data']) expect((await narrow.get(path)).status, path).toBe(200);
  });
});

describe('entity tags', () => {
  test.each(['', '/capabilities', '/capabilities?sections=limits'])(
    '%s has an ETag, and answers 304 to who has it',
    async (path) => {
      const first = await client.get(path);
      const { etag } = first.headers as { etag: string };
      expect(etag).toMatch(/^"[\w-]+"$/);
      for (const header of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
        const again = await client.get(path, { 'if-none-match': header });
        expect([again.status, again.text, again.headers.etag], header).toEqual([304, '', etag]);
      }
      expect((await client.get(path, { 'if-none-match': '"other"' })).status).toBe(200);
    },
  );
});

describe('workspace (spec §4.3.2)', () => {
  test('spec §2.1: metadata, the role and scopes of the key, and the subscription with limits and usage', async () => {
    const who = await api.client({ tier: 'plus' });
    await who.post('/strategies', { name: 'One', settings, strategyAst: ast() });
    const { status, body } = await who.get('/workspace');
    expect(status).toBe(200);
    expect(body.workspace).toMatchObject({ id: who.workspaceId, name: 'Test' });
    expect(Date.parse(body.workspace.createdAt)).toBeGreaterThan(0);
    expect(body.apiKey).toMatchObject({ name: 'test', role: 'member', expiresAt: null });
    expect(who.apiKey.startsWith(`${body.apiKey.keyPrefix}_`)).toBe(true);
    expect(body.apiKey.scopes).toContain('workspace_read');
    expect(body.subscription.tier).toBe('plus');
    expect(body.subscription.limits).toEqual(TIER_LIMITS.plus);
    expect(body.subscription.usage).toEqual({ activeApiKeys: 1, strategies: 1, queuedBacktests: 0 });
    expect(JSON.stringify(body)).not.toContain(who.apiKey);
  });

  test('spec §5.3: needs workspace_read', async () => {
    const narrow = await api.client({ workspaceId: client.workspaceId, scopes: ['strategies_read'] });
    expect((await narrow.get('/workspace')).body.requiredScopes).toEqual(['workspace_read']);
  });
});

describe('capabilities (spec §4.3.3)', () => {
  test('spec §4.3.3: has every group of the contract', async () => {
    const { body } = await client.get('/capabilities');
    expect(body.indicators.length).toBeGreaterThan(100);
    expect(body.signalGraph.nodes.length).toBeGreaterThan(7);
    expect(body.signalGraph.bindings).toContainEqual(
      expect.objectContaining({ path: 'strategy.entry.trigger', kind: 'bool_ref', required: true }),
    );
    expect(body.operators).toBeTypeOf('object');
    expect(body.enums.timeframes).toEqual(['15m', '1h', '4h', '1d']);
    expect(body.enums.marketFields).toContain('hlc3');
    expect(body.enums.patterns.length).toBeGreaterThanOrEqual(61);
    expect(body.enums).toMatchObject({
      orderRoles: ['maker', 'taker'],
      ambiguityFallback: expect.arrayContaining(['pessimistic']),
      slippageKinds: ['none', 'fixed', 'volatility_scaled'],
    });
    expect(body.validationIssue.codes.length).toBe(ISSUE_CODES.length);
    expect(body.instruments.map((each: { symbol: string }) => each.symbol)).toEqual(
      expect.arrayContaining(['EURUSD', 'SPX']),
    );
    expect(body.schemas.backtestConfig.type).toBe('object');
  });

  test('spec §4.3.3, §8: limits are those of the tier', async () => {
    for (const tier of TIERS) {
      const who = await api.client({ tier });
      const { body } = await who.get('/capabilities?sections=limits');
      expect(body).toEqual({ limits: { tier, ...TIER_LIMITS[tier], bodyBytes: 8_388_608 } });
    }
  });

  test('a changed subscription is seen at once', async () => {
    const who = await api.client({ tier: 'free' });
    await who.get('/capabilities?sections=limits');
    await api.services.sql`update workspaces set tier = 'pro' where id = ${who.workspaceId}`;
    expect((await who.get('/capabilities?sections=limits')).body.limits.tier).toBe('pro');
  });

  test('sections choose parts, in any order; unknown ones are 400', async () => {
    const chosen = await client.get('/capabilities?sections=operators,indicators');
    expect(Object.keys(chosen.body)).toEqual(['indicators', 'operators']);
    for (const sections of ['foo', 'limits,', '', 'limits,__proto__']) {
      const reply = await client.get(`/capabilities?sections=${sections}`);
      expect([reply.status, reply.body.code], sections).toEqual([400, 'VALIDATION_FAILED']);
    }
  });
});

describe('market data', () => {
  test('lists the shipped series with bars, range and gaps', async () => {
    const { status, body } = await client.get('/market-data?limit=100');
    expect(status).toBe(200);
    expect(body.data).toContainEqual(expect.objectContaining({ symbol: 'EURUSD', timeframe: '1h', synthetic: false }));
    for (const row of body.data) {
      expect(Object.keys(row)).toEqual(['symbol', 'timeframe', 'bars', 'start', 'end', 'gaps', 'synthetic']);
      expect(row.end).toBeGreaterThan(row.start);
    }
    expect(body.pagination.total).toBe(body.data.length);
  });

  test('filters by symbol and timeframe, and pages', async () => {
    const one = await client.get('/market-data?symbol=SPX&timeframe=1d');
    expect(one.body.data.map((row: { symbol: string }) => row.symbol)).toEqual(['SPX']);
    const all = (await client.get('/market-data?limit=100')).body.data;
    const first = (await client.get('/market-data?limit=3')).body;
    const rest = (await client.get(`/market-data?limit=100&cursor=${first.pagination.nextCursor}`)).body;
    expect([...first.data, ...rest.data]).toEqual(all);
    expect((await client.get('/market-data?timeframe=2h')).status).toBe(400);
  });
});

describe('the machine-readable description (spec §9)', () => {
  test('spec §9: carries version 1.0.0, is OpenAPI 3.1 and needs no key', async () => {
    const { status, body } = await api.send({ url: '/public/v1/openapi.json' });
    expect(status).toBe(200);
    expect([body.openapi, body.info.version]).toEqual(['3.1.0', '1.0.0']);
    expect(body.components.schemas.Problem.properties.code.enum).toEqual(Object.keys(PROBLEMS));
  });

  test('/docs shows it without naming an outside host', async () => {
    const page = await api.send({ url: '/docs/' });
    expect(page.status).toBe(200);
    expect(page.text).not.toMatch(/(src|href)="(https?:)?\/\//);
    expect(page.headers['content-security-policy']).not.toMatch(/https?:\/\//);
    const script = await api.send({ url: '/docs/static/swagger-initializer.js' });
    expect(script.status).toBe(200);
    expect(script.text).not.toMatch(/url: ?"https?:/);
  });
});
