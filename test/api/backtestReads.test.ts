// Reading backtests over HTTP: detail, wait, list, events, cancel and delete, with the stand-in engine behind the
// worker.
import { setTimeout as after } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { createBacktestApi, makeVersions } from '../support/backtestApi.ts';
import { eventually } from '../support/eventually.ts';

const backtests = await createBacktestApi();
const { api, client, body, post, run, withWorker, withoutWorker, versionId, strategyId } = backtests;
afterAll(() => backtests[Symbol.asyncDispose]());

describe('GET /backtests/{id}', () => {
  it('answers a completed backtest with summary, trace, rule statistics and artifact URLs', async () => {
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
        summaryJson: {
          returnPct: 0.125,
          strategyTrace: { diagnosis: [{ code: 'OK' }] },
          ruleStatsSummary: { rules: [] },
        },
        artifactUrls: { trades: `/public/v1/backtests/${id}/artifacts/trades` },
      },
    });
    expect(reply.body.result.artifacts.map((artifact: { name: string }) => artifact.name)).toEqual([
      'trades', 'equity', 'orders', 'signals', 'report',
    ]); // prettier-ignore
  });

  it('answers a failed backtest with its error and no result', async () => {
    await withWorker();
    const { id } = (await post({ params: { act: 'fail' } })).body;
    const reply = await client.get(`/backtests/${id}?wait=30`);
    expect(reply.body).toMatchObject({
      status: 'failed',
      result: null,
      error: { code: 'RANGE_NO_DATA', path: '/config/range' },
    });
  });

  it('answers a request with wait as soon as the backtest has ended, and not before', async () => {
    await withWorker();
    const asked = performance.now();
    const { id } = (await post({ params: { act: 'spin', ms: 500, value: 1 } })).body;
    const reply = await client.get(`/backtests/${id}?wait=30`);
    expect(reply.body.status).toBe('completed');
    const waited = performance.now() - asked;
    expect(waited).toBeGreaterThan(400);
    // The seconds it may wait are not up.
    expect(waited).toBeLessThan(29_000);
  });

  it('answers a request with wait with the current state when its seconds are up', async () => {
    await withoutWorker();
    const { id } = (await post({ params: { value: 77 } })).body;
    const asked = performance.now();
    expect((await client.get(`/backtests/${id}?wait=1`)).body.status).toBe('queued');
    expect(performance.now() - asked).toBeGreaterThan(950);
  });

  it('answers all of two hundred waiters', async () => {
    await withoutWorker();
    const { id } = (await post({ params: { value: 78 } })).body;
    const waiting = Promise.all(Array.from({ length: 200 }, () => client.get(`/backtests/${id}?wait=30`)));
    await withWorker();
    expect((await waiting).every((reply) => reply.body.status === 'completed')).toBe(true);
  });

  it('gives a finished backtest an ETag and answers 304 to it', async () => {
    await withWorker();
    const { id } = (await post({ params: { value: 3 } })).body;
    const first = await client.get(`/backtests/${id}?wait=30`);
    const again = await client.get(`/backtests/${id}`, { 'if-none-match': String(first.headers.etag) });
    expect(again).toMatchObject({ status: 304, text: '' });
  });

  it('keeps the agent view within its bytes and names what it omits', async () => {
    await withWorker();
    const { id } = (await post({ params: { value: 4 } })).body;
    await client.get(`/backtests/${id}?wait=30`);
    for (const maxBytes of [1_000, 8_000]) {
      const reply = await client.get(`/backtests/${id}?view=agent&maxBytes=${maxBytes}`);
      expect(Buffer.byteLength(reply.text)).toBeLessThanOrEqual(maxBytes);
      expect(reply.body).toMatchObject({
        id,
        status: 'completed',
        headline: { returnPct: 4 },
        diagnosis: [{ code: 'OK' }],
      });
    }
  });

  it('answers a malformed id, an unknown one and one of another workspace with 404', async () => {
    const other = await api.client();
    const { id } = (await post()).body;
    for (const path of ['/backtests/x', '/backtests/0198c5a0-0000-7000-8000-000000000000'])
      expect(await client.get(path)).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } });
    expect((await other.get(`/backtests/${id}`)).status).toBe(404);
  });

  it('answers a wait that is too long or an unknown parameter with 400', async () => {
    const { id } = (await post()).body;
    for (const query of ['wait=61', 'wait=x', 'view=all', 'foo=1', 'maxBytes=10'])
      expect((await client.get(`/backtests/${id}?${query}`)).status, query).toBe(400);
  });
});

describe('GET /backtests', () => {
  it('lists the workspace’s backtests, newest first, with headline numbers and no payload', async () => {
    await withWorker();
    const lister = await api.client();
    const made = await makeVersions(lister);
    const items = Array.from({ length: 5 }, (_, value) => body({ params: { value } }, made.versionId));
    const ids = (await lister.post('/backtests/batch', { items })).body.data.map(
      (item: { id: string }) => item.id,
    ) as string[];
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

describe('a backtest of any number of trades', () => {
  it('is read, listed and followed without its trades, which only their artifact decodes', async () => {
    await withWorker();
    const { id } = (await run({ params: { value: 0.875 } })).body;
    // A read that decodes them now fails.
    await api.services.sql`update backtest_details set trades = 'no trades' where id = ${id}`;
    expect((await client.get(`/backtests/${id}`)).body).toMatchObject({
      result: { summaryJson: { returnPct: 0.875 } },
    });
    expect((await client.get(`/backtests/${id}?view=agent&maxBytes=4000`)).status).toBe(200);
    expect((await client.get('/backtests?limit=1')).body.data[0]).toMatchObject({ id, diagnosis: 'OK' });
    expect((await client.get(`/backtests/${id}/events`)).status).toBe(200);
    expect((await client.get(`/backtests/${id}/artifacts/trades`)).status).toBe(500);
  });
});

describe('DELETE /backtests/{id}', () => {
  it('deletes a backtest that has ended, with its artifacts, once', async () => {
    await withWorker();
    const { id } = (await run({ params: { value: 0.75 } })).body;
    expect(await client.delete(`/backtests/${id}`)).toMatchObject({ status: 200, body: { id, deleted: true } });
    expect((await client.get(`/backtests/${id}`)).status).toBe(404);
    expect((await client.get(`/backtests/${id}/artifacts/trades`)).status).toBe(404);
    expect((await client.delete(`/backtests/${id}`)).status).toBe(404);
  });

  it('refuses one that has not ended, and says what to do first', async () => {
    await withoutWorker();
    const { id } = (await post()).body;
    const refused = await client.delete(`/backtests/${id}`);
    expect(refused).toMatchObject({ status: 409, body: { code: 'BACKTEST_NOT_TERMINAL' } });
    expect(refused.body.message).toContain(`POST /public/v1/backtests/${id}/cancel`);
    await client.post(`/backtests/${id}/cancel`);
    expect((await client.delete(`/backtests/${id}`)).status).toBe(200);
  });

  it('needs backtests_write and the role member, and finds nothing of another workspace', async () => {
    await withWorker();
    const { id } = (await run({ params: { value: 0.5 } })).body;
    const { workspaceId } = client;
    const reader = await api.client({ workspaceId, scopes: ['backtests_read'] });
    const viewer = await api.client({ workspaceId, role: 'viewer', scopes: ['backtests_read'] });
    expect((await reader.delete(`/backtests/${id}`)).status).toBe(403);
    expect((await viewer.delete(`/backtests/${id}`)).status).toBe(403);
    expect((await (await api.client()).delete(`/backtests/${id}`)).status).toBe(404);
    expect((await client.get(`/backtests/${id}`)).status).toBe(200);
  });
});

describe('POST /backtests/{id}/cancel', () => {
  it('cancels a queued backtest at once', async () => {
    await withoutWorker();
    const { id } = (await post({ params: { value: 90 } })).body;
    expect(await client.post(`/backtests/${id}/cancel`)).toMatchObject({
      status: 200,
      body: { id, status: 'cancelled' },
    });
    expect(await client.post(`/backtests/${id}/cancel`)).toMatchObject({
      status: 409,
      body: { code: 'BACKTEST_ALREADY_TERMINAL' },
    });
  });

  it('cancels a running backtest and answers with its final state', async () => {
    await withWorker();
    const { id } = (await post({ params: { act: 'spin', ms: 600_000, value: 91 } })).body;
    await eventually(async () => (await client.get(`/backtests/${id}`)).body.progress.barsTotal > 0);
    const reply = await client.post(`/backtests/${id}/cancel`);
    expect(reply).toMatchObject({ status: 200, body: { status: 'cancelled', result: null } });
  });

  it('answers an unknown backtest with 404', async () => {
    expect((await client.post('/backtests/0198c5a0-0000-7000-8000-000000000000/cancel')).status).toBe(404);
  });
});

describe('GET /backtests/{id}/events', () => {
  it('streams status and progress until the end', async () => {
    await withoutWorker();
    const { id } = (await post({ params: { act: 'spin', ms: 1_500, value: 5 } })).body;
    const reading = client.get(`/backtests/${id}/events`);
    // It runs for a moment only, which a stream that was opened afterwards could miss.
    await withWorker();
    const reply = await reading;
    expect(reply.headers['content-type']).toContain('text/event-stream');
    const events = reply.text.split('\n\n').filter((block) => block.startsWith('event:'));
    const told = events.map(
      (block) => JSON.parse(block.split('\ndata: ')[1]) as { status: string; progress: { pct: number } },
    );
    expect(told.at(-1)).toMatchObject({ status: 'completed', progress: { pct: 1 } });
    expect(events.some((block) => block.startsWith('event: progress'))).toBe(true);
    const shares = told.map((event) => event.progress.pct);
    expect(shares).toEqual(shares.toSorted((a, b) => a - b));
  });

  it('ends when the key is revoked, expired, without its scope, or of nobody', async () => {
    await withoutWorker();
    const { id } = (await post()).body;
    const { sql } = api.services;
    const [{ id: nobody }] = await sql`
      insert into users (subject, email, name) values ('nobody', 'nobody@example.com', 'n') returning id`;
    const changes = [
      sql`revoked_at = now()`,
      sql`expires_at = now()`,
      sql`scopes = '{workspace_read}'`,
      sql`created_by = ${nobody}`,
    ];
    // All at the same time, because each is noticed within some seconds.
    const ends = changes.map(async (change) => {
      const reader = await api.client({ workspaceId: client.workspaceId });
      const stream = reader.get(`/backtests/${id}/events`);
      await after(300);
      await sql`update api_keys set ${change} where key_id = ${reader.apiKey.split('_')[2]}`;
      await stream;
    });
    // Each ends although the backtest has not.
    expect(await Promise.all(ends)).toHaveLength(4);
    expect((await client.get(`/backtests/${id}`)).body.status).toBe('queued');
    await client.post(`/backtests/${id}/cancel`);
  });
});

describe('/metrics', () => {
  it('shows the depth of the queue and what each worker does', async () => {
    await withoutWorker();
    await post({ params: { value: 200 } });
    const before = (await api.send({ url: '/metrics' })).text;
    expect(Number(/candlepool_backtests\{status="queued"\} (\d+)/.exec(before)?.[1])).toBeGreaterThan(0);
    await withWorker();
    expect((await run({ params: { value: 201 } })).body.status).toBe('completed');
    for (const shown of [
      /candlepool_worker_runs_total\{worker="[^"]+"\} [1-9]/,
      /candlepool_worker_threads\{worker="[^"]+"\} 2/,
      /candlepool_backtests\{status="queued"\} 0/,
    ])
      await eventually(async () => shown.test((await api.send({ url: '/metrics' })).text));
  });
});
