// Queuing backtests over HTTP: what is accepted, what is refused and how, one by one and in batches.
import jsonPatch, { type Operation } from 'fast-json-patch';
import { afterAll, describe, expect, it } from 'vitest';
import { EXAMPLE_STRATEGY_AST } from '../../src/api/strategies/strategyExamples.ts';
import { FEES, config, createBacktestApi, makeVersions } from '../support/backtestApi.ts';

const backtests = await createBacktestApi();
const { api, client, body, post, withoutWorker, versionId, strategyId, draftId } = backtests;
afterAll(() => backtests[Symbol.asyncDispose]());

describe('POST /backtests', () => {
  it('queues a minimal request and answers 201, Location, id and status', async () => {
    const reply = await post();
    expect(reply.status, reply.text).toBe(201);
    expect(reply.headers.location).toBe(`/public/v1/backtests/${reply.body.id}`);
    expect(reply.body).toMatchObject({ status: 'queued', strategyId, strategyVersionId: versionId });
    const detail = await client.get(`/backtests/${reply.body.id}`);
    expect(detail.body).toMatchObject({
      status: 'queued',
      config: config(),
      startedAt: null,
      result: null,
      error: null,
      progress: { phase: 'queued', pct: 0, queuePosition: expect.any(Number) },
    });
  });

  it('accepts every member of a config', async () => {
    const reply = await post({
      range: { start: 1_041_379_200, end: 1_104_537_600 },
      execution: {
        entryOrderRole: 'taker',
        exitOrderRole: 'maker',
        riskOrderRole: 'taker',
        feeModel: {
          kind: 'tiered_maker_taker',
          tiers: [...FEES.tiers, { minCumulativeNotional: 1e6, makerRate: 0, takerRate: 0 }],
        },
        slippage: { kind: 'fixed', unit: 'bps', value: 2 },
      },
      ambiguityResolution: 'multi_resolution',
      ambiguityFallback: 'pessimistic',
    });
    expect(reply.status, reply.text).toBe(201);
  });

  it('refuses a run of a strategy that reads the state of another instrument, and says what to do', async () => {
    const trigger = { kind: 'compare', left: { kind: 'state', field: 'position_exists' }, op: 'eq', right: 0 };
    const versionFor = async (symbol: string): Promise<string> => {
      const left = { ...trigger.left, instrument: { symbol } };
      const right = { kind: 'const', value: 0 };
      const action = { side: 'long', sizing: { mode: 'fixed', value: 1 } };
      const entry = { kind: 'entry', trigger: { ...trigger, left, right }, action };
      const strategyAst = { protocol: 'svc.strategy', version: 1, strategy: { kind: 'strategy', entry, exits: [] } };
      const payload = { name: symbol, description: '', settings: {}, strategyAst };
      const made = await client.post('/strategies', payload);
      const sent = { settings: {}, strategyAst, version: 1, ignoreWarnings: true };
      const ready = await client.post(`/strategies/${made.body.id}/versions/finalize`, sent);
      expect(ready.status, ready.text).toBe(200);
      return ready.body.id as string;
    };
    const refused = await client.post('/backtests', body({}, await versionFor('MSFT')));
    expect(refused.status, refused.text).toBe(422);
    expect(refused.body).toMatchObject({
      code: 'BACKTEST_CONFIG_INVALID',
      issues: [
        {
          code: 'NOT_AVAILABLE_YET',
          message: 'This reads the state of "MSFT", and only "SPX" is traded: nothing else has a position.',
          suggestion: 'Remove `instrument` to read the state of SPX, or run the strategy on MSFT.',
        },
      ],
    });
    const accepted = await client.post('/backtests', body({}, await versionFor('SPX')));
    expect(accepted.status, accepted.text).toBe(201);
  });

  it('accepts ISO dates, a config without execution, and a config as GET answers it', async () => {
    const { execution: _, ...free } = config();
    const sent = { ...free, range: { start: '2003-01-01', end: '2005-01-01T00:00:00+01:00' } };
    const reply = await client.post('/backtests', { strategyVersionId: versionId, config: sent });
    expect(reply.status, reply.text).toBe(201);
    const detail = await client.get(`/backtests/${reply.body.id}`);
    expect(detail.body.config).toEqual(sent);
    const again = await client.post('/backtests', { strategyVersionId: versionId, config: detail.body.config });
    expect(again.status, again.text).toBe(201);
  });

  it.each(['2003-02-30', '2003-01-01T00:00:00', '01/02/2003', 'now', '1041379200000'])(
    'answers the text %j in a range with 400 and what to write instead',
    async (start) => {
      const reply = await client.post('/backtests', body({ range: { start } }));
      expect(reply.status).toBe(400);
      expect(reply.body.issues).toEqual([
        expect.objectContaining({
          path: '/config/range/start',
          message: expect.stringContaining('must be a day such as "2020-01-31"'),
        }),
      ]);
    },
  );

  it('answers a draft version with 409', async () => {
    const reply = await client.post('/backtests', body({}, draftId));
    expect(reply).toMatchObject({ status: 409, body: { code: 'STRATEGY_VERSION_NOT_READY', retryable: false } });
  });

  it('answers the id of a strategy with the id of its ready version, but none of another workspace', async () => {
    const { status, body: problem } = await client.post('/backtests', body({}, strategyId));
    expect([status, problem.code]).toEqual([404, 'NOT_FOUND']);
    expect(problem.message).toContain(`Its newest ready version, number 1, is ${versionId}.`);
    const drafted = await client.post('/strategies', { name: 'x', settings: {}, strategyAst: EXAMPLE_STRATEGY_AST });
    const unready = await client.post('/backtests', body({}, drafted.body.id));
    expect(unready.body.message).toMatch(/is the id of a strategy, .* None of its newest versions is ready/);
    const foreign = await (await api.client()).post('/backtests', body({}, strategyId));
    expect(foreign.body.message).toBe(`No strategy version "${strategyId}" in this workspace.`);
  });

  it('answers an unknown version, or one of another workspace, with 404', async () => {
    const other = await api.client();
    const foreign = await makeVersions(other);
    for (const id of ['0198c5a0-0000-7000-8000-000000000000', foreign.versionId]) {
      const reply = await client.post('/backtests', body({}, id));
      expect(reply).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } });
    }
  });

  const fees = (...tiers: object[]) => ({
    execution: { feeModel: { kind: 'tiered_maker_taker', tiers }, slippage: { kind: 'none' } },
  });
  it.each<[string, () => unknown, string]>([
    ['no body', () => undefined, ''],
    ['a list', () => [], ''],
    ['a malformed version id', () => body({}, 'x'), '/strategyVersionId'],
    ['no config', () => ({ strategyVersionId: versionId }), '/config'],
    ['an unknown member', () => ({ ...body(), extra: 1 }), '/extra'],
    ['an unknown config member', () => body({ stopLoss: 3 }), '/config/stopLoss'],
    ['a timeframe that is none', () => body({ timeframe: '7m' }), '/config/timeframe'],
    ['a balance of zero', () => body({ initialBalance: 0 }), '/config/initialBalance'],
    ['a balance that is text', () => body({ initialBalance: '10000' }), '/config/initialBalance'],
    ['no tiers', () => body(fees()), '/config/execution/feeModel/tiers'],
    [
      'a fee rate above the bound',
      () => body(fees({ minCumulativeNotional: 0, makerRate: 0, takerRate: 0.2 })),
      '/config/execution/feeModel/tiers/0/takerRate',
    ],
    [
      'an unknown slippage',
      () => body({ execution: { feeModel: FEES, slippage: { kind: 'lots' } } }),
      '/config/execution/slippage/kind',
    ],
    ['a range of texts', () => body({ range: { start: 'now' } }), '/config/range/start'],
    ['an unknown ambiguity policy', () => body({ ambiguityResolution: 'lucky' }), '/config/ambiguityResolution'],
    ['a NUL in a name', () => body({ params: { 'a\u0000': 1 } }), '/config'],
    ['half a surrogate pair', () => body({ signalInstrument: { symbol: '\ud800' } }), '/config'],
  ])('%s is 400 with an issue at its place', async (_, sent, path) => {
    const reply = await client.post('/backtests', sent());
    expect(reply.status, reply.text).toBe(400);
    expect(reply.body.code).toBe('VALIDATION_FAILED');
    expect(reply.body.issues.map((issue: { path: string }) => issue.path)).toContain(path);
  });

  it.each([
    [
      'an unknown symbol',
      { signalInstrument: { symbol: 'NOPE' } },
      'SYMBOL_NOT_AVAILABLE',
      '/config/signalInstrument/symbol',
    ],
    ['a timeframe finer than the data', { timeframe: '1h' }, 'TIMEFRAME_NOT_AVAILABLE', '/config/timeframe'],
    [
      'a first tier above zero',
      {
        execution: {
          feeModel: { kind: 'tiered_maker_taker', tiers: [{ minCumulativeNotional: 5, makerRate: 0, takerRate: 0 }] },
          slippage: { kind: 'none' },
        },
      },
      'FEE_TIERS_ORDER',
      '/config/execution/feeModel/tiers/0/minCumulativeNotional',
    ],
    [
      'tiers that do not ascend',
      {
        execution: {
          feeModel: {
            kind: 'tiered_maker_taker',
            tiers: [0, 10, 10].map((minCumulativeNotional) => ({ minCumulativeNotional, makerRate: 0, takerRate: 0 })),
          },
          slippage: { kind: 'none' },
        },
      },
      'FEE_TIERS_ORDER',
      '/config/execution/feeModel/tiers/2/minCumulativeNotional',
    ],
    [
      'slippage in ticks without a tick size',
      { execution: { feeModel: FEES, slippage: { kind: 'fixed', unit: 'ticks', value: 1 } } },
      'TICK_SIZE_UNKNOWN',
      '/config/execution/slippage/unit',
    ],
    ['an empty range', { range: { start: '2003-01-01', end: '2003-01-01T00:00Z' } }, 'RANGE_INVALID', '/config/range'],
    [
      'a range that ends before it starts',
      { range: { start: 1_104_537_600, end: 1_041_379_200 } },
      'RANGE_INVALID',
      '/config/range',
    ],
  ])('%s is 422 with an issue at its place', async (_, more, code, path) => {
    const reply = await post(more);
    expect(reply.status, reply.text).toBe(422);
    expect(reply.body.code).toBe('BACKTEST_CONFIG_INVALID');
    expect(reply.body.issues).toContainEqual(expect.objectContaining({ code, path, severity: 'error' }));
  });

  it('answers undeclared or out-of-range params with 422', async () => {
    for (const params of [{ unknown: 1 }, { ms: -1 }]) {
      const reply = await post({ params });
      expect(reply, reply.text).toMatchObject({ status: 422, body: { code: 'BACKTEST_CONFIG_INVALID' } });
      expect(reply.body.issues[0].path).toContain('/config/params');
    }
  });

  it('reports all issues of a config at once', async () => {
    const reply = await post({
      signalInstrument: { symbol: 'NOPE' },
      range: { start: 2e9, end: 1e9 },
      params: { unknown: 1 },
    });
    expect(reply.body.issues.length).toBe(3);
  });

  it('reports faults of form, of the data and of the strategy together, and the patches make it run', async () => {
    const wrong = {
      tf: '1D',
      symbol: config().signalInstrument.symbol.toLowerCase(),
      capital: '10000',
      fees: 0.001,
      slippage: { bps: 5 },
      start: '2003/01/01',
      params: { MS: 1 },
    };
    const reply = await client.post('/backtests', { strategyVersionId: versionId, config: wrong });
    expect(reply).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED', example: { timeframe: '1d' } } });
    const { issues } = reply.body as { issues: { path: string; patch?: Operation[] }[] };
    expect(new Set(issues.map(({ path }) => path))).toEqual(
      new Set(['tf', 'symbol', 'capital', 'fees', 'slippage', 'start', 'params/MS'].map((each) => `/config/${each}`)),
    );
    let body: { readonly config: object } = { config: wrong };
    for (let round = 0; round < 3; round++) {
      const answer = await client.post('/backtests', { strategyVersionId: versionId, ...body });
      if (answer.status === 201) return;
      const steps = (answer.body.issues as { patch?: Operation[] }[]).flatMap(({ patch = [] }) => patch);
      expect(steps).not.toEqual([]);
      body = jsonPatch.applyPatch(structuredClone(body), steps).newDocument;
    }
    expect.fail(JSON.stringify(body));
  });

  it('repairs an item of a batch by patches of the whole batch', async () => {
    const items = [body(), { ...body(), config: { ...body().config, timeframe: '1D' } }];
    const { body: answer } = await client.post('/backtests/batch', { items });
    const [issue] = answer.data[1].error.issues;
    expect(issue).toMatchObject({ code: 'UNKNOWN_TIMEFRAME', path: '/items/1/config/timeframe' });
    const repaired = jsonPatch.applyPatch(structuredClone({ items }), issue.patch as Operation[]).newDocument;
    expect((await client.post('/backtests/batch', repaired)).body).toMatchObject({ accepted: 2 });
  });

  it('answers a range without bars with 422 RANGE_NO_DATA and the available range', async () => {
    const reply = await post({ range: { start: 4_000_000_000 } });
    expect(reply).toMatchObject({
      status: 422,
      body: { code: 'RANGE_NO_DATA', available: { start: expect.any(Number) } },
    });
  });

  it('answers a range in which no bar closes with 422 RANGE_NO_DATA', async () => {
    const reply = await post({ range: { start: 1_041_379_200, end: 1_041_379_200 + 3_599 } });
    expect(reply).toMatchObject({ status: 422, body: { code: 'RANGE_NO_DATA' } });
  });

  it('requires backtests_write and the role member', async () => {
    const scoped = await api.client({ workspaceId: client.workspaceId, scopes: ['backtests_read'] });
    expect(await scoped.post('/backtests', body())).toMatchObject({
      status: 403,
      body: { code: 'INSUFFICIENT_SCOPE' },
    });
    const viewer = await api.client({ workspaceId: client.workspaceId, role: 'viewer' });
    expect(await viewer.post('/backtests', body())).toMatchObject({ status: 403, body: { code: 'INSUFFICIENT_ROLE' } });
    expect((await viewer.get('/backtests')).status).toBe(200);
  });

  it('queues once per Idempotency-Key', async () => {
    const headers = { 'idempotency-key': 'one' };
    const [first, second] = [
      await client.post('/backtests', body(), headers),
      await client.post('/backtests', body(), headers),
    ];
    expect(second.body.id).toBe(first.body.id);
    expect(second.headers['idempotency-replayed']).toBe('true');
  });

  it('answers the hundred-and-first open backtest on free with a 429 to retry', async () => {
    await withoutWorker();
    const free = await api.client({ tier: 'free' });
    const made = await makeVersions(free);
    const items = Array.from({ length: 101 }, () => body({}, made.versionId));
    const headers = { 'idempotency-key': 'all' };
    const batch = await free.post('/backtests/batch', { items }, headers);
    expect(batch.body).toMatchObject({ accepted: 100, refused: 1 });
    expect(batch.body.data[100]).toMatchObject({
      index: 100,
      error: { code: 'QUEUE_FULL', retryable: true, limit: 100 },
    });
    // The same request is not tried again, so the refused item must be told how to be.
    expect((await free.post('/backtests/batch', { items }, headers)).body).toEqual(batch.body);
    expect(batch.body.data[100].error.message).toContain('another Idempotency-Key');
    const reply = await free.post('/backtests', body({}, made.versionId));
    expect(reply).toMatchObject({
      status: 429,
      headers: { 'retry-after': '5' },
      body: { code: 'QUEUE_FULL', retryable: true, limitName: 'queuedBacktests', limit: 100, usage: 100 },
    });
  });

  it('keeps the limit for twenty concurrent requests', async () => {
    await withoutWorker();
    const free = await api.client({ tier: 'free' });
    const made = await makeVersions(free);
    await free.post('/backtests/batch', { items: Array.from({ length: 95 }, () => body({}, made.versionId)) });
    const replies = await Promise.all(
      Array.from({ length: 20 }, () => free.post('/backtests', body({}, made.versionId))),
    );
    expect(replies.filter((reply) => reply.status === 201).length).toBe(5);
  });
});

describe('POST /backtests/batch', () => {
  it('stores of each config what it stores of one that is sent by itself', async () => {
    const changes = [
      {},
      { initialBalance: 20_000 },
      { range: { start: '2010-01-01' } },
      { overrides: {} },
      { leverage: 2 },
      { execution: { feeModel: FEES, slippage: { kind: 'fixed', unit: 'bps', value: 1 } } },
    ].flatMap((change) => [1, 2].map((value) => ({ ...change, params: { value } })));
    const { data } = (await client.post('/backtests/batch', { items: changes.map((change) => body(change)) })).body;
    const alone: string[] = [];
    for (const change of changes) alone.push((await post(change)).body.id);
    const storedOf = async (ids: readonly string[]) => {
      const rows = await api.services.sql<{ id: string; key: string; cost: number; bytes: number }[]>`
        select id, run_key as key, cost, memory_bytes as bytes from backtests join backtest_queue using (id)
        where id = any (${ids as string[]}::uuid[])`;
      return ids.map((id) => ({ ...rows.find((row) => row.id === id)!, id: '' }));
    };
    const stored = await storedOf(data.map(({ id }: { id: string }) => id));
    expect(stored).toEqual(await storedOf(alone));
    // Only the empty overrides change nothing.
    expect(new Set(stored.map(({ key }) => key)).size).toBe(changes.length - 2);
  });

  it('accepts or refuses each of up to 1,000 items separately', async () => {
    const items = [
      body(),
      { wrong: 1 },
      body({ signalInstrument: { symbol: 'NOPE' } }),
      body({}, draftId),
      body({ params: { value: 1 } }),
    ];
    const reply = await client.post('/backtests/batch', { items });
    expect(reply.status, reply.text).toBe(200);
    expect(reply.body).toMatchObject({ accepted: 2, refused: 3 });
    const answers = reply.body.data as { error?: { code: string }; status?: string }[];
    expect(answers.map(({ error, status }) => error?.code ?? status)).toEqual([
      'queued', 'VALIDATION_FAILED', 'BACKTEST_CONFIG_INVALID', 'STRATEGY_VERSION_NOT_READY', 'queued',
    ]); // prettier-ignore
    expect(reply.body.data[2].error.issues[0].path).toBe('/items/2/config/signalInstrument/symbol');
  });

  it('answers 1,001 items or none with 400', async () => {
    for (const count of [0, 1_001])
      expect((await client.post('/backtests/batch', { items: Array.from({ length: count }, () => 1) })).status).toBe(
        400,
      );
  });
});
