// Backtests over HTTP: accept, refuse, list, read, wait, follow, cancel, verify and artifacts, with the stand-in engine behind the worker.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApiApp } from '../support/apiApp.ts';
import type { ApiApp, Client } from '../support/apiApp.ts';
import { eventually, quiet } from '../support/queue.ts';
import { STAND_IN_RUNNER, STRATEGY } from '../support/runs.ts';
import { startWorker } from '../../src/jobs/runner.ts';
import type { Worker } from '../../src/jobs/runner.ts';
import { urlOf } from '../../src/db/connect.ts';

let api: ApiApp;
let client: Client;
let versionId: string;
let strategyId: string;
let draftId: string;
let worker: Worker | undefined;

const FEES = { kind: 'tiered_maker_taker', tiers: [{ minCumulativeNotional: 0, makerRate: 0, takerRate: 0.001 }] };
const config = (more: object = {}) => ({
  timeframe: '1d',
  signalInstrument: { symbol: 'SPX' },
  initialBalance: 10_000,
  execution: { feeModel: FEES, slippage: { kind: 'none' } },
  ...more,
});
/** The stand-in engine reads these; the strategy declares them, so that they pass the checks. */
const PARAMS = [
  { name: 'act', type: 'choice', default: 'none', values: ['none', 'spin', 'fail', 'throw'] },
  { name: 'ms', type: 'float', default: 0, min: 0, max: 1e6 },
  { name: 'value', type: 'float', default: 0 },
];
const body = (more: object = {}, id = versionId) => ({ strategyVersionId: id, config: config(more) });
const post = (more: object = {}) => client.post('/backtests', body(more));
const withWorker = async (): Promise<void> => {
  worker ??= await startWorker(
    {
      url: urlOf(api.services.sql),
      threads: 2,
      snapshots: () => api.services.catalogue,
      pool: { runner: STAND_IN_RUNNER },
    },
    quiet,
  );
};
const withoutWorker = async (): Promise<void> => {
  await worker?.[Symbol.asyncDispose]();
  worker = undefined;
};
async function makeVersion(of: Client): Promise<{ strategyId: string; draftId: string; versionId: string }> {
  const payload = { settings: {}, strategyAst: { ...STRATEGY, strategy: { ...STRATEGY.strategy, params: PARAMS } } };
  const made = await of.post('/strategies', { name: 'test', description: '', ...payload });
  expect(made.status, made.text).toBe(201);
  const other = await of.post('/strategies', { name: 'draft', description: '', ...payload });
  const ready = await of.post(`/strategies/${made.body.id}/versions/finalize`, { ...payload, version: 1 });
  expect(ready.status, ready.text).toBe(200);
  return { strategyId: made.body.id, versionId: ready.body.id, draftId: other.body.versions[0].id };
}

beforeAll(async () => {
  api = await createApiApp();
  client = await api.client();
  ({ strategyId, versionId, draftId } = await makeVersion(client));
});
afterAll(async () => {
  await withoutWorker();
  await api[Symbol.asyncDispose]();
});

describe('POST /backtests', () => {
  test('spec §4.3.13: a minimal request is queued: 201, Location, id and status', async () => {
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

  test('spec §4.3.13: every member of a config is taken', async () => {
    const reply = await post({
      range: { start: 1_041_379_200, end: 1_104_537_600 },
      execution: {
        entryOrderRole: 'taker',
        exitOrderRole: 'maker',
        riskOrderRole: 'taker',
        feeModel: { kind: 'tiered_maker_taker', tiers: [...FEES.tiers, { minCumulativeNotional: 1e6, makerRate: 0, takerRate: 0 }] },
        slippage: { kind: 'fixed', unit: 'bps', value: 2 },
      },
      ambiguityResolution: 'multi_resolution',
      ambiguityFallback: 'pessimistic',
    });
    expect(reply.status, reply.text).toBe(201);
  });

  test('spec §3.3: backtests may only be run for a ready version: a draft is 409', async () => {
    const reply = await client.post('/backtests', body({}, draftId));
    expect(reply).toMatchObject({ status: 409, body: { code: 'STRATEGY_VERSION_NOT_READY', retryable: false } });
  });

  test('an unknown version, and one of another workspace, is 404', async () => {
    const other = await api.client();
    const foreign = await makeVersion(other);
    for (const id of ['0198c5a0-0000-7000-8000-000000000000', foreign.versionId]) {
      const reply = await client.post('/backtests', body({}, id));
      expect(reply).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } });
    }
  });

  const fees = (...tiers: object[]) => ({ execution: { feeModel: { kind: 'tiered_maker_taker', tiers }, slippage: { kind: 'none' } } });
  test.each<[string, () => unknown, string]>([
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
    ['a fee rate above the bound', () => body(fees({ minCumulativeNotional: 0, makerRate: 0, takerRate: 0.2 })), '/config/execution/feeModel/tiers/0/takerRate'],
    ['an unknown slippage', () => body({ execution: { feeModel: FEES, slippage: { kind: 'lots' } } }), '/config/execution/slippage/kind'],
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

  test.each([
    ['an unknown symbol', { signalInstrument: { symbol: 'NOPE' } }, 'SYMBOL_NOT_AVAILABLE', '/config/signalInstrument/symbol'],
    ['a timeframe finer than the data', { timeframe: '1h' }, 'TIMEFRAME_NOT_AVAILABLE', '/config/timeframe'],
    ['a first tier above zero', { execution: { feeModel: { kind: 'tiered_maker_taker', tiers: [{ minCumulativeNotional: 5, makerRate: 0, takerRate: 0 }] }, slippage: { kind: 'none' } } }, 'FEE_TIERS_ORDER', '/config/execution/feeModel/tiers/0/minCumulativeNotional'],
    ['tiers that do not ascend', { execution: { feeModel: { kind: 'tiered_maker_taker', tiers: [0, 10, 10].map((minCumulativeNotional) => ({ minCumulativeNotional, makerRate: 0, takerRate: 0 })) }, slippage: { kind: 'none' } } }, 'FEE_TIERS_ORDER', '/config/execution/feeModel/tiers/2/minCumulativeNotional'],
    ['slippage in ticks without a tick size', { execution: { feeModel: FEES, slippage: { kind: 'fixed', unit: 'ticks', value: 1 } } }, 'TICK_SIZE_UNKNOWN', '/config/execution/slippage/unit'],
    ['a range that ends before it starts', { range: { start: 1_104_537_600, end: 1_041_379_200 } }, 'RANGE_INVALID', '/config/range'],
  ])('%s is 422 with an issue at its place', async (_, more, code, path) => {
    const reply = await post(more);
    expect(reply.status, reply.text).toBe(422);
    expect(reply.body.code).toBe('BACKTEST_CONFIG_INVALID');
    expect(reply.body.issues).toContainEqual(expect.objectContaining({ code, path, severity: 'error' }));
  });

  test('params that the strategy does not declare, or of the wrong range, are 422', async () => {
    for (const params of [{ unknown: 1 }, { ms: -1 }]) {
      const reply = await post({ params });
      expect(reply, reply.text).toMatchObject({ status: 422, body: { code: 'BACKTEST_CONFIG_INVALID' } });
      expect(reply.body.issues[0].path).toContain('/config/params');
    }
  });

  test('all faults of a config are told at once', async () => {
    const reply = await post({ signalInstrument: { symbol: 'NOPE' }, range: { start: 2e9, end: 1e9 }, params: { unknown: 1 } });
    expect(reply.body.issues.length).toBe(3);
  });

  test('a range without bars is 422 RANGE_NO_DATA and says what there is', async () => {
    const reply = await post({ range: { start: 4_000_000_000 } });
    expect(reply).toMatchObject({ status: 422, body: { code: 'RANGE_NO_DATA', available: { start: expect.any(Number) } } });
  });

  test('spec §5.3: backtests_write and role member are needed', async () => {
    const scoped = await api.client({ workspaceId: client.workspaceId, scopes: ['backtests_read'] });
    expect(await scoped.post('/backtests', body())).toMatchObject({ status: 403, body: { code: 'INSUFFICIENT_SCOPE' } });
    const viewer = await api.client({ workspaceId: client.workspaceId, role: 'viewer' });
    expect(await viewer.post('/backtests', body())).toMatchObject({ status: 403, body: { code: 'INSUFFICIENT_ROLE' } });
    expect((await viewer.get('/backtests')).status).toBe(200);
  });

  test('an Idempotency-Key queues once', async () => {
    const headers = { 'idempotency-key': 'one' };
    const [first, second] = [await client.post('/backtests', body(), headers), await client.post('/backtests', body(), headers)];
    expect(second.body.id).toBe(first.body.id);
    expect(second.headers['idempotency-replayed']).toBe('true');
  });

  test('the tier limits the queue: the hundred-and-first on free is 403', async () => {
    await withoutWorker();
    const free = await api.client({ tier: 'free' });
    const made = await makeVersion(free);
    const items = Array.from({ length: 101 }, () => body({}, made.versionId));
    const batch = await free.post('/backtests/batch', { items });
    expect(batch.body).toMatchObject({ accepted: 100, refused: 1 });
    expect(batch.body.data[100]).toMatchObject({ index: 100, error: { code: 'TIER_LIMIT_REACHED', limit: 100 } });
    const reply = await free.post('/backtests', body({}, made.versionId));
    expect(reply).toMatchObject({ status: 403, body: { code: 'TIER_LIMIT_REACHED', limitName: 'queuedBacktests', limit: 100, usage: 100 } });
  });

  test('twenty requests at once never pass the limit', async () => {
    await withoutWorker();
    const free = await api.client({ tier: 'free' });
    const made = await makeVersion(free);
    await free.post('/backtests/batch', { items: Array.from({ length: 95 }, () => body({}, made.versionId)) });
    const replies = await Promise.all(Array.from({ length: 20 }, () => free.post('/backtests', body({}, made.versionId))));
    expect(replies.filter((reply) => reply.status === 201).length).toBe(5);
  });
});

describe('POST /backtests/batch', () => {
  test('takes up to 1,000, each accepted or refused on its own', async () => {
    const items = [body(), { wrong: 1 }, body({ signalInstrument: { symbol: 'NOPE' } }), body({}, draftId), body({ params: { value: 1 } })];
    const reply = await client.post('/backtests/batch', { items });
    expect(reply.status, reply.text).toBe(200);
    expect(reply.body).toMatchObject({ accepted: 2, refused: 3 });
    expect(reply.body.data.map((item: { error?: { code: string }; status?: string }) => item.error?.code ?? item.status)).toEqual([
      'queued', 'VALIDATION_FAILED', 'BACKTEST_CONFIG_INVALID', 'STRATEGY_VERSION_NOT_READY', 'queued',
    ]); // prettier-ignore
    expect(reply.body.data[2].error.issues[0].path).toBe('/items/2/config/signalInstrument/symbol');
  });

  test('of 1,001 or of none is 400', async () => {
    for (const count of [0, 1_001])
      expect((await client.post('/backtests/batch', { items: Array.from({ length: count }, () => 1) })).status).toBe(400);
  });
});

describe('GET /backtests/{id}', () => {
  test('spec §4.3.12: a completed backtest has summary, trace, rule statistics and artifact URLs', async () => {
    await withWorker();
    const { id } = (await post({ params: { value: 0.125 } })).body;
    const reply = await client.get(`/backtests/${id}?wait=30`);
    expect(reply.body).toMatchObject({
      id,
      status: 'completed',
      strategyId,
      strategyVersionId: versionId,
      resolvedConfig: { leverage: 1 },
      progress: { phase: 'done', pct: 1, queuePosition: null },
      reproducibility: { engineVersion: 'stand-in', cached: false },
      warnings: [],
      error: null,
      result: {
        summaryJson: { returnPct: 0.125, strategyTrace: { diagnosis: [{ code: 'OK' }] }, ruleStatsSummary: { rules: [] } },
        artifactUrls: { trades: `/public/v1/backtests/${id}/artifacts/trades` },
      },
    });
    expect(reply.body.result.artifacts.map((artifact: { name: string }) => artifact.name)).toEqual([
      'trades', 'equity', 'orders', 'signals', 'report',
    ]); // prettier-ignore
  });

  test('a failed backtest has its error and no result', async () => {
    await withWorker();
    const { id } = (await post({ params: { act: 'fail' } })).body;
    const reply = await client.get(`/backtests/${id}?wait=30`);
    expect(reply.body).toMatchObject({ status: 'failed', result: null, error: { code: 'RANGE_NO_DATA', path: '/config/range' } });
  });

  test('wait answers as soon as the backtest has ended, and not before', async () => {
    await withWorker();
    const { id } = (await post({ params: { act: 'spin', ms: 500, value: 1 } })).body;
    const asked = performance.now();
    const reply = await client.get(`/backtests/${id}?wait=30`);
    expect(reply.body.status).toBe('completed');
    const waited = performance.now() - asked;
    expect(waited).toBeGreaterThan(400);
    expect(waited).toBeLessThan(5_000);
  });

  test('wait gives up after its seconds and answers what it knows', async () => {
    await withoutWorker();
    const { id } = (await post({ params: { value: 77 } })).body;
    const asked = performance.now();
    expect((await client.get(`/backtests/${id}?wait=1`)).body.status).toBe('queued');
    expect(performance.now() - asked).toBeGreaterThan(950);
  });

  test('two hundred waiters are all answered', async () => {
    await withoutWorker();
    const { id } = (await post({ params: { value: 78 } })).body;
    const waiting = Promise.all(Array.from({ length: 200 }, () => client.get(`/backtests/${id}?wait=30`)));
    await withWorker();
    expect((await waiting).every((reply) => reply.body.status === 'completed')).toBe(true);
  });

  test('a finished backtest has an ETag and answers 304 to it', async () => {
    await withWorker();
    const { id } = (await post({ params: { value: 3 } })).body;
    const first = await client.get(`/backtests/${id}?wait=30`);
    const again = await client.get(`/backtests/${id}`, { 'if-none-match': String(first.headers.etag) });
    expect(again).toMatchObject({ status: 304, text: '' });
  });

  test('the agent view stays within its bytes and names what it left out', async () => {
    await withWorker();
    const { id } = (await post({ params: { value: 4 } })).body;
    await client.get(`/backtests/${id}?wait=30`);
    for (const maxBytes of [1_000, 8_000]) {
      const reply = await client.get(`/backtests/${id}?view=agent&maxBytes=${maxBytes}`);
      expect(Buffer.byteLength(reply.text)).toBeLessThanOrEqual(maxBytes);
      expect(reply.body).toMatchObject({ id, status: 'completed', headline: { returnPct: 4 }, diagnosis: [{ code: 'OK' }] });
    }
  });

  test('an id that is none, an unknown one and another workspace’s are 404', async () => {
    const other = await api.client();
    const { id } = (await post()).body;
    for (const path of ['/backtests/x', '/backtests/0198c5a0-0000-7000-8000-000000000000'])
      expect(await client.get(path)).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } });
    expect((await other.get(`/backtests/${id}`)).status).toBe(404);
  });

  test('a wait that is too long or an unknown parameter is 400', async () => {
    const { id } = (await post()).body;
    for (const query of ['wait=61', 'wait=x', 'view=all', 'foo=1', 'maxBytes=10'])
      expect((await client.get(`/backtests/${id}?${query}`)).status, query).toBe(400);
  });
});

describe('GET /backtests', () => {
  test('spec §4.3.12: lists the workspace’s backtests, newest first, with headline numbers and no payload', async () => {
    await withWorker();
    const lister = await api.client();
    const made = await makeVersion(lister);
    const items = Array.from({ length: 5 }, (_, value) => body({ params: { value } }, made.versionId));
    const ids = (await lister.post('/backtests/batch', { items })).body.data.map((item: { id: string }) => item.id) as string[];
    await Promise.all(ids.map((id) => lister.get(`/backtests/${id}?wait=30`)));
    const all = await lister.get('/backtests');
    expect(all.body.pagination).toEqual({ limit: 20, nextCursor: null, hasMore: false, total: 5 });
    expect(all.body.data.map((row: { id: string }) => row.id)).toEqual(ids.toReversed());
    expect(all.body.data[0]).toMatchObject({ returnPct: 4, sharpeRatio: null, maxDrawdown: 0.25, totalPositions: 2 });
    expect(all.body.data[0]).not.toHaveProperty('config');

    const first = await lister.get('/backtests?limit=2&sort=createdAt');
    const second = await lister.get(`/backtests?limit=2&sort=createdAt&cursor=${first.body.pagination.nextCursor}`);
    expect([...first.body.data, ...second.body.data].map((row: { id: string }) => row.id)).toEqual(ids.slice(0, 4));
    const wrong = await lister.get(`/backtests?limit=2&cursor=${first.body.pagination.nextCursor}`);
    expect(wrong).toMatchObject({ status: 400, body: { code: 'CURSOR_INVALID' } });

    for (const [query, total] of [
      ['status=completed', 5],
      ['status=failed', 0],
      [`strategyId=${made.strategyId}`, 5],
      [`strategyVersionId=${made.versionId}`, 5],
      [`strategyId=${strategyId}`, 0],
      ['symbol=SPX&timeframe=1d', 5],
      ['symbol=AAPL', 0],
      ['createdAfter=2020-01-01T00:00:00Z', 5],
      ['createdBefore=2020-01-01T00:00:00Z', 0],
      ['sort=finishedAt', 5],
      ['sort=-status', 5],
    ] as const)
      expect((await lister.get(`/backtests?${query}`)).body.pagination?.total, query).toBe(total);
    for (const query of ['status=done', 'sort=cost', 'limit=101', 'createdAfter=yesterday', 'nope=1'])
      expect((await lister.get(`/backtests?${query}`)).status, query).toBe(400);
  });
});

describe('POST /backtests/{id}/cancel', () => {
  test('cancels a queued backtest at once', async () => {
    await withoutWorker();
    const { id } = (await post({ params: { value: 90 } })).body;
    expect(await client.post(`/backtests/${id}/cancel`)).toMatchObject({ status: 200, body: { id, status: 'cancelled' } });
    expect(await client.post(`/backtests/${id}/cancel`)).toMatchObject({ status: 409, body: { code: 'BACKTEST_ALREADY_TERMINAL' } });
  });

  test('cancels a running one and answers with what has become of it', async () => {
    await withWorker();
    const { id } = (await post({ params: { act: 'spin', ms: 60_000, value: 91 } })).body;
    await eventually(async () => (await client.get(`/backtests/${id}`)).body.progress.barsTotal > 0);
    const asked = performance.now();
    const reply = await client.post(`/backtests/${id}/cancel`);
    expect(reply).toMatchObject({ status: 200, body: { status: 'cancelled', result: null } });
    expect(performance.now() - asked).toBeLessThan(1_000);
  });

  test('an unknown one is 404', async () => {
    expect((await client.post('/backtests/0198c5a0-0000-7000-8000-000000000000/cancel')).status).toBe(404);
  });
});

describe('GET /backtests/{id}/events', () => {
  test('tells status and progress until the end', async () => {
    await withWorker();
    const { id } = (await post({ params: { act: 'spin', ms: 1_500, value: 5 } })).body;
    const reply = await client.get(`/backtests/${id}/events`);
    expect(reply.headers['content-type']).toContain('text/event-stream');
    const events = reply.text.split('\n\n').filter((block) => block.startsWith('event:'));
    const told = events.map((block) => JSON.parse(block.split('\ndata: ')[1]) as { status: string; progress: { pct: number } });
    expect(told.at(-1)).toMatchObject({ status: 'completed', progress: { pct: 1 } });
    expect(events.some((block) => block.startsWith('event: progress'))).toBe(true);
    const shares = told.map((event) => event.progress.pct);
    expect(shares).toEqual(shares.toSorted((a, b) => a - b));
  });
});

describe('artifacts and verify', () => {
  const completed = async (value: number): Promise<string> => {
    await withWorker();
    const { id } = (await post({ params: { value } })).body;
    expect((await client.get(`/backtests/${id}?wait=30`)).body.status).toBe('completed');
    return id as string;
  };

  test('an artifact is made on demand in the format that is asked for, by query or by Accept', async () => {
    const id = await completed(20);
    const url = `/backtests/${id}/artifacts/trades`;
    expect((await client.get(`${url}?format=csv`)).text).toMatch(/^trades csv \d+$/);
    const accepted = await client.get(url, { accept: 'text/plain, application/vnd.apache.arrow.file;q=0.9, text/csv;q=0.1' });
    expect(accepted.text).toMatch(/^trades arrow/);
    expect(accepted.headers['content-type']).toBe('application/vnd.apache.arrow.file');
    expect((await client.get(`/backtests/${id}/artifacts/report`)).headers['content-type']).toContain('text/html');
    expect((await api.services.sql`select 1 from reruns`).length).toBe(0);
  });

  test('an unknown artifact is 404, a format it is not made in 400, and one that has not completed 404', async () => {
    const id = await completed(21);
    expect((await client.get(`/backtests/${id}/artifacts/nope`)).status).toBe(404);
    expect((await client.get(`/backtests/${id}/artifacts/report?format=csv`)).status).toBe(400);
    const failed = (await post({ params: { act: 'fail' } })).body.id as string;
    await client.get(`/backtests/${failed}?wait=30`);
    expect((await client.get(`/backtests/${failed}/artifacts/trades`)).status).toBe(404);
  });

  test('verify runs it again and compares the hashes', async () => {
    const id = await completed(22);
    const reply = await client.post(`/backtests/${id}/verify`);
    expect(reply, reply.text).toMatchObject({ status: 200, body: { id, verified: true } });
    expect(reply.body.recomputed.resultHash).toBe(reply.body.stored.resultHash);
  });

  test('a result that cannot be made again is 409 ARTIFACT_NOT_REPRODUCIBLE, and verify says so', async () => {
    const id = await completed(23);
    await withoutWorker();
    process.env.STAND_IN_DRIFT = '-drifted';
    try {
      await withWorker();
      expect(await client.get(`/backtests/${id}/artifacts/trades`)).toMatchObject({ status: 409, body: { code: 'ARTIFACT_NOT_REPRODUCIBLE' } });
      expect((await client.post(`/backtests/${id}/verify`)).body.verified).toBe(false);
    } finally {
      delete process.env.STAND_IN_DRIFT;
      await withoutWorker();
    }
  });
});
