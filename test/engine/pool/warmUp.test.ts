// Warming up: every synthetic backtest runs, and real work does not wait for them.
import { expect, it } from 'vitest';
import { WARM_UP_SLICES } from '../../../src/engine/pool/messages.ts';
import { createPool } from '../../../src/engine/pool/pool.ts';
import { warmUp } from '../../../src/engine/pool/warmUp.ts';
import { dailySnapshot, poolRun } from '../../support/runs.ts';

it('runs every synthetic backtest to its stored form', () => {
  // It throws when a run does not complete.
  for (let slice = 0; slice < WARM_UP_SLICES; slice++) expect(() => warmUp(slice)).not.toThrow();
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
