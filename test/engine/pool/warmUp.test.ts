// Warming up: every synthetic backtest runs, and real work does not wait for them.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createPool } from '../../../src/engine/pool/pool.ts';
import { WARM_UP_BATCHES, warmUpBatch } from '../../../src/engine/pool/warmUp.ts';
import { eventually } from '../../support/eventually.ts';
import { dailySnapshot, poolRun, STAND_IN_RUNNER } from '../../support/runs.ts';

const batches = Array.from({ length: WARM_UP_BATCHES }, (_, batch) => warmUpBatch(batch));

it('runs every synthetic backtest to its stored form', async () => {
  await using pool = createPool({ threads: 2, hasOneOwner: true });
  const outcomes = await Promise.all(batches.map((batch) => pool.run(batch).outcomes));
  expect(new Set(outcomes.flat().map(({ kind }) => kind))).toEqual(new Set(['completed']));
});

/** A file to which the stand-in writes the ids of its runs, and all of them once there are so many. */
function runsFile(): { readonly idsOnce: (count: number) => Promise<string[]> } {
  const folder = mkdtempSync(join(tmpdir(), 'candlepool-test-'));
  const file = join(folder, 'runs');
  writeFileSync(file, '');
  vi.stubEnv('RUNS_FILE', file);
  onTestFinished(() => {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true });
  });
  return {
    idsOnce: (count) =>
      eventually(() => {
        const found = readFileSync(file, 'utf8').trim().split('\n');
        return found.length >= count && found;
      }),
  };
}

const warmUpIds = batches.flatMap(({ runs }) => runs.map(({ task }) => task.id));

it('is sent batch by batch, once per thread', async () => {
  const { idsOnce } = runsFile();
  await using _pool = createPool({ threads: 2, warmUp: true, runner: STAND_IN_RUNNER });
  const seen = await idsOnce(2 * warmUpIds.length);
  expect(seen.toSorted()).toEqual([...warmUpIds, ...warmUpIds].toSorted());
});

it('runs only the first batch while it is held, and the others once it is released', async () => {
  const { idsOnce } = runsFile();
  let isHeld = true;
  await using _pool = createPool({
    threads: 1,
    warmUp: true,
    holdsWarmUp: () => isHeld,
    runner: STAND_IN_RUNNER,
  });
  const first = batches[0].runs.map(({ task }) => task.id);
  await idsOnce(first.length);
  // Longer than the pause after which warming up goes on.
  await sleep(500);
  expect(await idsOnce(first.length)).toEqual(first);
  isHeld = false;
  expect(await idsOnce(warmUpIds.length)).toEqual(warmUpIds);
});

it('makes way for work, and goes on when there is none', async () => {
  const { idsOnce } = runsFile();
  await using pool = createPool({ threads: 1, warmUp: true, runner: STAND_IN_RUNNER });
  const ids = ['1', '2', '3', '4', '5'];
  const jobs = ids.map((id) => {
    const { task, ...run } = poolRun({ act: 'spin', ms: 20 });
    return pool.run({ snapshots: [dailySnapshot(10)], runs: [{ ...run, task: { ...task, id } }] });
  });
  await Promise.all(jobs.map(({ outcomes }) => outcomes));
  const seen = await idsOnce(warmUpIds.length + ids.length);
  const between = seen.slice(seen.indexOf('1'), seen.indexOf('5')).filter((id) => warmUpIds.includes(id));
  // Those of the batch that had a thread before.
  expect(between.length).toBeLessThanOrEqual(batches[0].runs.length);
  expect(seen.filter((id) => warmUpIds.includes(id)).toSorted()).toEqual(warmUpIds.toSorted());
});

it('does not count as work', async () => {
  await using pool = createPool({ threads: 1, warmUp: true, runner: STAND_IN_RUNNER });
  expect(pool.busyShare).toBe(0);
  const job = pool.run({ snapshots: [dailySnapshot(10)], runs: [poolRun({ act: 'spin', ms: 60_000 })] });
  await eventually(() => pool.busyShare === 1);
  job.stop(0, 'cancelled');
  await job.outcomes;
});

it('gives the results that a pool without it gives', async () => {
  const batch = { snapshots: [dailySnapshot(300)], runs: [poolRun(), poolRun()] };
  const results: unknown[] = [];
  for (const isWarming of [true, false]) {
    await using pool = createPool({ threads: 1, warmUp: isWarming, hasOneOwner: true });
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
