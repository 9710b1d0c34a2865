// When V8 is told to optimize early: the flag holds for the whole process, so it must not outlast the warm-up.
import { syncBuiltinESMExports } from 'node:module';
import v8 from 'node:v8';
import { afterAll, beforeEach, expect, it, vi } from 'vitest';
import { IdleWarmUp } from '../../../src/engine/pool/idleWarmUp.ts';
import { runWarmUpBatch, WARM_UP_BATCHES } from '../../../src/engine/pool/warmUp.ts';
import { eventually } from '../../support/eventually.ts';

const told = vi.spyOn(v8, 'setFlagsFromString').mockImplementation(() => {});
// Modules that import the function by its name call the spy.
syncBuiltinESMExports();
afterAll(() => {
  told.mockRestore();
  syncBuiltinESMExports();
});

const EARLY = '--invocation-count-for-turbofan=400';
const USUAL = '--invocation-count-for-turbofan=3000';
const flags = (): string[] => told.mock.calls.map(([flag]) => flag);

beforeEach(() => told.mockClear());

it('leaves the flags alone until every thread has run its first batch', async () => {
  const first = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let started = 0;
  const warmUp = new IdleWarmUp(() => first[started++]?.promise ?? Promise.resolve());
  warmUp.start(2);
  first[0].resolve();
  await new Promise((done) => setTimeout(done, 20));
  expect([started, flags()]).toEqual([2, []]);
  first[1].resolve();
  await eventually(() => started === 2 * WARM_UP_BATCHES);
  expect(flags()[0]).toBe(EARLY);
  warmUp.close();
});

it('restores the usual flags when the last of several batches has ended', async () => {
  const open = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const ended = open.map(({ promise }) => runWarmUpBatch(1, () => promise));
  expect(flags()).toEqual([EARLY]);
  open[0].resolve();
  await ended[0];
  expect(flags()).toEqual([EARLY]);
  open[1].resolve();
  await ended[1];
  expect(flags()).toEqual([EARLY, USUAL]);
});

it('restores the usual flags after a batch that fails', async () => {
  await expect(runWarmUpBatch(1, () => Promise.reject(new Error('The thread died.')))).rejects.toThrow('died');
  expect(flags()).toEqual([EARLY, USUAL]);
});
