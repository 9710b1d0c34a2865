// Warming up: every synthetic backtest runs, and real work does not wait for them.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createPool } from '../../../src/engine/pool/pool.ts';
import { WARM_UP_BATCHES, warmUpBatch } from '../../../src/engine/pool/warmUp.ts';
import { eventually } from '../../support/eventually.ts';
import { dailySnapshot, poolRun, STAND_IN_RUNNER } from '../../support/runs.ts';

const batches = Array.from({ length: WARM_UP_BATCHES }, (_, batch) => warmUpBatch(batch));

it('runs every synthetic backtest to its stored form', async () => {
  await using pool = createPool({ threads: 2 });
  const outcomes = await Promise.all(batches.map((batch) => pool.run(batch).outcomes));
  expect(new Set(outcomes.flat().map(({ kind }) => kind))).toEqual(new Set(['completed']));
});

it('is sent batch by batch, once per thread, while there is nothing else to do', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'candlepool-test-'));
  const file = join(folder, 'runs');
  writeFileSync(file, '');
  vi.stubEnv('RUNS_FILE', file);
  onTestFinished(() => {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true });
  });
  await using _pool = createPool({ threads: 2, warmUp: true, runner: STAND_IN_RUNNER });
  const ids = batches.flatMap(({ runs }) => runs.map(({ task }) => task.id));
  const seen = await eventually(() => {
    const found = readFileSync(file, 'utf8').trim().split('\n');
    return found.length >= 2 * ids.length && found;
  });
  expect(seen.toSorted()).toEqual([...ids, ...ids].toSorted());
});

it('gives the results that a pool without it gives', async () => {
  const batch = { snapshots: [dailySnapshot(300)], runs: [poolRun(), poolRun()] };
  const results: unknown[] = [];
  for (const isWarming of [true, false]) {
    await using pool = createPool({ threads: 1, warmUp: isWarming });
    results.push(await pool.run(batch).outcomes);
  }
  expect(results[0]).toEqual(results[1]);
  expect(results[0]).toMatchObject([{ kind: 'completed' }, { kind: 'completed' }]);
});

it('ends at once with a pool that is disposed of meanwhile', async () => {
  const pool = createPool({ threads: 1, warmUp: true });
  await pool[Symbol.asyncDispose]();
  expect(pool.busyShare).toBeLessThanOrEqual(1);
});
