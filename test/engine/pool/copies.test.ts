// Copies between threads, counted exactly: a batch is one message, and results are moved, whatever their number.
import { MessagePort } from 'node:worker_threads';
import { afterAll, expect, it, vi } from 'vitest';
import { decodeDetail } from '../../../src/engine/pool/result.ts';
import { createPool } from '../../../src/engine/pool/pool.ts';
import { dailySnapshot, poolRun, STAND_IN_RUNNER } from '../../support/runs.ts';

const snapshots = [dailySnapshot(500)];
// The pool's clock stands still: it splits a batch that has kept its thread for long, as on a busy machine.
vi.useFakeTimers({ toFake: ['setInterval'] });
const pool = createPool({ threads: 1, runner: STAND_IN_RUNNER });
vi.useRealTimers();
afterAll(() => pool[Symbol.asyncDispose]());

async function runBatch(size: number) {
  const post = vi.spyOn(MessagePort.prototype, 'postMessage');
  const runs = Array.from({ length: size }, (_, value) => poolRun({ value, act: 'copied' }));
  const outcomes = await pool.run({ snapshots, runs }).outcomes;
  const posted = post.mock.calls.length;
  post.mockRestore();
  const results = outcomes.map((outcome) => {
    if (outcome.kind !== 'completed') throw new Error(JSON.stringify(outcome));
    return outcome.result;
  });
  return { posted, results };
}

it.each([1, 25])('sends a batch of %i to its thread in one message', async (size) => {
  expect((await runBatch(size)).posted).toBe(1);
});

it('moves each result to the main thread in one buffer, and copies none of its bytes', async () => {
  await runBatch(25);
  const { results } = await runBatch(25);
  const buffers = results.map(
    ({ summary, detail, trades }) => new Set([summary, detail, trades].map((each) => each.buffer)),
  );
  expect(buffers.map((each) => each.size)).toEqual(results.map(() => 1));
  // Each run tells how many bytes its thread had copied before it, at least for the batch before.
  const copied = results.map(({ detail }) => decodeDetail(detail).summary.closeSum);
  expect(copied).toEqual(results.map(() => 0));
});
