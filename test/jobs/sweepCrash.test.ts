// A sweep whose worker is lost in the middle: the shard it held runs again elsewhere, and the rows are those of an
// undisturbed run.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { claimShard, failSweep, returnShard, takeOverShards } from '../../src/db/sweepShards.ts';
import { urlOf } from '../../src/db/connect.ts';
import { startWorker } from '../../src/jobs/runner.ts';
import { quiet } from '../support/queue.ts';
import { createSweepApi, type SweepApi, type SweepClient } from '../support/sweepApi.ts';

let sweeps: SweepApi;
let client: SweepClient;
beforeAll(async () => {
  sweeps = await createSweepApi();
  client = await sweeps.client();
});
afterAll(() => sweeps[Symbol.asyncDispose]());

const worker = () =>
  startWorker(
    { url: urlOf(sweeps.api.services.sql), threads: 2, snapshots: () => sweeps.api.services.catalogs },
    quiet,
  );

const LOST = '00000000-0000-4000-8000-000000000001';

describe('a sweep', () => {
  it('loses one shard with a dead process, and nothing else', async () => {
    const { sql } = sweeps.api.services;
    const id = await client.start();
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
    const rows = await client.csvOf(id);
    expect(rows.trim().split('\n')).toHaveLength(2_401);
    expect(await client.csvOf(await client.start())).toBe(rows);
  });

  it('has one shard at a time of those that were running when a process died', async () => {
    const { sql } = sweeps.api.services;
    const ids = [await client.start(), await client.start()];
    const held = [];
    do held.push((await claimShard(sql, LOST))!);
    while (held.at(-1)!.sweepId !== ids[1]);
    await sql.begin((tx) => takeOverShards(tx));
    const first = (await claimShard(sql, LOST))!;
    expect(first).toMatchObject({ sweepId: ids[0], ordinal: 0 });
    // The shard that was held of the second sweep waits, and its next one, which was not, runs.
    expect(await claimShard(sql, LOST)).toMatchObject({ sweepId: ids[1], ordinal: 1 });
    await returnShard(sql, first);
    expect(await claimShard(sql, LOST)).toMatchObject({ sweepId: ids[0], ordinal: 0 });
    for (const id of ids) await sql.begin((tx) => failSweep(tx, id, { code: 'CANCELLED', path: '', message: 'Over.' }));
  });

  it('fails when one shard has ended its process three times', async () => {
    const { sql } = sweeps.api.services;
    const id = await client.start();
    for (let death = 0; death < 3; death++) {
      await claimShard(sql, LOST);
      await sql.begin((tx) => takeOverShards(tx));
    }
    expect((await client.get(`/sweeps/${id}`)).body).toMatchObject({
      status: 'failed',
      error: { code: 'RESOURCE_LIMIT' },
    });
  });
});
