import { afterAll, describe, expect, it } from 'vitest';
import { PROBLEMS } from '../../src/api/http/problemTable.ts';
import { ISSUE_CODES } from '../../src/engine/index.ts';
import { TIER_LIMITS, TIERS } from '../../src/tiers.ts';
import { PACK_PARTS } from '../../src/api/discovery/authoringPack.ts';
import { STRATEGY_MEMBERS } from '../../src/api/discovery/strategyMembers.ts';
import { describeCapabilities } from '../../src/engine/index.ts';
import { createApiApp } from '../support/apiApp.ts';
import { ast, brokenAst, contradictoryAst, settings } from '../support/strategyPayloads.ts';

const api = await createApiApp();
const client = await api.client({ tier: 'plus' });
afterAll(() => api[Symbol.asyncDispose]());

describe('manifest', () => {
  it('lists the eight tools in the recommended order with method, path and scope', async () => {
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

  it('names the protocols with their versions, and API version 1.0.0', async () => {
    const { body } = await client.get('');
    expect(body.version).toBe('1.0.0');
    expect(body.protocols.signalGraph).toMatchObject({ protocol: 'svc.signal-graph', version: 2 });
    expect(body.protocols.strategyAst).toMatchObject({ protocol: 'svc.strategy', version: 1 });
    expect(body.backtestStates.terminal).toEqual(['completed', 'failed', 'cancelled']);
  });

  it('says what valid, requiresConfirmation and ignoreWarnings mean, and they mean that', async () => {
    const { validation } = (await client.get('')).body;
    expect(validation.requiresConfirmation).toMatch(/CONTRADICTION.*WARNINGS_REQUIRE_CONFIRMATION/);
    expect(validation.ignoreWarnings).toMatch(/other warnings never block, and errors always do/);
    const { exits: _, ...withoutExit } = ast().strategy;
    const verdictOf = async (strategyAst: object, more: object = {}) => {
      const { body } = await client.post('/strategies/validate', { settings, strategyAst, ...more });
      const codes = body.issues.map(({ code }: { code: string }) => code);
      return [body.valid, body.requiresConfirmation, codes.includes('CONTRADICTION')];
    };
    expect(await verdictOf(contradictoryAst())).toEqual([false, true, true]);
    expect(await verdictOf(contradictoryAst(), { ignoreWarnings: true })).toEqual([true, true, true]);
    expect(await verdictOf({ ...ast(), strategy: withoutExit })).toEqual([true, false, false]);
    expect(await verdictOf(brokenAst(), { ignoreWarnings: true })).toEqual([false, false, false]);
  });

  it('names only routes and links that exist', async () => {
    const { body } = await client.get('');
    const routes = [...body.workflow.map((step: { path: string }) => step.path), ...Object.values<string>(body.links)];
    for (const path of routes) {
      const url = path.replace('{id}', '00000000-0000-7000-8000-000000000000');
      const reply = await api.send({ url });
      expect([200, 401, 302, 405], url).toContain(reply.status);
    }
  });

  it('may be read with any valid key', async () => {
    const narrow = await api.client({ workspaceId: client.workspaceId, role: 'viewer', scopes: ['backtests_read'] });
    for (const path of ['', '/capabilities', '/market-data']) expect((await narrow.get(path)).status, path).toBe(200);
  });
});

describe('entity tags', () => {
  it.each([
    '',
    '/capabilities',
    '/capabilities?sections=limits',
    '/capabilities/indicators/rsi',
    '/capabilities/kinds/cross',
  ])('are given by %s, which answers 304 to who has the current one', async (path) => {
    const first = await client.get(path);
    const { etag } = first.headers as { etag: string };
    expect(etag).toMatch(/^"[\w-]+"$/);
    for (const header of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const again = await client.get(path, { 'if-none-match': header });
      expect([again.status, again.text, again.headers.etag], header).toEqual([304, '', etag]);
    }
    expect((await client.get(path, { 'if-none-match': '"other"' })).status).toBe(200);
  });
});

describe('workspace', () => {
  it('answers metadata, the role and scopes of the key, and the subscription with limits and usage', async () => {
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
    expect(body.subscription.usage).toEqual({
      activeApiKeys: 1,
      strategies: 1,
      queuedBacktests: 0,
      storedBytes: expect.any(Number),
      backtestResultBytes: 0,
      sweepResultBytes: 0,
      marketDataBytes: 0,
      marketDataSeries: 0,
    });
    expect(JSON.stringify(body)).not.toContain(who.apiKey);
  });

  it('needs workspace_read', async () => {
    const narrow = await api.client({ workspaceId: client.workspaceId, scopes: ['strategies_read'] });
    expect((await narrow.get('/workspace')).body.requiredScopes).toEqual(['workspace_read']);
  });
});

describe('capabilities', () => {
  it('have every group of the contract', async () => {
    const { body } = await client.get('/capabilities');
    expect(body.indicators.length).toBeGreaterThan(100);
    expect(body.signalGraph.nodes.length).toBeGreaterThan(7);
    expect(body.signalGraph.bindings).toContainEqual(
      expect.objectContaining({ path: 'strategy.entry.trigger', kind: 'bool_ref', required: true }),
    );
    expect(body.operators).toBeTypeOf('object');
    expect(body.enums.timeframes).toEqual('1m 3m 5m 15m 30m 1h 2h 4h 6h 8h 12h 1d 1w 1M'.split(' '));
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
    expect(body.schemas).toBeUndefined();
    const { body: asked } = await client.get('/capabilities?sections=schemas');
    expect(asked.schemas.backtestConfig.type).toBe('object');
  });

  it('give the limits of the tier', async () => {
    for (const tier of TIERS) {
      const who = await api.client({ tier });
      const { body } = await who.get('/capabilities?sections=limits');
      expect(body).toEqual({ limits: { tier, ...TIER_LIMITS[tier] } });
    }
  });

  it('show a changed subscription at once', async () => {
    const who = await api.client({ tier: 'free' });
    await who.get('/capabilities?sections=limits');
    await api.services.sql`update workspaces set tier = 'pro' where id = ${who.workspaceId}`;
    expect((await who.get('/capabilities?sections=limits')).body.limits.tier).toBe('pro');
  });

  it('are cut to the sections asked for, in any order, and refuse unknown ones with 400', async () => {
    const chosen = await client.get('/capabilities?sections=operators,indicators');
    expect(Object.keys(chosen.body)).toEqual(['indicators', 'operators']);
    for (const sections of ['foo', 'limits,', '', 'limits,__proto__']) {
      const reply = await client.get(`/capabilities?sections=${sections}`);
      expect([reply.status, reply.body.code], sections).toEqual([400, 'VALIDATION_FAILED']);
    }
  });
});

describe('market data', () => {
  it('lists the shipped series with bars, range and gaps', async () => {
    const { status, body } = await client.get('/market-data?limit=100');
    expect(status).toBe(200);
    expect(body.data).toContainEqual(expect.objectContaining({ symbol: 'EURUSD', timeframe: '1h', synthetic: false }));
    for (const row of body.data) {
      const members = ['symbol', 'timeframe', 'bars', 'start', 'end', 'gaps', 'owner', 'synthetic'];
      expect(Object.keys(row)).toEqual(row.synthetic ? [...members, 'description'] : members);
      expect(row.end).toBeGreaterThan(row.start);
    }
    expect(body.pagination.total).toBe(body.data.length);
  });

  it('lists the synthetic universe, and says what each of its series is', async () => {
    const { body } = await client.get('/market-data?symbol=SYN-TECH-04');
    expect(body.data).toEqual([
      {
        symbol: 'SYN-TECH-04',
        timeframe: '1d',
        bars: 1975,
        start: Date.UTC(2016, 4, 16),
        end: Date.UTC(2023, 11, 30),
        gaps: expect.any(Number),
        owner: 'shared',
        synthetic: true,
        description: 'Synthetic company of the sector technology, whose data begins on 2016-05-16.',
      },
    ]);
  });

  it('filters by symbol and timeframe, and pages', async () => {
    const one = await client.get('/market-data?symbol=SPX&timeframe=1d');
    expect(one.body.data.map((row: { symbol: string }) => row.symbol)).toEqual(['SPX']);
    const all = (await client.get('/market-data?limit=100')).body.data;
    const first = (await client.get('/market-data?limit=3')).body;
    const rest = (await client.get(`/market-data?limit=100&cursor=${first.pagination.nextCursor}`)).body;
    expect([...first.data, ...rest.data]).toEqual(all);
    expect((await client.get('/market-data?timeframe=7h')).status).toBe(400);
  });
});

describe('the machine-readable description', () => {
  it('carries version 1.0.0, is OpenAPI 3.1 and needs no key', async () => {
    const { status, body } = await api.send({ url: '/public/v1/openapi.json' });
    expect(status).toBe(200);
    expect([body.openapi, body.info.version]).toEqual(['3.1.0', '1.0.0']);
    expect(body.components.schemas.Problem.properties.code.enum).toEqual(Object.keys(PROBLEMS));
  });

  it('is shown by /docs/api without naming an outside host', async () => {
    const page = await api.send({ url: '/docs/api' });
    expect(page.status).toBe(200);
    expect(page.text).not.toMatch(/(src|href)="(https?:)?\/\//);
    expect(page.headers['content-security-policy']).not.toMatch(/https?:\/\/|upgrade-insecure-requests/);
    const script = await api.send({ url: '/docs/api/static/swagger-initializer.js' });
    expect(script.status).toBe(200);
    expect(script.text).not.toMatch(/url: ?"https?:/);
  });
});

describe('the authoring pack', () => {
  it('is at most 24 KB together with the manifest, and keeps an ETag', async () => {
    const manifest = await client.get('');
    const pack = await client.get('/authoring-pack');
    expect([manifest.status, pack.status]).toEqual([200, 200]);
    expect(Buffer.byteLength(manifest.text) + Buffer.byteLength(pack.text)).toBeLessThanOrEqual(24 * 1024);
    const again = await client.get('/authoring-pack', { 'if-none-match': String(pack.headers.etag) });
    expect(again).toMatchObject({ status: 304, text: '' });
  });

  it('has in its short view or in the parts that it names whatever the whole has', async () => {
    const { body: whole } = await client.get('/authoring-pack');
    const { body: short } = await client.get('/authoring-pack?part=core');
    for (const part of ['examples', 'kinds', 'members', 'config']) {
      const named: string[] = [...Object.keys(short[part]), ...short.parts[part].split(/,? /)];
      expect(named.toSorted(), part).toEqual(Object.keys(whole[part]).toSorted());
      expect(whole[part]).toMatchObject(short[part]);
    }
    for (const part of Object.keys(short.parts)) {
      const { body } = await client.get(`/authoring-pack?part=${part}`);
      expect(body).toEqual({ [part]: whole[part] });
    }
    const left = whole.indicators.split(' ').filter((text: string) => !short.indicators.split(' ').includes(text));
    expect(short.parts.indicators).toBe(`${left.length} other names`);
    expect((await client.get('/authoring-pack?part=nothing')).status).toBe(400);
    // Every part is cited, and the manifest leads to the view that cites them.
    expect(Object.keys(short.parts)).toEqual([...PACK_PARTS]);
    expect((await client.get('')).text).toContain('authoring-pack?part=core');
  });

  it('gives thirty indicators with arguments and outputs that they have', async () => {
    const { body: short } = await client.get('/authoring-pack?part=core');
    const texts: string[] = short.indicators.split(' ');
    expect(texts.length).toBeGreaterThanOrEqual(30);
    for (const text of texts) {
      const [, id, args = '', outputs = ''] = /^(\w+)(?:\((.*?)\))?(?:→(.*))?$/.exec(text)!;
      const { body } = await client.get(`/capabilities/indicators/${id}`);
      const defaults = Object.fromEntries(body.args.map((arg: Record<string, unknown>) => [arg.name, arg.default]));
      const given = args.split(',').filter((each) => each !== '');
      for (const [name, value] of given.map((each) => each.split('=')))
        expect([id, name, defaults[name]]).toEqual([id, name, Number(value)]);
      const names = body.outputs.map(({ name }: { name: string }) => name);
      expect([id, outputs]).toEqual([id, body.outputRequired ? names.join(',') : '']);
    }
  });

  it('has an example of an allocation that is valid, and the words of a schedule beside its numbers', async () => {
    const { examples, kinds } = (await client.get('/authoring-pack')).body;
    const { body } = await client.post('/strategies/validate', { settings: {}, strategyAst: examples.rotation });
    expect(body).toMatchObject({ valid: true, issues: [] });
    expect(examples.rotation.strategy.allocation.kind).toBe('allocation');
    expect(kinds.schedule).toContain('(on=first|last|int)');
  });

  it('says exactly which bars `within` means, wherever the member is described', async () => {
    const exactly = 'this one included';
    const { kinds } = (await client.get('/authoring-pack')).body;
    const { body } = await client.get('/capabilities?sections=signalGraph,strategyAst,schemas');
    for (const kind of ['cross', 'pattern']) {
      expect(kinds[kind]).toContain(exactly);
      for (const form of [body.signalGraph, body.strategyAst]) {
        const node = form.nodes.find((each: { kind: string }) => each.kind === kind);
        const field = node.fields.find(({ name }: { name: string }) => name === 'within');
        expect([node.description, field.description]).toEqual([
          expect.stringContaining(exactly),
          expect.stringContaining(exactly),
        ]);
      }
    }
    const described = JSON.stringify(body.schemas).match(/"within":\{[^}]*?"description":"[^"]*this one included/g);
    expect(described?.length).toBeGreaterThanOrEqual(4);
    const strategyAst = ast();
    (strategyAst as { strategy: { entry: { trigger: object } } }).strategy.entry.trigger = {
      kind: 'pattern',
      name: 'hammer',
      within: 3,
    };
    const explained = await client.post('/strategies/explain', { settings, strategyAst });
    expect(explained.body.plan).toContain('on any of the last 3 base bars, this one included');
  });

  it('names every kind, indicator, pattern and timeframe that capabilities describe', async () => {
    const { body: pack } = await client.get('/authoring-pack');
    const { body: all } = await client.get('/capabilities?sections=signalGraph,indicators,patterns,enums,operators');
    const idsOf = (list: { id: string }[]) => list.map(({ id }) => id);
    expect(Object.keys(pack.kinds)).toEqual(all.signalGraph.nodes.map(({ kind }: { kind: string }) => kind));
    const indicators: string[] = pack.indicators.split(' ');
    expect(indicators.map((text) => text.split(/[(→]/)[0])).toEqual(idsOf(all.indicators));
    expect(pack.patterns.split(' ')).toEqual(idsOf(all.patterns));
    expect(pack.timeframes).toEqual(all.enums.timeframes);
    const fields = pack.stateFields.split(' ').flatMap((group: string) => {
      const [prefix, names] = group.split(/[{}]/);
      return names === undefined ? [prefix] : names.split(',').map((name) => prefix + name);
    });
    expect(fields.toSorted()).toEqual(all.enums.stateFields.toSorted());
  });

  it('holds examples that are valid, and a config that runs', async () => {
    const { examples } = (await client.get('/authoring-pack')).body;
    const { signalGraph, strategyAst, settings, config } = examples;
    for (const payload of [{ signalGraph }, { strategyAst }])
      expect((await client.post('/strategies/validate', { settings, ...payload })).body).toMatchObject({
        valid: true,
        issues: [],
      });
    const { body: made } = await client.post('/strategies', { name: 'Pack', settings, signalGraph });
    const { body: ready } = await client.post(`/strategies/${made.id}/versions/finalize`, { version: 1 });
    const queued = await client.post('/backtests', { strategyVersionId: ready.id, config });
    expect(queued.status, queued.text).toBe(201);
  });

  it('describes every member of a strategy, and no other', () => {
    const described = Object.keys(STRATEGY_MEMBERS);
    const members = memberPaths(describeCapabilities().strategyAst.sections, 'strategy');
    // A member that means the same in all variants is described once.
    const ofAll = (path: string) => path.replace(/<[^>]*>(?=\.\w+$)/, '');
    const isCovered = (path: string) =>
      described.some(
        (each) =>
          each === path ||
          each === ofAll(path) ||
          each.startsWith(`${path}.`) ||
          each.startsWith(`${path}[]`) ||
          each.startsWith(`${path}<`),
      );
    expect(members.filter((path) => !isCovered(path))).toEqual([]);
    const known = new Set([...members, ...members.map(ofAll)]);
    expect(described.filter((path) => !known.has(path))).toEqual([]);
  });

  it('answers one indicator by id or alias, or one kind, and unknown ones with 404', async () => {
    expect((await client.get('/capabilities/indicators/rsi')).body).toMatchObject({
      id: 'rsi',
      args: [{ name: 'length' }],
    });
    expect((await client.get('/capabilities/indicators/SMMA')).body).toMatchObject({ id: 'rma' });
    const { body } = await client.get('/capabilities/kinds/cross');
    expect(body).toMatchObject({ signalGraph: { kind: 'cross' }, strategyAst: { kind: 'cross' } });
    const allocation = (await client.get('/capabilities/kinds/allocation')).body.strategyAst;
    const members = allocation.fields.map(({ name }: { name: string }) => name);
    expect(allocation.name).toBe('allocation');
    expect(members).toEqual(['kind', 'when', 'long', 'short', 'weights', 'fallback', 'bandPercent']);
    for (const path of ['indicators/nothing', 'kinds/constructor', 'kinds/exits'])
      expect((await client.get(`/capabilities/${path}`)).status).toBe(404);
  });
});

interface Member {
  readonly name: string;
  readonly enum?: readonly unknown[];
  readonly fields?: readonly Member[];
  readonly items?: readonly Member[];
  readonly variants?: Readonly<Record<string, readonly Member[]>>;
}

/** Every path of the grammar but the tags, which hold one word. */
function memberPaths(members: readonly Member[], root: string): string[] {
  return members.flatMap(({ name, enum: values, fields = [], items = [], variants = {} }) => {
    if (values?.length === 1) return [];
    const path = name === '[]' ? `${root}[]` : `${root}.${name}`;
    const inside = Object.entries(variants).flatMap(([tag, each]) => memberPaths(each, `${path}<${tag}>`));
    return [path, ...memberPaths(fields, path), ...memberPaths(items, path), ...inside];
  });
}
