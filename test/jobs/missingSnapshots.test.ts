// A worker that lacks a snapshot: its claims and reruns go to a worker that has it, and fail when none does.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { findBacktest } from '../../src/db/backtests.ts';
import { readRerunOutcome } from '../../src/db/reruns.ts';
import { readQueueNumbers } from '../../src/db/workerProcesses.ts';
import { enqueueBacktests, enqueueRerun } from '../../src/jobs/enqueue.ts';
import type { Worker } from '../../src/jobs/runner.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import {
  countByStatus,
  enqueue,
  makeData,
  makeWorkspace,
  newBacktests,
  settled,
  startTestWorker,
  type TestData,
  type TestWorkspace,
} from '../support/queue.ts';

let database: TestDatabase;
let data: TestData;
let workspace: TestWorkspace;
let worker: Worker | undefined;
const start = async (): Promise<void> => {
  worker = await startTestWorker(database.url, data);
};
beforeAll(async () => {
  database = await createTestDatabase();
  data = await makeData();
  workspace = await makeWorkspace(database.sql);
});
afterEach(async () => {
  await worker?.[Symbol.asyncDispose]();
  worker = undefined;
  await database.sql`delete from backtests`;
});
afterAll(async () => {
  await data[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

describe('a worker without the snapshot files', () => {
  it('gives its claims back, for a worker that has the files, and reports what it lacks', async () => {
    const empty = await mkdtemp(join(tmpdir(), 'candlepool-jobs-'));
    const blind = await startTestWorker(database.url, { ...data, folder: empty });
    const ids = await enqueue(
      database.sql,
      workspace,
      data,
      Array.from({ length: 20 }, (_, value) => ({ value })),
    );
    await eventually(async () =>
      (await readQueueNumbers(database.sql)).workers.some((each) => each.missingSnapshots > 0),
    );
    expect(await countByStatus(database.sql)).not.toHaveProperty('failed');
    await start();
    await settled(database.sql);
    expect(await countByStatus(database.sql)).toEqual({ completed: ids.length });
    await blind[Symbol.asyncDispose]();
    await rm(empty, { recursive: true });
  });

  it('leaves a rerun to a worker that has the files', async () => {
    await start();
    const [id] = await enqueue(database.sql, workspace, data, [{}]);
    await settled(database.sql);
    const empty = await mkdtemp(join(tmpdir(), 'candlepool-jobs-'));
    const blind = await startTestWorker(database.url, { ...data, folder: empty });
    await database.sql`delete from missing_snapshots`;
    const asked: string[] = [];
    const ask = (kind: 'artifact' | 'verify') =>
      database.sql.begin((tx) =>
        enqueueRerun(tx, id, kind === 'verify' ? { kind } : { kind, name: 'equity', format: 'csv', engine: '' }),
      );
    // Until the worker without the files has taken one.
    await eventually(async () => {
      asked.push(await ask('artifact'), await ask('verify'));
      return (await database.sql`select 1 from missing_snapshots`).length > 0;
    });
    const outcomes = () => Promise.all(asked.map((each) => readRerunOutcome(database.sql, each)));
    await eventually(async () => (await outcomes()).every((outcome) => outcome !== null));
    expect((await outcomes()).filter((outcome) => !outcome!.ok)).toEqual([]);
    await blind[Symbol.asyncDispose]();
    await rm(empty, { recursive: true });
  });

  it('fails a rerun whose snapshots no worker has, and names no path of the server', async () => {
    await start();
    const [id] = await enqueue(database.sql, workspace, data, [{}]);
    await settled(database.sql);
    await database.sql`update backtests set snapshots = ${['2'.repeat(64)]} where id = ${id}`;
    const rerun = await database.sql.begin((tx) => enqueueRerun(tx, id, { kind: 'verify' }));
    const outcome = await eventually(() => readRerunOutcome(database.sql, rerun));
    expect(outcome).toMatchObject({ ok: false, error: { code: 'INPUT_MISSING' } });
    expect(JSON.stringify(outcome)).not.toContain('/candlepool');
  });

  it('fails a backtest whose snapshots no worker has, and names no path of the server', async () => {
    await start();
    const [item, other] = newBacktests(workspace, data, [{ value: 901 }, { value: 902 }]);
    const [lost] = await database.sql.begin((tx) =>
      enqueueBacktests(tx, workspace.workspaceId, [{ ...item, snapshots: ['1'.repeat(64)] }, other]),
    );
    await settled(database.sql);
    const found = await findBacktest(database.sql, workspace.workspaceId, lost.id);
    expect(found).toMatchObject({ status: 'failed', error: { code: 'INPUT_MISSING' } });
    expect(JSON.stringify(found?.error)).not.toContain('/candlepool');
  });
});
