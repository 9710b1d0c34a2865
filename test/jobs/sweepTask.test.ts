// The sweep task: a shard that is stopped before it has started does not start, and one whose market data is missing
// here is left to other workers.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { urlOf } from '../../src/db/connect.ts';
import { readQueueNumbers } from '../../src/db/workerProcesses.ts';
import { createPool } from '../../src/engine/index.ts';
import type { Pool } from '../../src/engine/index.ts';
import { InputReader } from '../../src/jobs/inputs.ts';
import type { SnapshotSource } from '../../src/jobs/inputs.ts';
import { startWorker } from '../../src/jobs/runner.ts';
import type { Worker } from '../../src/jobs/runner.ts';
import { SweepRunner } from '../../src/jobs/sweepTask.ts';
import { SnapshotFiles } from '../../src/market/snapshotFiles.ts';
import { SnapshotFolder } from '../../src/market/snapshotStorage.ts';
import { eventually } from '../support/eventually.ts';
import { quiet, snapshotsIn } from '../support/queue.ts';
import { dailyColumns, INSTRUMENT, SYMBOL } from '../support/runs.ts';
import { createSweepApi, type SweepApi, type SweepClient } from '../support/sweepApi.ts';

const WORKER = '00000000-0000-4000-8000-000000000002';

let sweeps: SweepApi;
let client: SweepClient;
beforeAll(async () => {
  sweeps = await createSweepApi();
  client = await sweeps.client();
});
afterAll(() => sweeps[Symbol.asyncDispose]());

/** A runner whose snapshots are opened only after `beforeOpen`, on a pool that counts the shards it starts. */
function runnerWith(pool: Pool, beforeOpen: (runner: SweepRunner) => Promise<void>) {
  const { sql, catalogs } = sweeps.api.services;
  let started = 0;
  const counting: Pool = Object.create(pool, {
    sweep: {
      value: (batch: Parameters<Pool['sweep']>[0]) => {
        started++;
        return pool.sweep(batch);
      },
    },
    threads: { value: pool.threads },
  });
  const source: SnapshotSource = {
    open: async (names) => {
      await beforeOpen(runner);
      return catalogs.open(names);
    },
  };
  const inputs = new InputReader(sql, source, quiet);
  const noteMissing = async (names: readonly string[]) => new Set(names);
  const runner = new SweepRunner({
    sql,
    pool: counting,
    inputs,
    workerId: WORKER,
    log: quiet,
    noteMissing,
    outlast: (work) => work(),
  });
  return { runner, started: () => started };
}

describe('a shard whose inputs are still being read', () => {
  it('does not start when its sweep is cancelled', async () => {
    const id = await client.start();
    await using pool = createPool({ threads: 1 });
    const { runner, started } = runnerWith(pool, async (own) => {
      expect((await client.post(`/sweeps/${id}/cancel`)).status).toBe(200);
      own.cancel([id]);
    });
    await runner.work();
    expect(started()).toBe(0);
  });

  it('goes back to the queue when the process stops', async () => {
    const id = await client.start();
    await using pool = createPool({ threads: 1 });
    const { runner, started } = runnerWith(pool, async (own) => {
      own.close();
      own.returnAll();
    });
    await runner.work();
    expect(started()).toBe(0);
    const statuses = await sweeps.api.services.sql`select distinct status from sweep_shards where sweep_id = ${id}`;
    expect(statuses).toEqual([{ status: 'queued' }]);
    await client.post(`/sweeps/${id}/cancel`);
  });

  it('does not start when the cancel came before the process knew of the shard', async () => {
    const id = await client.start();
    await using pool = createPool({ threads: 1 });
    let isCancelled = false;
    const { runner, started } = runnerWith(pool, async () => {
      if (isCancelled) return;
      isCancelled = true;
      expect((await client.post(`/sweeps/${id}/cancel`)).status).toBe(200);
      await runner.cancelEnded();
    });
    await runner.work();
    expect([isCancelled, started()]).toEqual([true, 0]);
  });
});

it('starts no more shards than there are places when all tickets of a sweep come at once', async () => {
  const id = await client.start();
  await using pool = createPool({ threads: 1 });
  const opening = Promise.withResolvers<void>();
  let open = 0;
  const { runner } = runnerWith(pool, async () => {
    open++;
    await opening.promise;
  });
  const tickets = Array.from({ length: 16 }, () => runner.work());
  const held = async (): Promise<number> => {
    const rows = await sweeps.api.services.sql`
      select 1 from sweep_shards where sweep_id = ${id} and status = 'running'`;
    return rows.length;
  };
  // All but one have found that there is no place for them.
  await Promise.race([Promise.all(tickets), eventually(async () => open > 0 && (await held()) > 0)]);
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect([open, await held()]).toEqual([1, 1]);
  await client.post(`/sweeps/${id}/cancel`);
  runner.cancel([id]);
  opening.resolve();
  await Promise.all(tickets);
});

describe('a worker without the snapshot files', () => {
  const startOn = (folder: string): Promise<Worker> => {
    const { sql } = sweeps.api.services;
    return startWorker({ url: urlOf(sql), threads: 1, snapshots: snapshotsIn(folder) }, quiet);
  };

  it('gives the shards of a sweep back to the worker that has them, and says that it lacks them', async () => {
    const { sql, catalogs } = sweeps.api.services;
    const empty = await mkdtemp(join(tmpdir(), 'candlepool-jobs-'));
    onTestFinished(() => rm(empty, { recursive: true }));
    await using blind = await startOn(empty);
    const id = await client.start();
    await eventually(async () => {
      const { workers } = await readQueueNumbers(sql);
      return workers.some((each) => each.id === blind.id && each.missingSnapshots > 0);
    });
    expect((await client.get(`/sweeps/${id}`)).body).toMatchObject({ error: null });
    await using sighted = await startWorker({ url: urlOf(sql), threads: 1, snapshots: () => catalogs }, quiet);
    void sighted;
    await client.csvOf(id);
  });

  it('fails a sweep whose market data no worker has, and names no path of the server', async () => {
    const { sql } = sweeps.api.services;
    const folder = await mkdtemp(join(tmpdir(), 'candlepool-jobs-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const files = new SnapshotFiles(new SnapshotFolder(folder));
    const { sha256 } = await files.write(dailyColumns(50), { symbol: SYMBOL, timeframe: '1d', instrument: INSTRUMENT });
    const id = await client.start();
    // One of its snapshots is there, so that the worker knows the other to be lost.
    await sql`update sweeps set snapshots = snapshots || ${sha256}::text where id = ${id}`;
    await using worker = await startOn(folder);
    void worker;
    const { body } = await client.get(`/sweeps/${id}?wait=60`);
    expect(body).toMatchObject({ status: 'failed', error: { code: 'INPUT_MISSING' } });
    expect(JSON.stringify(body.error)).not.toContain(tmpdir());
  });
});
