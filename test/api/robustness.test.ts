// Robustness checks over HTTP, run by a worker with the real engine: started, awaited, read in both views, reproduced,
// cancelled and refused; and the same result from the command line.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROBUSTNESS_ANALYSES } from '../../src/engine/robustness/analyses/registeredAnalyses.ts';
import { claimShard, takeOverShards } from '../../src/db/sweepShards.ts';
import type { Worker } from '../../src/jobs/runner.ts';
import { createApiApp, type Reply } from '../support/apiApp.ts';
import { startApiWorker } from '../support/apiWorker.ts';
import { config } from '../support/backtestApi.ts';
import { callCommand } from '../support/command.ts';
import { readyVersion } from '../support/sweepApi.ts';
import { CROSSING } from '../support/sweeps.ts';

const api = await createApiApp();
const client = await api.client();
let backtestId: string;
let worker: Worker | undefined;
const startOne = (threads: number): Promise<Worker> => startApiWorker(api.services, threads);
const endOne = async (): Promise<void> => {
  await worker?.[Symbol.asyncDispose]();
  worker = undefined;
};

beforeAll(async () => {
  const strategyVersionId = await readyVersion(client);
  worker = await startOne(2);
  backtestId = (await client.post('/backtests', { strategyVersionId, config: config() })).body.id;
  expect((await client.get(`/backtests/${backtestId}?wait=60`)).body.status).toBe('completed');
});
afterAll(async () => {
  await endOne();
  await api[Symbol.asyncDispose]();
});

const check = (body: object = {}, query = ''): Promise<Reply> =>
  client.post(`/backtests/${backtestId}/robustness${query}`, body);
const ended = (reply: Reply): Promise<Reply> =>
  client.get(`${reply.body.links.self.replace('/public/v1', '')}?wait=60`);

describe('a robustness check', () => {
  it('is accepted with a place to follow it, and answers every analysis when it has ended', async () => {
    worker ??= await startOne(2);
    const queued = await check();
    expect(queued.status, queued.text).toBe(201);
    expect(queued.headers.location).toBe(queued.body.links.self);
    const done = await ended(queued);
    expect(done.body, done.text).toMatchObject({ status: 'completed', backtestId, error: null, progress: { pct: 1 } });
    const { result } = done.body;
    expect(Object.keys(result)).toEqual([
      'verdict', 'findings', 'bounds', 'seed', 'baseline', 'evidence', 'luck', 'lookAheadAudit',
      'warmUpAudit', 'monteCarlo', 'blockBootstrap',
      'feeStress', 'slippageStress', 'startShift', 'parameterJitter', 'counterfactuals',
    ]); // prettier-ignore
    const { summaryJson } = (await client.get(`/backtests/${backtestId}`)).body.result;
    const { returnPct, sharpeRatio, maxDrawdown, totalPositions } = summaryJson;
    expect(result.baseline).toMatchObject({ returnPct, sharpeRatio, maxDrawdown, totalPositions });
    expect(result.lookAheadAudit.passed).toBe(true);
    expect(Buffer.byteLength(done.text)).toBeLessThan(24_000);
    const report = `${queued.body.links.report.replace('/public/v1', '')}`;
    const page = await client.get(report);
    expect(page.status, page.text).toBe(200);
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(page.headers['content-security-policy']).toMatch(/^default-src 'none'/);
    expect(page.text).toContain(`${backtestId}</dd>`);
    const other = await api.client();
    expect((await other.get(report)).status).toBe(404);
    // A check is not a sweep.
    expect((await client.get('/sweeps')).body.pagination.total).toBe(0);
    expect((await client.get(`/sweeps/${queued.body.id}`)).status).toBe(404);
  });

  it('waits when asked to, and fits the agent view into the bytes given', async () => {
    worker ??= await startOne(2);
    for (const maxBytes of [1_500, 4_000, 20_000]) {
      const seen = await check({ samples: 10 }, `?wait=60&view=agent&maxBytes=${maxBytes}`);
      expect(seen.status, seen.text).toBe(201);
      expect(seen.body).toMatchObject({ status: 'completed', verdict: { code: expect.any(String) } });
      expect(Buffer.byteLength(seen.text)).toBeLessThanOrEqual(maxBytes);
      expect(seen.body.omitted.length === 0).toBe(maxBytes === 20_000);
    }
  });

  it('gives the same result again, on one thread and after losing a part, and on the command line', async () => {
    worker ??= await startOne(2);
    const asked = { samples: 20, seed: 9 };
    const first = (await ended(await check(asked))).body.result;
    await endOne();
    const { sql } = api.services;
    const again = await check(asked);
    // A process that is not registered is one that has died.
    expect(await claimShard(sql, '00000000-0000-4000-8000-000000000001')).toMatchObject({ sweepId: again.body.id });
    await sql.begin((tx) => takeOverShards(tx));
    worker = await startOne(1);
    const second = await ended(again);
    expect(second.body.result, second.text).toEqual(first);
    const folder = await mkdtemp(join(tmpdir(), 'candlepool-robustness-'));
    try {
      await writeFile(join(folder, 'strategy.json'), JSON.stringify(CROSSING));
      await writeFile(join(folder, 'config.json'), JSON.stringify(config()));
      const files = ['--strategy', join(folder, 'strategy.json'), '--config', join(folder, 'config.json')];
      const ran = await callCommand([
        'robustness',
        ...files,
        '--samples',
        '20',
        '--seed',
        '9',
        '--trials',
        '1',
        '--json',
      ]);
      expect(ran.code, ran.stderr).toBe(0);
      expect(JSON.parse(ran.stdout)).toEqual(first);
      const page = join(folder, 'report.html');
      const short = ['--samples', '10', '--analysis', 'feeStress', '--report', page];
      const table = await callCommand(['robustness', ...files, ...short]);
      expect(table.stdout).toContain('fees × 2');
      expect(table.stdout).toContain(`wrote ${page}`);
      expect(await readFile(page, 'utf8')).toContain('Fee stress');
      const wrong = await callCommand(['robustness', ...files, '--analysis', 'nothing']);
      expect(wrong).toMatchObject({ code: 2 });
      expect(wrong.stderr).toContain('lookAheadAudit');
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('is in the list of its backtest, page by page, with the request and the verdict', async () => {
    worker ??= await startOne(2);
    const payload = { settings: {}, strategyAst: CROSSING };
    const made = await client.post('/strategies', { name: 'listed', description: '', ...payload });
    const ready = await client.post(`/strategies/${made.body.id}/versions/finalize`, payload);
    const { id } = (await client.post('/backtests', { strategyVersionId: ready.body.id, config: config() })).body;
    const listed = (await client.get(`/backtests/${id}?wait=60`)).body;
    expect(listed.status).toBe('completed');
    const path = `/backtests/${id}/robustness`;
    expect(listed.links.robustness).toBe(`/public/v1${path}`);
    expect((await client.get(path)).body).toEqual({
      data: [],
      pagination: { limit: 20, nextCursor: null, hasMore: false, total: 0 },
    });
    const done = await client.post(`${path}?wait=60`, { analyses: ['feeStress'], seed: 7 });
    expect(done.body.status, done.text).toBe('completed');
    await endOne();
    const cancelled = await client.post(path, { analyses: ['startShift'] });
    await client.post(`${path}/${cancelled.body.id}/cancel`);
    const open = await client.post(path);
    const first = await client.get(`${path}?limit=2`);
    expect(first.status, first.text).toBe(200);
    expect(first.body.pagination).toMatchObject({ limit: 2, hasMore: true, total: 3 });
    expect(first.body.data).toMatchObject([
      { id: open.body.id, status: 'queued', startedAt: null, finishedAt: null, verdict: null },
      { id: cancelled.body.id, status: 'cancelled', verdict: null },
    ]);
    const { nextCursor } = first.body.pagination;
    const second = await client.get(`${path}?limit=2&cursor=${nextCursor}`);
    const { backtestId: checked, status, createdAt, startedAt, finishedAt, spec, links, result } = done.body;
    const row = { id: done.body.id, backtestId: checked, status, createdAt, startedAt, finishedAt, spec, links };
    expect(second.body).toEqual({
      data: [{ ...row, verdict: result.verdict.code }],
      pagination: { limit: 2, nextCursor: null, hasMore: false, total: 3 },
    });
    expect((await client.get(`${path}?status=cancelled`)).body.data).toMatchObject([{ id: cancelled.body.id }]);
    const oldest = await client.get(`${path}?sort=createdAt`);
    expect(oldest.body.data.map((each: { id: string }) => each.id)).toEqual(
      [done, cancelled, open].map((reply) => reply.body.id),
    );
    expect(await client.get(`${path}?cursor=${nextCursor}&status=queued`)).toMatchObject({
      status: 400,
      body: { code: 'CURSOR_INVALID' },
    });
    expect((await client.get(`${path}?sort=verdict`)).status).toBe(400);
    // Of another backtest, of another workspace, of none.
    const others = (await client.get(`/backtests/${backtestId}/robustness?limit=100`)).body.data as { id: string }[];
    expect(others.map((each) => each.id)).not.toContain(done.body.id);
    expect((await (await api.client()).get(path)).status).toBe(404);
    expect((await client.get('/backtests/00000000-0000-4000-8000-000000000001/robustness')).status).toBe(404);
    await client.post(`${path}/${open.body.id}/cancel`);
  });

  it('ends at once when it is cancelled, and answers 409 when cancelled again', async () => {
    await endOne();
    const queued = await check();
    const cancel = `/backtests/${backtestId}/robustness/${queued.body.id}/cancel`;
    expect((await client.post(cancel)).body).toMatchObject({ status: 'cancelled', result: null });
    const report = await client.get(`/backtests/${backtestId}/robustness/${queued.body.id}/report`);
    expect(report).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } });
    expect(report.body.message).toContain('The check is cancelled, and only a completed one has a report.');
    expect(await client.post(cancel)).toMatchObject({ status: 409, body: { code: 'ROBUSTNESS_ALREADY_TERMINAL' } });
    expect((await client.post(`/sweeps/${queued.body.id}/cancel`)).status).toBe(404);
  });

  it('is started once under one Idempotency-Key', async () => {
    const path = `/backtests/${backtestId}/robustness`;
    const key = { 'idempotency-key': 'robust-1' };
    const first = await client.post(path, { samples: 10 }, key);
    const second = await client.post(path, { samples: 10 }, key);
    expect(second.body.id).toBe(first.body.id);
    expect(second.headers['idempotency-replayed']).toBe('true');
    expect((await client.post(path, { samples: 11 }, key)).status).toBe(422);
  });
});

describe('an invalid request for a robustness check', () => {
  it('is refused for a malformed body, an unknown or foreign backtest, a viewer and too many runs', async () => {
    expect(await check({ analyses: ['luck'] })).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED' } });
    expect(await check({ samples: 5 })).toMatchObject({ status: 400 });
    expect(await check({ more: 1 })).toMatchObject({ status: 400 });
    const other = await api.client();
    expect((await other.post(`/backtests/${backtestId}/robustness`, {})).status).toBe(404);
    const viewer = await api.client({ role: 'viewer', workspaceId: client.workspaceId });
    expect((await viewer.post(`/backtests/${backtestId}/robustness`, {})).status).toBe(403);
    expect((await client.get(`/backtests/${backtestId}/robustness/nothing`)).status).toBe(404);
  });

  it('is refused above the runs of the tier, and for a backtest that has not completed', async () => {
    await endOne();
    const free = await api.client({ tier: 'free' });
    const queued = await free.post('/backtests', { strategyVersionId: await readyVersion(free), config: config() });
    const path = `/backtests/${queued.body.id}`;
    const early = await free.post(`${path}/robustness`, {});
    expect(early).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } });
    expect(early.body.message).toContain('queued');
    worker = await startOne(1);
    expect((await free.get(`${path}?wait=60`)).body.status).toBe('completed');
    expect(await free.post(`${path}/robustness`, { samples: 1_000 })).toMatchObject({
      status: 403,
      body: { code: 'TIER_LIMIT_REACHED', limitName: 'sweepVariants' },
    });
    // The default, which needs no body, fits into the smallest tier.
    const done = await free.post(`${path}/robustness?wait=60`);
    expect(done.body, done.text).toMatchObject({ status: 'completed', spec: { analyses: ROBUSTNESS_ANALYSES } });
  });
});
