// The life of a backtest on the queue: accepted with its ticket, run once, told, cached, cancelled, never changed afterwards.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { cancelBacktest, findBacktest, lockOpenCount } from '../../src/db/backtests.ts';
import { tell, openNews } from '../../src/db/news.ts';
import { enqueueBacktests } from '../../src/jobs/enqueue.ts';
import type { Worker } from '../../src/jobs/runner.ts';
import { createTestDatabase } from '../support/database.ts';
import type { TestDatabase } from '../support/database.ts';
import {
  countByStatus,
  enqueue,
  eventually,
  makeData,
  makeWorkspace,
  newBacktests,
  settled,
  startTestWorker,
} from '../support/queue.ts';
import type { TestData, TestWorkspace } from '../support/queue.ts';

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
const read = (id: string) => findBacktest(database.sql, workspace.workspaceId, id);

describe('accepting', () => {
  test('spec §3.3: a new backtest is queued and its job is created in the same transaction', async () => {
    const [id] = await enqueue(database.sql, workspace, data, [{}]);
    expect(await read(id)).toMatchObject({ status: 'queued', startedAt: null, finishedAt: null, queuePosition: 0 });
    const jobs = await database.sql`select 1 from graphile_worker.jobs where task_identifier = 'run_due_backtests'`;
    expect(jobs.length).toBe(1);
    await database.sql`select graphile_worker.complete_jobs(array(select id from graphile_worker.jobs))`;
  });

  test('leaves neither row nor job when the transaction fails', async () => {
    const items = newBacktests(workspace, data, [{}, {}]);
    const failing = database.sql.begin(async (tx) => {
      await enqueueBacktests(tx, workspace.workspaceId, items);
      throw new Error('after the insert');
    });
    await expect(failing).rejects.toThrow('after the insert');
    expect(await countByStatus(database.sql)).toEqual({});
    expect((await database.sql`select 1 from graphile_worker.jobs`).length).toBe(0);
  });

  test('gives ids in the order of the items, which is the order in which they are run', async () => {
    const ids = await enqueue(
      database.sql,
      workspace,
      data,
      Array.from({ length: 300 }, (_, value) => ({ value })),
    );
    expect(ids).toEqual(ids.toSorted());
    const positions = await Promise.all([0, 1, 299].map(async (index) => (await read(ids[index]))?.queuePosition));
    expect(positions).toEqual([0, 1, 299]);
    const jobs = await database.sql`select 1 from graphile_worker.jobs`;
    // Thin: a ticket takes several.
    expect(jobs.length).toBeLessThanOrEqual(6);
    await database.sql`select graphile_worker.complete_jobs(array(select id from graphile_worker.jobs))`;
  });

  test('counts what is open exactly, whatever road it takes', async () => {
    const open = () => database.sql.begin((tx) => lockOpenCount(tx, workspace.workspaceId));
    const ids = await enqueue(database.sql, workspace, data, [{}, { act: 'fail' }, {}, { act: 'spin', ms: 60_000 }]);
    expect(await open()).toBe(4);
    await cancelBacktest(database.sql, workspace.workspaceId, ids[0]);
    expect(await open()).toBe(3);
    await start();
    await eventually(async () => (await countByStatus(database.sql)).running === 1 && (await open()) === 1);
    await cancelBacktest(database.sql, workspace.workspaceId, ids[3]);
    await tell(database.sql, 'cancel', [ids[3]]);
    await settled(database.sql);
    expect(await open()).toBe(0);
    await enqueue(database.sql, workspace, data, [{}]);
    await database.sql`delete from backtests`;
    expect(await open()).toBe(0);
  });
});

describe('running', () => {
  test('spec §3.3: queued → running → completed, with result, progress and times', async () => {
    await start();
    const [id] = await enqueue(database.sql, workspace, data, [{ act: 'spin', ms: 300, value: 3 }]);
    await eventually(async () => (await read(id))?.status === 'running');
    await settled(database.sql);
    const backtest = await read(id);
    expect(backtest).toMatchObject({
      status: 'completed',
      summary: { returnPct: 3, closeSum: 174_750 },
      reproducibility: { engineVersion: 'stand-in' },
      resolvedConfig: { leverage: 1, range: { start: null, end: null } },
      isCached: false,
      barsDone: 500,
      barsTotal: 500,
      error: null,
    });
    expect(backtest!.startedAt!.getTime()).toBeGreaterThanOrEqual(backtest!.createdAt.getTime());
    expect(backtest!.finishedAt!.getTime()).toBeGreaterThanOrEqual(backtest!.startedAt!.getTime());
  });

  test('queued → running → failed: an expected failure keeps its code, path and message', async () => {
    await start();
    const [id] = await enqueue(database.sql, workspace, data, [{ act: 'fail' }]);
    await settled(database.sql);
    expect(await read(id)).toMatchObject({
      status: 'failed',
      error: { code: 'RANGE_NO_DATA', path: '/config/range', message: 'The range holds no bars.' },
      summary: null,
    });
  });

  test('a bug of the engine is told as INTERNAL_ERROR without its stack', async () => {
    await start();
    const [id] = await enqueue(database.sql, workspace, data, [{ act: 'throw' }]);
    await settled(database.sql);
    const { error } = (await read(id))!;
    expect(error).toMatchObject({ code: 'INTERNAL_ERROR' });
    expect(JSON.stringify(error)).not.toContain('standInRunner');
  });

  test('inputs that are gone fail that backtest and no other', async () => {
    await start();
    const items = newBacktests(workspace, data, [{ value: 1 }, { value: 2 }]);
    const [lost, kept] = await database.sql.begin((tx) =>
      enqueueBacktests(tx, workspace.workspaceId, [{ ...items[0], snapshots: ['0'.repeat(64)] }, items[1]]),
    );
    await settled(database.sql);
    expect(await read(lost.id)).toMatchObject({ status: 'failed', error: { code: 'INPUT_MISSING' } });
    expect(await read(kept.id)).toMatchObject({ status: 'completed' });
  });

  test('a result that Postgres cannot hold fails alone, the others of its batch are stored', async () => {
    await start();
    const ids = await enqueue(database.sql, workspace, data, [{ value: 1 }, { act: 'nul' }, { value: 2 }]);
    await settled(database.sql);
    expect(await Promise.all(ids.map(async (id) => (await read(id))!.status))).toEqual([
      'completed',
      'failed',
      'completed',
    ]);
    expect((await read(ids[1]))!.error).toMatchObject({ code: 'RESULT_NOT_STORABLE' });
  });

  test('an equal run of the workspace is copied, not run again, and says so', async () => {
    await start();
    const [first] = await enqueue(database.sql, workspace, data, [{ value: 11 }], { runKey: 'same' });
    await settled(database.sql);
    const [second] = await enqueue(database.sql, workspace, data, [{ act: 'poison' }], { runKey: 'same' });
    await settled(database.sql);
    const [a, b] = [await read(first), await read(second)];
    expect(b).toMatchObject({
      status: 'completed',
      isCached: true,
      summary: a!.summary,
      reproducibility: a!.reproducibility,
    });
    expect(Buffer.from(b!.detail!)).toEqual(Buffer.from(a!.detail!));
  });

  test("another workspace's equal run is not copied", async () => {
    await start();
    const other = await makeWorkspace(database.sql);
    await enqueue(database.sql, workspace, data, [{ value: 12 }], { runKey: 'shared' });
    await settled(database.sql);
    const [id] = await enqueue(database.sql, other, data, [{ value: 13 }], { runKey: 'shared' });
    await settled(database.sql);
    expect(await findBacktest(database.sql, other.workspaceId, id)).toMatchObject({
      isCached: false,
      summary: { returnPct: 13 },
    });
  });

  test('equal runs claimed together run once', async () => {
    const ids = await enqueue(
      database.sql,
      workspace,
      data,
      Array.from({ length: 20 }, () => ({ value: 5 })),
      { runKey: 'twins' },
    );
    await start();
    await settled(database.sql);
    const rows = await Promise.all(ids.map(read));
    expect(rows.every((row) => row!.status === 'completed' && row!.summary!.returnPct === 5)).toBe(true);
    expect(rows.filter((row) => row!.isCached).length).toBeGreaterThanOrEqual(18);
  });

  test('every result is told to who waits for it', async () => {
    await start();
    await using news = await openNews(database.sql);
    const ids = await enqueue(
      database.sql,
      workspace,
      data,
      Array.from({ length: 450 }, (_, value) => ({ value })),
    );
    const woken = new Set<string>();
    for (const id of ids) news.subscribe(id, () => woken.add(id));
    const before = await countByStatus(database.sql);
    await settled(database.sql);
    await eventually(() => woken.size >= (before.queued ?? 0), 2_000);
  });

  test('jobs do not pile up: none is left when nothing is due', async () => {
    await start();
    await enqueue(
      database.sql,
      workspace,
      data,
      Array.from({ length: 200 }, (_, value) => ({ value })),
    );
    await settled(database.sql);
    await eventually(async () => (await database.sql`select 1 from graphile_worker.jobs`).length === 0, 3_000);
  });
});

describe('cancelling', () => {
  test('a queued backtest is cancelled at once', async () => {
    const [id] = await enqueue(database.sql, workspace, data, [{}]);
    expect(await cancelBacktest(database.sql, workspace.workspaceId, id)).toBe('cancelled');
    expect(await read(id)).toMatchObject({ status: 'cancelled', startedAt: null });
    expect(await cancelBacktest(database.sql, workspace.workspaceId, id)).toBe('terminal');
  });

  test('a running backtest is cancelled within 100 ms, and the others of its batch complete', async () => {
    await start();
    const ids = await enqueue(database.sql, workspace, data, [{ value: 1 }, { act: 'spin', ms: 60_000 }, { value: 2 }]);
    await eventually(async () => Number((await read(ids[1]))?.barsTotal) > 0);
    const asked = performance.now();
    expect(await cancelBacktest(database.sql, workspace.workspaceId, ids[1])).toBe('running');
    await tell(database.sql, 'cancel', [ids[1]]);
    await eventually(async () => (await read(ids[1]))?.status === 'cancelled');
    // 100 ms to the flag; the rest is this shared machine's.
    expect(performance.now() - asked).toBeLessThan(400);
    await settled(database.sql);
    expect(await countByStatus(database.sql)).toEqual({ cancelled: 1, completed: 2 });
  });

  test('one of two equal backtests can be cancelled and the other completes', async () => {
    const ids = await enqueue(
      database.sql,
      workspace,
      data,
      [1, 2].map(() => ({ act: 'spin', ms: 1_500 })),
      { runKey: 'pair' },
    );
    await start();
    await eventually(async () => (await countByStatus(database.sql)).running === 2);
    await cancelBacktest(database.sql, workspace.workspaceId, ids[0]);
    await tell(database.sql, 'cancel', [ids[0]]);
    await settled(database.sql);
    expect((await read(ids[1]))!.status).toBe('completed');
  });

  test('a terminal backtest never changes, not even by a statement of our own', async () => {
    const [id] = await enqueue(database.sql, workspace, data, [{}]);
    await cancelBacktest(database.sql, workspace.workspaceId, id);
    await expect(
      database.sql`update backtests set status = 'queued', finished_at = null where id = ${id}`,
    ).rejects.toThrow('never changes');
  });

  test("another workspace's backtest is not there to be cancelled", async () => {
    const [id] = await enqueue(database.sql, workspace, data, [{}]);
    const other = await makeWorkspace(database.sql);
    expect(await cancelBacktest(database.sql, other.workspaceId, id)).toBeUndefined();
    expect((await read(id))!.status).toBe('queued');
  });
});
