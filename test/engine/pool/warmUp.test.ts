// Warming up: every synthetic backtest runs, and real work does not wait for them.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { WARM_UP_SLICES } from '../../../src/engine/pool/messages.ts';
import { createPool } from '../../../src/engine/pool/pool.ts';
import { warmUp } from '../../../src/engine/pool/warmUp.ts';
import { eventually } from '../../support/eventually.ts';
import { dailySnapshot, poolRun, STAND_IN_RUNNER } from '../../support/runs.ts';

it('runs every synthetic backtest to its stored form', () => {
  // It throws when a run does not complete.
  for (let slice = 0; slice < WARM_UP_SLICES; slice++) expect(() => warmUp(slice)).not.toThrow();
});

it('is sent slice by slice, once per thread, while there is nothing else to do', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'candlepool-test-'));
  const file = join(folder, 'slices');
  writeFileSync(file, '');
  vi.stubEnv('WARM_UP_FILE', file);
  onTestFinished(() => {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true });
  });
  await using _pool = createPool({ threads: 2, warmUp: true, runner: STAND_IN_RUNNER });
  const sent = 2 * WARM_UP_SLICES;
  const slices = await eventually(() => {
    const found = readFileSync(file, 'utf8').trim().split('\n').map(Number);
    return found.length >= sent && found;
  });
  expect(slices.toSorted((a, b) => a - b)).toEqual(Array.from({ length: sent }, (_, index) => index >> 1));
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
