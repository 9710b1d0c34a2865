// A worker that lacks a snapshot: its claims and reruns go to a worker that has it, and fail when none does.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { insertRerun, readRerunOutcome } from '../../src/db/reruns.ts';
import { readQueueNumbers } from '../../src/db/workerProcesses.ts';
import { insertBacktests } from '../../src/db/backtests.ts';
import { eventually } from '../support/eventually.ts';
import { newBacktests } from '../support/queue.ts';
import { TestQueue } from '../support/testQueue.ts';

const queue = new TestQueue();

async function startWorkerWithoutFiles(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'candlepool-jobs-'));
  await queue.startWorker({ data: { ...queue.data, folder } });
  onTestFinished(() => rm(folder, { recursive: true }));
}

describe('a worker without the snapshot files', () => {
  it('gives its claims back, for a worker that has the files, and reports what it lacks', async () => {
    await startWorkerWithoutFiles();
    const ids = await queue.enqueue(Array.from({ length: 20 }, (_, value) => ({ value })));
    await eventually(async () => (await readQueueNumbers(queue.sql)).workers.some((each) => each.missingSnapshots > 0));
    expect(await queue.countByStatus()).not.toHaveProperty('failed');
    await queue.startWorker();
    await queue.settled();
    expect(await queue.countByStatus()).toEqual({ completed: ids.length });
  });

  it('leaves a rerun to a worker that has the files', async () => {
    await queue.startWorker();
    const [id] = await queue.enqueue([{}]);
    await queue.settled();
    await startWorkerWithoutFiles();
    await queue.sql`delete from missing_snapshots`;
    const asked: string[] = [];
    const ask = (kind: 'artifact' | 'verify') =>
      queue.sql.begin((tx) =>
        insertRerun(tx, id, kind === 'verify' ? { kind } : { kind, name: 'equity', format: 'csv', engine: '' }),
      );
    // Until the worker without the files has taken one.
    await eventually(async () => {
      asked.push(await ask('artifact'), await ask('verify'));
      return (await queue.sql`select 1 from missing_snapshots`).length > 0;
    });
    const outcomes = () => Promise.all(asked.map((each) => readRerunOutcome(queue.sql, each)));
    await eventually(async () => (await outcomes()).every((outcome) => outcome !== null));
    expect((await outcomes()).filter((outcome) => !outcome!.ok)).toEqual([]);
  });

  it('fails a rerun whose snapshots no worker has, and names no path of the server', async () => {
    await queue.startWorker();
    const [id] = await queue.enqueue([{}]);
    await queue.settled();
    await queue.sql`update backtests set snapshots = ${['2'.repeat(64)]} where id = ${id}`;
    const rerun = await queue.sql.begin((tx) => insertRerun(tx, id, { kind: 'verify' }));
    const outcome = await eventually(() => readRerunOutcome(queue.sql, rerun));
    expect(outcome).toMatchObject({ ok: false, error: { code: 'INPUT_MISSING' } });
    expect(JSON.stringify(outcome)).not.toContain('/candlepool');
  });

  it('fails a backtest whose snapshots no worker has, and names no path of the server', async () => {
    await queue.startWorker();
    const [item, other] = newBacktests(queue.workspace, queue.data, [{ value: 901 }, { value: 902 }]);
    const [lost] = await queue.sql.begin((tx) =>
      insertBacktests(tx, queue.workspaceId, [{ ...item, snapshots: ['1'.repeat(64)] }, other]),
    );
    await queue.settled();
    const found = await queue.find(lost.id);
    expect(found).toMatchObject({ status: 'failed', error: { code: 'INPUT_MISSING' } });
    expect(JSON.stringify(found?.error)).not.toContain('/candlepool');
  });
});
