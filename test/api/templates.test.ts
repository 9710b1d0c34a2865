import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { compiledAst, payloadsOf } from '../../src/api/templates/template.ts';
import { TEMPLATES } from '../../src/api/templates/index.ts';
import {
  BacktestConfig,
  checkStrategy,
  createMarket,
  runBacktest,
  type StrategyAst,
  type Summary,
} from '../../src/engine/index.ts';
import { openShippedData, readShippedSeries } from '../../src/market/shipped.ts';
import { TIER_LIMITS } from '../../src/tiers.ts';
import { createApiApp, type ApiApp, type Client } from '../support/apiApp.ts';

let api: ApiApp;
let client: Client;
let symbols: ReadonlySet<string>;
beforeAll(async () => {
  api = await createApiApp();
  client = await api.client({ tier: 'free' });
  symbols = new Set((await readShippedSeries()).map((series) => series.symbol));
});
afterAll(() => api[Symbol.asyncDispose]());

/** Every `instrument.symbol` of a payload. */
function symbolsOf(value: unknown): Set<string> {
  const found = [...JSON.stringify(value).matchAll(/"instrument":\{"symbol":"([^"]+)"/g)];
  return new Set(found.map(([, symbol]) => symbol));
}

describe('the templates', () => {
  test.each(TEMPLATES.map((template) => [template.key, template] as const))(
    '%s is valid with no warning on the free tier, and its suggested config is one',
    (_key, template) => {
      const outcome = checkStrategy(payloadsOf(template), { limits: TIER_LIMITS.free, knownSymbols: symbols });
      expect(outcome.issues).toEqual([]);
      expect(outcome.valid).toBe(true);
      const config = BacktestConfig.parse(template.suggestedConfig);
      expect(symbols).toContain(config.signalInstrument.symbol);
      const { defaults } = outcome.compiled!.strategyAst.strategy;
      expect(defaults).toMatchObject({ timeframe: config.timeframe, instrument: config.signalInstrument });
      expect(template.tags.every((tag) => tag === tag.toLowerCase())).toBe(true);
      expect([template.strategyAst, template.signalGraph].filter(Boolean)).toHaveLength(1);
    },
  );

  test.each(TEMPLATES.map((template) => [template.key, template] as const))(
    '%s trades on the shipped data it suggests, and not for luck: at least five positions',
    async (_key, template) => {
      const shipped = await openShippedData();
      const config = BacktestConfig.parse(template.suggestedConfig);
      const { symbol } = config.signalInstrument;
      const snapshots = await Promise.all(
        [...symbolsOf(compiledAst(template)).add(symbol)].map((each) => shipped.snapshots(each, config.timeframe)),
      );
      const outcome = runBacktest(
        {
          id: template.key,
          strategyAst: compiledAst(template) as unknown as StrategyAst,
          settings: template.settings,
          config,
          strategyHash: '',
        },
        createMarket(snapshots.flat(), symbol, config.timeframe),
        null,
      );
      if (!outcome.ok) throw new Error(outcome.error.message);
      expect((outcome.summaryJson as Summary).totalPositions).toBeGreaterThanOrEqual(5);
    },
  );

  test('keys are unique and in order', () => {
    const keys = TEMPLATES.map((template) => template.key);
    expect(keys).toEqual([...new Set(keys)].toSorted());
  });
});

describe('reading templates (spec §4.3.4, §4.3.5)', () => {
  test('spec §4.1, §4.3.4: lists templates, 200, without payloads', async () => {
    const { status, body } = await client.get('/system-strategies?limit=100');
    expect(status).toBe(200);
    expect(body.data.map((row: { key: string }) => row.key)).toEqual(TEMPLATES.map((template) => template.key));
    expect(Object.keys(body.data[0])).toEqual(['key', 'name', 'description', 'category', 'tags']);
    expect(body.pagination).toMatchObject({ total: TEMPLATES.length, hasMore: false, nextCursor: null });
  });

  test('category, tags and search narrow the list; an unknown category is 400', async () => {
    const keys = async (query: string) =>
      (await client.get(`/system-strategies?limit=100&${query}`)).body.data.map((row: { key: string }) => row.key);
    expect(await keys('category=mean_reversion')).toContain('rsi2_mean_reversion');
    expect(await keys('category=mean_reversion')).not.toContain('golden_cross');
    expect(await keys('tags=moving-average,crossover')).toContain('golden_cross');
    expect(await keys('tags=moving-average,rsi')).not.toContain('golden_cross');
    expect(await keys('search=TURTLE')).toEqual(['donchian_turtle']);
    expect((await client.get('/system-strategies?category=luck')).status).toBe(400);
  });

  test('spec §2.5, §4.3.5: one template by its key, with the payload', async () => {
    const { status, body } = await client.get('/system-strategies/golden_cross');
    expect(status).toBe(200);
    expect(body).toMatchObject({ key: 'golden_cross', settings: { warmupPeriod: 200 } });
    expect(body.signalGraph.protocol).toBe('svc.signal-graph');
    expect(body.strategyAst.protocol).toBe('svc.strategy');
    expect(BacktestConfig.safeParse(body.suggestedConfig).success).toBe(true);
    expect((await client.get('/system-strategies/rsi2_mean_reversion')).body.signalGraph).toBeNull();
  });

  test('an unknown key is 404', async () => {
    for (const key of ['nothing', '__proto__', 'constructor', 'GOLDEN_CROSS'])
      expect((await client.get(`/system-strategies/${key}`)).status, key).toBe(404);
  });

  test('spec §5.3: reading needs system_strategies_read, copying strategies_write and a member', async () => {
    const { workspaceId } = client;
    const narrow = await api.client({ workspaceId, scopes: ['strategies_read'] });
    expect((await narrow.get('/system-strategies')).body.requiredScopes).toEqual(['system_strategies_read']);
    expect((await narrow.get('/system-strategies/golden_cross')).status).toBe(403);
    expect((await narrow.post('/system-strategies/golden_cross/copy')).body.requiredScopes).toEqual([
      'strategies_write',
    ]);
    const viewer = await api.client({ workspaceId, role: 'viewer' });
    expect((await viewer.post('/system-strategies/golden_cross/copy')).body.code).toBe('INSUFFICIENT_ROLE');
  });
});

describe('copying a template (spec §4.3.6)', () => {
  test('spec §3.2, §4.1, §4.3.6: makes a draft strategy in the workspace, 201 with Location', async () => {
    const reply = await client.post('/system-strategies/golden_cross/copy', { name: 'Mine', description: 'My own' });
    expect(reply.status).toBe(201);
    expect(reply.headers.location).toBe(`/public/v1/strategies/${reply.body.id}`);
    expect(reply.body).toMatchObject({
      name: 'Mine',
      description: 'My own',
      templateKey: 'golden_cross',
      warnings: [],
    });
    expect(reply.body.versions).toMatchObject([{ version: 1, status: 'draft' }]);
    expect((await client.get(`/strategies/${reply.body.id}`)).status).toBe(200);
  });

  test('name and description default to the template, with an empty body or none', async () => {
    const { name, description } = TEMPLATES.find((template) => template.key === 'macd_trend')!;
    for (const body of [{}, undefined]) {
      const reply = await client.post('/system-strategies/macd_trend/copy', body);
      expect(reply.body).toMatchObject({ name, description });
    }
  });

  test('a copy can be finalized as it is', async () => {
    const { body } = await client.post('/system-strategies/donchian_turtle/copy');
    const [{ settings, strategyAst, version }] = body.versions;
    const reply = await client.post(`/strategies/${body.id}/versions/finalize`, { version, settings, strategyAst });
    expect(reply.body).toMatchObject({ status: 'ready', warnings: [] });
  });

  test('an unknown key is 404, a wrong body 400', async () => {
    expect((await client.post('/system-strategies/nothing/copy')).status).toBe(404);
    for (const body of [{ name: '' }, { name: null }, { settings: {} }, []])
      expect((await client.post('/system-strategies/golden_cross/copy', body)).status).toBe(400);
  });
});
