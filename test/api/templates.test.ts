import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compiledAst, payloadsOf, TemplateFile } from '../../src/api/templates/template.ts';
import { TEMPLATES } from '../../src/api/templates/catalog.ts';
import {
  BacktestConfig,
  checkStrategy,
  configIssues,
  createMarket,
  isPortfolio,
  runBacktest,
  symbolsOf as runSymbolsOf,
  type StrategyAst,
} from '../../src/engine/index.ts';
import type { Market } from '../../src/engine/index.ts';
import { shippedData } from '../support/shippedData.ts';
import { TIER_LIMITS } from '../../src/tiers.ts';
import { createApiApp, type ApiApp, type Client } from '../support/apiApp.ts';

let api: ApiApp;
let client: Client;
let symbols: ReadonlySet<string>;
beforeAll(async () => {
  api = await createApiApp();
  client = await api.client({ tier: 'free' });
  symbols = new Set((await (await shippedData()).list()).map((series) => series.symbol));
});
afterAll(() => api[Symbol.asyncDispose]());

/** Every `instrument.symbol` of a payload. */
function symbolsOf(value: unknown): Set<string> {
  const found = [...JSON.stringify(value).matchAll(/"instrument":\{"symbol":"([^"]+)"/g)];
  return new Set(found.map(([, symbol]) => symbol));
}

describe('the set of templates', () => {
  it.each(TEMPLATES.map((template) => [template.key, template] as const))(
    'contains %s, valid without warnings on the free tier and with a valid suggested config',
    (_key, template) => {
      const outcome = checkStrategy(payloadsOf(template), { limits: TIER_LIMITS.free, knownSymbols: symbols });
      expect(outcome.issues).toEqual([]);
      expect(outcome.valid).toBe(true);
      const config = BacktestConfig.parse(template.suggestedConfig);
      expect(configIssues(config)).toEqual([]);
      expect(runSymbolsOf(config).filter((symbol) => !symbols.has(symbol))).toEqual([]);
      expect(runSymbolsOf(config).length).toBeLessThanOrEqual(TIER_LIMITS.free.maxInstrumentsPerRun);
      const { defaults } = outcome.compiled!.strategyAst.strategy;
      expect(defaults?.timeframe).toBe(config.timeframe);
      expect(defaults?.instrument).toEqual(config.signalInstrument);
      expect(template.tags.includes('portfolio')).toBe(isPortfolio(config));
      expect(template.tags.every((tag) => tag === tag.toLowerCase())).toBe(true);
      expect([template.strategyAst, template.signalGraph].filter(Boolean)).toHaveLength(1);
    },
  );

  it.each(TEMPLATES.map((template) => [template.key, template] as const))(
    'contains %s, which closes at least five trades on the shipped data it suggests',
    async (_key, template) => {
      const shipped = await shippedData();
      const config = BacktestConfig.parse(template.suggestedConfig);
      const own = runSymbolsOf(config);
      const foreign = [...symbolsOf(compiledAst(template))];
      const marketOf = async (symbol: string): Promise<Market> => {
        const read = [...new Set([symbol, ...foreign])].map((each) => shipped.snapshots(each, config.timeframe));
        return createMarket((await Promise.all(read)).flat(), symbol, config.timeframe);
      };
      const markets = await Promise.all(own.map(marketOf));
      const outcome = runBacktest(
        {
          id: template.key,
          strategyAst: compiledAst(template) as unknown as StrategyAst,
          settings: template.settings,
          config,
          strategyHash: '',
        },
        isPortfolio(config) ? { instruments: markets } : markets[0],
        null,
      );
      if (!outcome.ok) throw new Error(outcome.error.message);
      // A rotation holds few positions for long, and writes a trade for each part that it sells.
      const { summary, trades } = outcome;
      expect(isPortfolio(config) ? trades.length : summary.totalPositions).toBeGreaterThanOrEqual(5);
      if (isPortfolio(config)) expect(new Set(trades.map(({ symbol }) => symbol)).size).toBeGreaterThan(1);
    },
  );

  it('contains vwap_reversion, which trades all year because its average starts over every day', async () => {
    const template = TEMPLATES.find(({ key }) => key === 'vwap_reversion')!;
    const shipped = await shippedData();
    const market = createMarket(await shipped.snapshots('EURUSD', '1h'), 'EURUSD', '1h');
    const task = { id: template.key, settings: template.settings, strategyHash: '' };
    const config = BacktestConfig.parse(template.suggestedConfig);
    const ast = compiledAst(template) as unknown as StrategyAst;
    const outcome = runBacktest({ ...task, strategyAst: ast, config }, market, null);
    if (!outcome.ok) throw new Error(outcome.error.message);
    const months = new Set(
      outcome.trades.map((trade) => new Date((trade as { entryTime: number }).entryTime).getUTCMonth()),
    );
    expect(months.size).toBe(12);
  });

  it('refuses a file with both formats, with neither, and with an unknown member', () => {
    const { key: _key, ...file } = TEMPLATES.find(({ key }) => key === 'golden_cross')!;
    expect(TemplateFile.safeParse(file).success).toBe(true);
    for (const wrong of [{ strategyAst: {} }, { signalGraph: undefined }, { sumary: '' }, { tags: ['Daily'] }])
      expect(TemplateFile.safeParse({ ...file, ...wrong }).success, JSON.stringify(wrong)).toBe(false);
  });

  it('has unique keys in order', () => {
    const keys = TEMPLATES.map((template) => template.key);
    expect(keys).toEqual([...new Set(keys)].toSorted());
  });
});

describe('reading templates', () => {
  it('lists templates without payloads', async () => {
    const { status, body } = await client.get('/system-strategies?limit=100');
    expect(status).toBe(200);
    expect(body.data.map((row: { key: string }) => row.key)).toEqual(TEMPLATES.map((template) => template.key));
    expect(Object.keys(body.data[0])).toEqual(['key', 'name', 'description', 'category', 'tags', 'instruments']);
    const instrumentsOf = (key: string): string[] =>
      body.data.find((row: { key: string }) => row.key === key).instruments;
    expect(instrumentsOf('golden_cross')).toEqual(['SPX']);
    expect(instrumentsOf('linked_pair')).toEqual(['SYN-CONSUMER-01', 'SYN-CONSUMER-02']);
    expect(body.pagination).toMatchObject({ total: TEMPLATES.length, hasMore: false, nextCursor: null });
  });

  it('filters by category, tags and search, and answers an unknown category with 400', async () => {
    const keys = async (query: string) =>
      (await client.get(`/system-strategies?limit=100&${query}`)).body.data.map((row: { key: string }) => row.key);
    expect(await keys('category=mean_reversion')).toContain('rsi2_mean_reversion');
    expect(await keys('category=mean_reversion')).not.toContain('golden_cross');
    expect(await keys('tags=moving-average,crossover')).toContain('golden_cross');
    expect(await keys('tags=moving-average,rsi')).not.toContain('golden_cross');
    expect(await keys('search=TURTLE')).toEqual(['donchian_turtle']);
    expect((await client.get('/system-strategies?category=luck')).status).toBe(400);
  });

  it('answers one template by its key, with the payload', async () => {
    const { status, body } = await client.get('/system-strategies/golden_cross');
    expect(status).toBe(200);
    expect(body).toMatchObject({ key: 'golden_cross', settings: { warmupPeriod: 200 } });
    expect(body.signalGraph.protocol).toBe('svc.signal-graph');
    expect(body.strategyAst.protocol).toBe('svc.strategy');
    expect(BacktestConfig.safeParse(body.suggestedConfig).success).toBe(true);
    expect((await client.get('/system-strategies/rsi2_mean_reversion')).body.signalGraph).toBeNull();
  });

  it('names the key that was meant by an unknown one', async () => {
    const { body } = await client.get('/system-strategies/goldencross');
    expect(body.message).toBe('There is no system strategy "goldencross". Did you mean "golden_cross"?');
  });

  it('answers an unknown key with 404', async () => {
    for (const key of ['nothing', '__proto__', 'constructor', 'GOLDEN_CROSS'])
      expect((await client.get(`/system-strategies/${key}`)).status, key).toBe(404);
  });

  it('requires system_strategies_read, and strategies_write and a member for copying', async () => {
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

describe('copying a template', () => {
  it('creates a draft strategy in the workspace and answers 201 with Location', async () => {
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

  it('takes name and description from the template if the body is empty or absent', async () => {
    const { name, description } = TEMPLATES.find((template) => template.key === 'macd_trend')!;
    for (const body of [{}, undefined]) {
      const reply = await client.post('/system-strategies/macd_trend/copy', body);
      expect(reply.body).toMatchObject({ name, description });
    }
  });

  it('creates a strategy that can be finalized unchanged', async () => {
    const { body } = await client.post('/system-strategies/donchian_turtle/copy');
    const [{ settings, strategyAst, version }] = body.versions;
    const reply = await client.post(`/strategies/${body.id}/versions/finalize`, { version, settings, strategyAst });
    expect(reply.body).toMatchObject({ status: 'ready', warnings: [] });
  });

  it('answers an unknown key with 404, and an invalid body with 400', async () => {
    expect((await client.post('/system-strategies/nothing/copy')).status).toBe(404);
    for (const body of [{ name: '' }, { name: null }, { settings: {} }, []])
      expect((await client.post('/system-strategies/golden_cross/copy', body)).status).toBe(400);
  });
});
