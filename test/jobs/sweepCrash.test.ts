// A sweep whose worker is lost in the middle: the shard it held runs again elsewhere, and the rows are those of an
// undisturbed run.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { claimShard, takeOverShards } from '../../src/db/sweepShards.ts';
import { urlOf } from '../../src/db/connect.ts';
import { startWorker } from '../../src/jobs/runner.ts';
import { createApiApp, type ApiApp, type Client } from '../support/apiApp.ts';
import { config } from '../support/backtestApi.ts';
import { quiet } from '../support/queue.ts';
import { CROSSING } from '../support/sweeps.ts';

let api: ApiApp;
let client: Client;
let strategyVersionId: string;
beforeAll(async () => {
  api = await createApiApp();
  client = await api.client();
  const payload = { settings: {}, strategyAst: CROSSING };
  const { id } = (await client.post('/strategies', { name: 'crossing', description: '', ...payload })).body;
  strategyVersionId = (await client.post(`/strategies/${id}/versions/finalize`, payload)).body.id;
});
afterAll(() => api[Symbol.asyncDispose]());

const start = async (): Promise<string> => {
  const space = { fast: { min: 1, max: 40 }, slow: { min: 41, max: 100 } };
  const made = await client.post('/sweeps', {
    strategyVersionId,
    config: config(),
    space,
    method: 'grid',
    metrics: 'headline',
  });
  expect(made.status, made.text).toBe(201);
  return made.body.id as string;
};
const worker = () =>
  startWorker({ url: urlOf(api.services.sql), threads: 2, snapshots: () => api.services.catalogue }, quiet);
const csvOf = async (id: string): Promise<string> => {
  const done = await client.get(`/sweeps/${id}?wait=60`);
  expect(done.body.status, done.text).toBe('completed');
  return (await client.get(`/sweeps/${id}/results?format=csv`)).text;
};

const LOST = '00000000-0000-4000-8000-000000000001';

describe('a sweep', () => {
  it('loses one shard with a dead process, and nothing else', async () => {
    const { sql } = api.services;
    const id = await start();
    const [{ shards }] = await sql<
      [{ shards: number }]
    >`select count(*)::int as shards from sweep_shards where sweep_id = ${id}`;
    expect(shards).toBeGreaterThan(2);
    // A process that is not registered is one that has died.
    const claim = (await claimShard(sql, LOST))!;
    expect(claim).toMatchObject({ sweepId: id, ordinal: 0, attempt: 1 });
    expect(await sql.begin((tx) => takeOverShards(tx))).toEqual([id]);
    expect(await sql`select count(*)::int as queued from sweep_shards where status = 'queued'`).toEqual([
      { queued: shards },
    ]);
    await using running = await worker();
    void running;
    const rows = await csvOf(id);
    expect(rows.trim().split('\n')).toHaveLength(2_401);
    expect(await csvOf(await start())).toBe(rows);
  });

  it('fails when one shard has ended its process three times', async () => {
    const { sql } = api.services;
    const id = await start();
    for (let death = 0; death < 3; death++) {
      await claimShard(sql, LOST);
      await sql.begin((tx) => takeOverShards(tx));
    }
    expect((await client.get(`/sweeps/${id}`)).body).toMatchObject({
      status: 'failed',
      error: { code: 'RESOURCE_LIMIT' },
    });
  });

  it('of a workspace that has used much waits for one of a workspace that has not', async () => {
    const { sql } = api.services;
    const first = await start();
    await claimShard(sql, LOST);
    const other = await api.client();
    const payload = { settings: {}, strategyAst: CROSSING };
    const made = await other.post('/strategies', { name: 'crossing', description: '', ...payload });
    const ready = await other.post(`/strategies/${made.body.id}/versions/finalize`, payload);
    const second = await other.post('/sweeps', {
      strategyVersionId: ready.body.id,
      config: config(),
      space: { fast: { values: [5] } },
      method: 'grid',
    });
    expect(await claimShard(sql, LOST)).toMatchObject({ sweepId: second.body.id });
    expect(await claimShard(sql, LOST)).toMatchObject({ sweepId: first });
  });
});
