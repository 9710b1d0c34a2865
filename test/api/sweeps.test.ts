// Sweeps over HTTP, run by a worker with the real engine: from request to ranked table, rows as files, a row as a
// backtest, and refusals.
import { tableFromIPC } from 'apache-arrow';
import { afterAll, describe, expect, it } from 'vitest';
import type { Worker } from '../../src/jobs/runner.ts';
import { createApiApp, type Reply } from '../support/apiApp.ts';
import { startApiWorker } from '../support/apiWorker.ts';
import { config } from '../support/backtestApi.ts';
import { readyVersion } from '../support/sweepApi.ts';

const api = await createApiApp();
const client = await api.client();
const strategyVersionId = await readyVersion(client);
let worker: Worker | undefined;
afterAll(async () => {
  await worker?.[Symbol.asyncDispose]();
  await api[Symbol.asyncDispose]();
});

async function withWorker(): Promise<void> {
  worker ??= await startApiWorker(api.services, 2);
}

const body = (more: object = {}) => ({
  strategyVersionId,
  config: config(),
  space: { fast: { values: [5, 10, 20] }, slow: { values: [30, 60] } },
  method: 'grid',
  ...more,
});

describe('a sweep', () => {
  it('ranks 300 variants over six symbols in two calls and less than 20 KB', async () => {
    await withWorker();
    const space = {
      symbol: { values: ['SPX', 'NASDAQ', 'AAPL', 'GOOG', 'IBM', 'MSFT'] },
      fast: { min: 2, max: 20, step: 2 },
      slow: { values: [30, 45, 60, 90, 120] },
    };
    const made = await client.post('/sweeps', body({ space }));
    expect(made.status, made.text).toBe(201);
    expect(made.body.variants).toBe(300);
    let seen: Reply;
    let calls = 1;
    do {
      seen = await client.get(`/sweeps/${made.body.id}?wait=60&view=agent`);
      calls++;
    } while (seen.body.status !== 'completed' && calls < 4);
    expect(seen.body.status, seen.text).toBe('completed');
    expect(seen.body.table.columns.slice(0, 5)).toEqual(['rank', 'variant', 'symbol', 'fast', 'slow']);
    expect(seen.body.table.rows.length).toBeGreaterThanOrEqual(20);
    expect(seen.body.verdict.text).toMatch(/luck/);
    expect(Buffer.byteLength(seen.text)).toBeLessThanOrEqual(8_000);
    expect(Buffer.byteLength(made.text) + Buffer.byteLength(seen.text)).toBeLessThan(20_000);
  });

  it('answers rows in every format, a heatmap, a report, and any row as a backtest with the same summary', async () => {
    await withWorker();
    const made = await client.post('/sweeps', body({ walkForward: { kind: 'rolling', folds: 2 } }));
    const done = await client.get(`/sweeps/${made.body.id}?wait=60`);
    expect(done.body, done.text).toMatchObject({
      status: 'completed',
      progress: { pct: 1 },
      result: { trials: { sweep: 6 } },
    });
    expect(done.body.result.walkForward.folds).toHaveLength(2);
    const rows = (await client.get(`/sweeps/${made.body.id}/results`)).body as Record<string, number | null>[];
    expect(rows.map(({ variant, fast, slow }) => [variant, fast, slow])).toEqual([
      [0, 5, 30],
      [1, 5, 60],
      [2, 10, 30],
      [3, 10, 60],
      [4, 20, 30],
      [5, 20, 60],
    ]);
    const csv = await client.get(`/sweeps/${made.body.id}/results?format=csv`);
    expect(csv.text.trim().split('\n')).toHaveLength(7);
    const page = await client.get(`/sweeps/${made.body.id}/results?format=csv&offset=4&limit=1`);
    expect(page.text.split('\n')).toEqual([...csv.text.split('\n').filter((_, line) => line === 0 || line === 5), '']);
    expect(page.headers.link).toMatch(/offset=5\b.*; rel="next"/);
    expect((await client.get(`/sweeps/${made.body.id}/results?limit=1`)).body.issues[0].path).toBe('/query/limit');
    const arrow = await api.app.inject({
      url: `/public/v1/sweeps/${made.body.id}/results?format=arrow`,
      headers: { 'x-api-key': client.apiKey },
    });
    expect(tableFromIPC(arrow.rawPayload).numRows).toBe(6);
    const accept = 'text/csv;q=0.9, application/vnd.apache.arrow.file;q=0.1, */*;q=0.01';
    const accepted = await api.app.inject({
      url: `/public/v1/sweeps/${made.body.id}/results`,
      headers: { 'x-api-key': client.apiKey, accept },
    });
    expect(accepted.payload).toBe(csv.text);
    expect(accepted.headers.vary).toContain('accept');
    const heatmap = await client.get(`/sweeps/${made.body.id}/heatmap?x=fast&y=slow&metric=returnPct`);
    expect(heatmap.body.best[1][2]).toBe(rows[5].returnPct);
    const report = await client.get(`/sweeps/${made.body.id}/report`);
    expect(report.text).toContain(done.body.result.verdict.text);

    const opened = await client.post(`/sweeps/${made.body.id}/rows/3/backtest`);
    expect(opened.status, opened.text).toBe(201);
    const backtest = await client.get(`/backtests/${opened.body.id}?wait=30`);
    const { variant: _, fast: __, slow: ___, maxDrawdownRecoveredAt, ...numbers } = rows[3];
    const recovered = new Date(Number(maxDrawdownRecoveredAt)).toISOString();
    expect(backtest.body.result.summaryJson.maxDrawdownRecoveredAt).toBe(recovered);
    expect(backtest.body.result.summaryJson, backtest.text).toMatchObject(numbers);
    expect((await client.post(`/sweeps/${made.body.id}/rows/99/backtest`)).status).toBe(404);
  });

  it('names the folds of a walk-forward that an instrument does not reach, in both views', async () => {
    await withWorker();
    // AAPL has no bars after March 2013, and the test windows end in 2018.
    const given = body({
      config: config({ range: { start: '2005-01-01', end: '2018-12-31' } }),
      space: { fast: { min: 5, max: 20, step: 5 }, symbol: { values: ['AAPL', 'SPX'] } },
      walkForward: { kind: 'anchored', folds: 5, trainFraction: 0.4 },
    });
    const { id } = (await client.post('/sweeps', given)).body;
    const { result } = (await client.get(`/sweeps/${id}?wait=60`)).body;
    const { folds, outOfSample } = result.walkForward;
    const [first, ...others] = folds.map(({ symbol }: { symbol: string }) => symbol);
    expect(first).toBe('AAPL');
    expect(others.slice(-2)).toEqual(['SPX', 'SPX']);
    expect(outOfSample.coveredShare).toBeLessThan(1);
    const codes = (view: { warnings: { code: string }[] }) => view.warnings.map(({ code }) => code);
    expect(codes(result)).toContain('WALK_FORWARD_GAPS');
    const agent = (await client.get(`/sweeps/${id}?view=agent&maxBytes=20000`)).body;
    expect(codes(agent)).toContain('WALK_FORWARD_GAPS');
    expect(agent.walkForward.folds.map(({ status }: { status: string }) => status)).toEqual(
      folds.map(({ status }: { status: string }) => status),
    );
  });

  it('runs the rounds of tpe one after the other and gives the same rows again', async () => {
    await withWorker();
    const asked = body({
      method: 'tpe',
      budget: 45,
      space: { fast: { min: 2, max: 50 }, slow: { min: 20, max: 150 } },
    });
    const [first, second] = await Promise.all([client.post('/sweeps', asked), client.post('/sweeps', asked)]);
    const rowsOf = async (made: Reply): Promise<string> => {
      const done = await client.get(`/sweeps/${made.body.id}?wait=60`);
      expect(done.body.status, done.text).toBe('completed');
      return (await client.get(`/sweeps/${made.body.id}/results?format=csv`)).text;
    };
    const rows = await rowsOf(first);
    expect(rows.trim().split('\n')).toHaveLength(46);
    expect(await rowsOf(second)).toBe(rows);
  });

  it('counts the earlier trials of the workspace on the same lineage and data', async () => {
    await withWorker();
    const own = await api.client();
    const versionId = await readyVersion(own);
    const run = async () => {
      const made = await own.post('/sweeps', { ...body(), strategyVersionId: versionId });
      return (await own.get(`/sweeps/${made.body.id}?wait=60`)).body.result;
    };
    const trials = async () => (await run()).trials;
    expect(await trials()).toEqual({ sweep: 6, workspace: 6 });
    const second = await run();
    expect(second.trials).toEqual({ sweep: 6, workspace: 12 });
    expect(second.verdict.text).toContain('that 12 variants without skill would show, as many as the workspace has');
    const [{ id }] = (await own.get('/sweeps?limit=1')).body.data;
    expect((await own.delete(`/sweeps/${id}`)).body).toEqual({ id, deleted: true });
    expect(await trials()).toEqual({ sweep: 6, workspace: 18 });
  });

  it('is deleted once it has ended, and not by another workspace', async () => {
    await worker?.[Symbol.asyncDispose]();
    worker = undefined;
    const { id } = (await client.post('/sweeps', body())).body;
    const url = `/sweeps/${id}`;
    expect(await client.delete(url)).toMatchObject({ status: 409, body: { code: 'SWEEP_NOT_TERMINAL' } });
    await client.post(`${url}/cancel`);
    expect((await (await api.client()).delete(url)).status).toBe(404);
    expect((await client.delete(url)).body).toEqual({ id, deleted: true });
    expect((await client.get(url)).status).toBe(404);
    expect((await client.delete(url)).status).toBe(404);
  });

  it('ends at once when cancelled, answers 409 when cancelled again, and has no results', async () => {
    await worker?.[Symbol.asyncDispose]();
    worker = undefined;
    const made = await client.post('/sweeps', body());
    const cancelled = await client.post(`/sweeps/${made.body.id}/cancel`);
    expect(cancelled.body).toMatchObject({ status: 'cancelled' });
    expect(await client.post(`/sweeps/${made.body.id}/cancel`)).toMatchObject({
      status: 409,
      body: { code: 'SWEEP_ALREADY_TERMINAL' },
    });
    expect((await client.get(`/sweeps/${made.body.id}/results`)).status).toBe(404);
    const events = await client.get(`/sweeps/${made.body.id}/events`);
    expect(events.text).toContain('event: status');
    expect((await client.get('/sweeps?status=cancelled')).body.data[0]).toMatchObject({ id: made.body.id, best: null });
  });
});

describe('the limit of open sweeps', () => {
  it('holds for requests that arrive together', async () => {
    // A sweep that ended meanwhile would make room.
    await worker?.[Symbol.asyncDispose]();
    worker = undefined;
    const fresh = await api.client();
    const strategyVersionId = await readyVersion(fresh);
    const sent = { ...body({ space: { fast: { values: [5] } } }), strategyVersionId };
    const first = await fresh.post('/sweeps', sent);
    expect(first.status, first.text).toBe(201);
    await api.services.sql`
      insert into sweeps (workspace_id, strategy_id, strategy_version_id, spec, markets, snapshots, variants, indexes)
      select workspace_id, strategy_id, strategy_version_id, spec, markets, snapshots, variants, indexes
      from sweeps, generate_series(1, 97) where id = ${first.body.id as string}`;
    const replies = await Promise.all(Array.from({ length: 6 }, () => fresh.post('/sweeps', sent)));
    const refused = replies.filter(({ status }) => status !== 201);
    expect(refused).toHaveLength(4);
    for (const each of refused) expect(each.body).toMatchObject({ code: 'QUEUE_FULL', limitName: 'openSweeps' });
    await api.services.sql`delete from sweeps where workspace_id = ${fresh.workspaceId}`;
  });
});

describe('the size of a sweep', () => {
  const large = { fast: { min: 1, max: 200 }, slow: { min: 1, max: 200 }, stop: { min: 0.1, max: 10, step: 0.1 } };
  const constraints = Array.from({ length: 64 }, (_, index) => ({
    left: index % 2 === 0 ? 'fast' : 'stop',
    op: 'neq',
    right: 300 + index,
  }));

  // Counting these points one by one takes minutes.
  it('is checked before its points are counted', async () => {
    const free = await api.client({ tier: 'free' });
    const asked = { ...body({ space: large, constraints }), strategyVersionId: await readyVersion(free) };
    expect(await free.post('/sweeps', asked)).toMatchObject({
      status: 403,
      body: { code: 'TIER_LIMIT_REACHED', limitName: 'sweepPoints', limit: 4_000, usage: 4_000_000 },
    });
    const pro = await client.post('/sweeps', body({ space: large, constraints }));
    expect(pro).toMatchObject({
      status: 403,
      body: { code: 'TIER_LIMIT_REACHED', limitName: 'sweepVariants', limit: 1_000_000, usage: 4_000_000 },
    });
  });

  it.each(['tpe', 'random', 'latin_hypercube'])(
    'is refused with the numbers when %s would find hardly any variant',
    async (method) => {
      const rare = {
        method,
        budget: 1_000_000,
        space: { fast: { min: 1, max: 200 }, stop: { min: 0.1, max: 50 } },
        constraints: [{ left: 'stop', op: 'eq', right: 'fast' }],
      };
      const refused = await client.post('/sweeps', body(rare));
      expect(refused).toMatchObject({
        status: 422,
        body: { code: 'SWEEP_INVALID', issues: [{ path: '/constraints' }] },
      });
      expect(refused.body.message).toMatch(/^None of 10000 points that were tried satisfy the constraints/);
    },
  );

  it('is refused when its shards would be more than can be queued at once', async () => {
    const budget = 1_000_000;
    const walkForward = { kind: 'rolling', folds: 100 };
    const refused = await client.post('/sweeps', body({ space: large, method: 'random', budget, walkForward }));
    expect(refused).toMatchObject({ status: 422, body: { code: 'SWEEP_INVALID' } });
    expect(refused.body.message).toMatch(/^This sweep is about 6\.\de\+12 bars of work; a sweep may be 1\.5e\+12\./);
  });

  it('counts the variants of a large grid exactly', async () => {
    const ordered = [
      { left: 'fast', op: 'lt', right: 10 },
      { left: 'slow', op: 'eq', right: 'fast' },
    ];
    const made = await client.post('/sweeps', body({ space: large, constraints: ordered }));
    expect([made.status, made.body.variants], made.text).toEqual([201, 9 * 100]);
    await client.post(`/sweeps/${made.body.id}/cancel`);
  });
});

describe('an invalid request for a sweep', () => {
  it('is refused at the first of thousands of symbols without data, and looks no further', async () => {
    const symbols = Array.from({ length: 9_000 }, (_, index) => `S${index}`);
    const space = { symbol: { values: ['SPX', ...symbols] } };
    const refused = await client.post('/sweeps', body({ space, method: 'random', budget: 1 }));
    expect(refused).toMatchObject({ status: 422, body: { issues: [{ path: '/space/symbol/values/1' }] } });
  });

  it('is refused at the place of a symbol that has no data', async () => {
    const space = { fast: { values: [5] }, symbol: { values: ['SPX', 'nasdaq'] } };
    const refused = await client.post('/sweeps', body({ space }));
    const path = '/space/symbol/values/1';
    const patch = [{ op: 'replace', path, value: 'NASDAQ' }];
    const issue = { code: 'SYMBOL_NOT_AVAILABLE', path, field: 'space', patch };
    expect([refused.status, refused.body.issues]).toMatchObject([422, [issue]]);
  });

  it('is refused at the place of a number that the strategy does not allow', async () => {
    const value = '/strategyAst/strategy/entry/action/sizing/value';
    const path = '/space/~1strategyAst~1strategy~1entry~1action~1sizing~1value';
    const listed = await client.post('/sweeps', body({ space: { [value]: { values: [-5, 50] } } }));
    const issue = { code: 'SIZING_INVALID', path: `${path}/values/0`, field: 'space', severity: 'error' };
    expect([listed.status, listed.body.issues]).toMatchObject([422, [issue]]);
    const ranged = await client.post('/sweeps', body({ space: { [value]: { min: -5, max: 50, step: 5 } } }));
    expect([ranged.status, ranged.body.issues]).toMatchObject([422, [{ ...issue, path }]]);
  });

  it('is answered with patches that rename the bounds of another tool', async () => {
    const wrong = await client.post('/sweeps', body({ space: { fast: { from: 5, to: 10 } } }));
    expect(wrong).toMatchObject({
      status: 400,
      body: {
        issues: [
          {
            path: '/space/fast/from',
            message: 'Unknown member "from".',
            suggestion: 'Did you mean "min"?',
            patch: [{ op: 'move', from: '/space/fast/from', path: '/space/fast/min' }],
          },
          { patch: [{ op: 'move', from: '/space/fast/to', path: '/space/fast/max' }] },
        ],
      },
    });
  });

  it('is told the name that a misspelled member was meant to have', async () => {
    const wrong = await client.post('/sweeps', body({ metod: 'grid' }));
    const issue = { path: '/metod', message: 'Unknown member "metod".', suggestion: 'Did you mean "method"?' };
    expect(wrong).toMatchObject({ status: 400, body: { issues: [issue] } });
  });

  it('is refused with the path of each fault in the space', async () => {
    const wrong = await client.post(
      '/sweeps',
      body({ space: { quick: { min: 1, max: 2 }, fast: { min: 9, max: 1 } } }),
    );
    expect(wrong).toMatchObject({ status: 422, body: { code: 'SWEEP_INVALID' } });
    expect(wrong.body.issues.map((issue: { path: string }) => issue.path)).toEqual(['/space/quick', '/space/fast']);
  });

  it('is refused above the tier’s variants, without market data, for a viewer, and for another workspace', async () => {
    const free = await api.client({ tier: 'free' });
    const large = {
      ...body({ space: { fast: { min: 1, max: 200 }, slow: { min: 1, max: 2 } } }),
      strategyVersionId: await readyVersion(free),
    };
    expect(await free.post('/sweeps', large)).toMatchObject({
      status: 403,
      body: { code: 'TIER_LIMIT_REACHED', limitName: 'sweepVariants', usage: 400 },
    });
    const nowhere = await client.post('/sweeps', body({ space: { symbol: { values: ['SPX', 'NOWHERE'] } } }));
    expect(nowhere).toMatchObject({ status: 422, body: { code: 'BACKTEST_CONFIG_INVALID' } });
    const viewer = await api.client({ role: 'viewer', workspaceId: client.workspaceId });
    expect((await viewer.post('/sweeps', body())).status).toBe(403);
    const other = await api.client();
    expect((await other.post('/sweeps', body())).status).toBe(404);
  });
});
