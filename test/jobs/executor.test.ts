// The executor: what becomes of claims whose share cannot be run.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findBacktest } from '../../src/db/backtests.ts';
import { claimDue } from '../../src/db/claims.ts';
import { createPool } from '../../src/engine/index.ts';
import { Executor } from '../../src/jobs/executor.ts';
import type { InputReader } from '../../src/jobs/inputs.ts';
import { ResultWriter } from '../../src/jobs/results.ts';
import { createTestDatabase } from '../support/database.ts';
import type { TestDatabase } from '../support/database.ts';
import { enqueue, makeData, makeWorkspace, quiet } from '../support/queue.ts';
import type { TestData, TestWorkspace } from '../support/queue.ts';
import { STAND_IN_RUNNER } from '../support/runs.ts';

let database: TestDatabase;
let data: TestData;
let workspace: TestWorkspace;
beforeAll(async () => {
  database = await createTestDatabase();
  data = await makeData();
  workspace = await makeWorkspace(database.sql);
});
afterAll(async () => {
  await data[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

it('requeues a share that keeps failing nine times, and fails its runs with a code the tenth time', async () => {
  const { sql } = database;
  await using pool = createPool({ threads: 1, runner: STAND_IN_RUNNER });
  const inputs = { read: () => Promise.reject(new Error('a defect')) } as unknown as InputReader;
  const executor = new Executor({ sql, pool, inputs, results: new ResultWriter(sql, quiet), log: quiet });
  const [id] = await enqueue(sql, workspace, data, [{}]);
  const statuses: string[] = [];
  for (let round = 0; round < 11; round++) {
    const { runs } = await claimDue(sql, '0198c1de-7a5b-7c4e-9d0a-2f6b1c3d4e5f', 10, 1e9);
    if (runs.length === 0) break;
    await expect(executor.run(runs)).rejects.toThrow('a defect');
    statuses.push((await findBacktest(sql, workspace.workspaceId, id))!.status);
  }
  expect(statuses).toEqual([...Array.from({ length: 9 }, () => 'queued'), 'failed']);
  expect(await findBacktest(sql, workspace.workspaceId, id)).toMatchObject({ error: { code: 'ATTEMPTS_EXHAUSTED' } });
});
