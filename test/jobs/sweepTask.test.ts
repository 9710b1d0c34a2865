// The sweep task: a shard that is stopped before it has started does not start.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPool } from '../../src/engine/index.ts';
import type { Pool } from '../../src/engine/index.ts';
import type { SnapshotSource } from '../../src/jobs/inputs.ts';
import { SweepRunner } from '../../src/jobs/sweepTask.ts';
import { quiet } from '../support/queue.ts';
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
  const { sql, catalogue } = sweeps.api.services;
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
      return catalogue.open(names);
    },
  };
  const runner = new SweepRunner({ sql, pool: counting, source, workerId: WORKER, log: quiet });
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
