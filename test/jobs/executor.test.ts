// The executor: what becomes of claims whose share cannot be run.
import { expect, it } from 'vitest';
import { findBacktest } from '../../src/db/backtests.ts';
import { claimDue } from '../../src/db/claims.ts';
import { createPool, STATISTIC_POSITIONS } from '../../src/engine/index.ts';
import type { Pool, PoolBatch, PoolJob } from '../../src/engine/index.ts';
import type { OnOutcome } from '../../src/engine/pool/job.ts';
import { Executor } from '../../src/jobs/executor.ts';
import { InputReader } from '../../src/jobs/inputs.ts';
import { Results } from '../../src/jobs/results.ts';
import { enqueue, makeWorkspace, quiet, snapshotsIn } from '../support/queue.ts';
import { STAND_IN_RUNNER } from '../support/runs.ts';
import { TestQueue } from '../support/testQueue.ts';

const queue = new TestQueue();

it('requeues a share that keeps failing nine times, and fails its runs with a code the tenth time', async () => {
  const { sql } = queue;
  await using pool = createPool({ threads: 1, runner: STAND_IN_RUNNER });
  const inputs = { read: () => Promise.reject(new Error('a defect')) } as unknown as InputReader;
  const executor = new Executor({ sql, pool, inputs, results: new Results(sql, quiet), log: quiet });
  const [id] = await queue.enqueue([{}]);
  const statuses: string[] = [];
  for (let round = 0; round < 11; round++) {
    const { runs } = await claimDue(sql, '0198c1de-7a5b-7c4e-9d0a-2f6b1c3d4e5f', 10, 1e9);
    if (runs.length === 0) break;
    await expect(executor.run(runs)).rejects.toThrow('a defect');
    statuses.push((await queue.find(id))!.status);
  }
  expect(statuses).toEqual([...Array.from({ length: 9 }, () => 'queued'), 'failed']);
  expect(await queue.find(id)).toMatchObject({ error: { code: 'ATTEMPTS_EXHAUSTED' } });
});

it('runs each backtest for its workspace, and fails one that its tier gives no more time', async () => {
  const { sql } = queue;
  const given: { owner?: string; timeLimitMs?: number }[] = [];
  const pool = {
    run: ({ runs }: PoolBatch, onOutcome: OnOutcome): PoolJob => {
      given.push(...runs.map(({ owner, timeLimitMs }) => ({ owner, timeLimitMs })));
      runs.forEach((_, run) => onOutcome(run, { kind: 'stopped', reason: 'time_limit' }));
      const progress = () => ({ state: 'done', barsDone: 0, barsTotal: 0 }) as const;
      return { outcomes: Promise.resolve([]), stop: () => {}, progress };
    },
  } as unknown as Pool;
  const inputs = new InputReader(sql, snapshotsIn(queue.data.folder)(sql), quiet);
  const executor = new Executor({ sql, pool, inputs, results: new Results(sql, quiet), log: quiet });
  const free = await makeWorkspace(sql, 'free');
  const ids = [(await queue.enqueue([{}]))[0], (await enqueue(queue.sql, free, queue.data, [{}]))[0]];
  const { runs } = await claimDue(sql, '0198c1de-7a5b-7c4e-9d0a-2f6b1c3d4e5f', 10, 1e9);
  await executor.run(runs);
  expect(new Map(given.map(({ owner, timeLimitMs }) => [owner, timeLimitMs]))).toEqual(
    new Map([
      [queue.workspaceId, 600_000],
      [free.workspaceId, 60_000],
    ]),
  );
  expect((await queue.find(ids[0]))!.error).toMatchObject({ code: 'RESOURCE_LIMIT' });
  expect((await findBacktest(sql, free.workspaceId, ids[1], STATISTIC_POSITIONS))!.error).toEqual({
    code: 'RESOURCE_LIMIT',
    path: '',
    message:
      'This backtest ran for 60 seconds, which is the limit of the free tier. Use a shorter range, a coarser ' +
      'timeframe, shorter periods or fewer nodes.',
  });
});
