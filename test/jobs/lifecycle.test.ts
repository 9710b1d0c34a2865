// The life of a backtest on the queue: accepted with its ticket, run once, notified, cached, cancelled, never changed
// afterwards.
import { describe, expect, it } from 'vitest';
import { cancelBacktest, findBacktest, insertBacktests, lockQueue, readTrades } from '../../src/db/backtests.ts';
import { notify, openNotifications } from '../../src/db/notifications.ts';
import { decodeDetail, STATISTIC_POSITIONS } from '../../src/engine/index.ts';
import { createTestDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { enqueue, makeWorkspace, newBacktests, startTestWorker } from '../support/queue.ts';
import { TestQueue } from '../support/testQueue.ts';

const queue = new TestQueue();

describe('accepting a backtest', () => {
  it('queues it and creates its job in the same transaction', async () => {
    const [id] = await queue.enqueue([{}]);
    expect(await queue.find(id)).toMatchObject({
      status: 'queued',
      startedAt: null,
      finishedAt: null,
      queuePosition: 0,
    });
    const jobs = await queue.sql`select 1 from graphile_worker.jobs where task_identifier = 'run_due_backtests'`;
    expect(jobs.length).toBe(1);
    await queue.sql`select graphile_worker.complete_jobs(array(select id from graphile_worker.jobs))`;
  });

  it('creates the backtests of one request key once, even when the transactions around them are lost', async () => {
    const requestKey = Buffer.alloc(32, 7);
    const insert = () =>
      insertBacktests(queue.sql, queue.workspaceId, newBacktests(queue.workspace, queue.data, [{}, {}]), requestKey);
    const outcomes = await Promise.allSettled([insert(), insert(), insert()]);
    const refused = outcomes.flatMap((each) => (each.status === 'rejected' ? [each.reason as Error] : []));
    expect(refused.map(({ name }) => name)).toEqual(['WorkAlreadyDone', 'WorkAlreadyDone']);
    expect(await queue.countByStatus()).toEqual({ queued: 2 });
    await queue.sql`update idempotent_work set created_at = now() - interval '25 hours'`;
    expect(await insert()).toHaveLength(2);
  });

  it('leaves neither row nor job when the transaction fails', async () => {
    const items = newBacktests(queue.workspace, queue.data, [{}, {}]);
    const countJobs = async () => (await queue.sql`select 1 from graphile_worker.jobs`).length;
    const before = await countJobs();
    const failing = queue.sql.begin(async (tx) => {
      await insertBacktests(tx, queue.workspaceId, items);
      throw new Error('after the insert');
    });
    await expect(failing).rejects.toThrow('after the insert');
    expect(await queue.countByStatus()).toEqual({});
    expect(await countJobs()).toBe(before);
  });

  it('assigns ids in the order of the items, which is the order in which they run', async () => {
    const ids = await queue.enqueue(Array.from({ length: 300 }, (_, value) => ({ value })));
    expect(ids).toEqual(ids.toSorted());
    const positions = await Promise.all(
      [0, 1, 299].map(async (index) => (await queue.find(ids[index]))?.queuePosition),
    );
    expect(positions).toEqual([0, 1, 299]);
    const jobs = await queue.sql`select 1 from graphile_worker.jobs`;
    // Thin: a ticket takes several.
    expect(jobs.length).toBeLessThanOrEqual(6);
    await queue.sql`select graphile_worker.complete_jobs(array(select id from graphile_worker.jobs))`;
  });

  it('counts open backtests exactly, however they end', async () => {
    const open = async () => (await queue.sql.begin((tx) => lockQueue(tx, queue.workspaceId))).open;
    const ids = await queue.enqueue([{}, { act: 'fail' }, {}, { act: 'spin', ms: 60_000 }]);
    expect(await open()).toBe(4);
    await queue.cancel(ids[0]);
    expect(await open()).toBe(3);
    await queue.startWorker();
    await eventually(async () => (await queue.countByStatus()).running === 1 && (await open()) === 1);
    await queue.cancel(ids[3]);
    await notify(queue.sql, 'cancel', [ids[3]]);
    await queue.settled();
    expect(await open()).toBe(0);
    await queue.enqueue([{}]);
    await queue.sql`delete from backtests`;
    expect(await open()).toBe(0);
  });
});

describe('running a backtest', () => {
  it('goes queued → running → completed, with result, progress and times', async () => {
    await queue.startWorker();
    const [id] = await queue.enqueue([{ act: 'spin', ms: 300, value: 3 }]);
    await eventually(async () => (await queue.find(id))?.status === 'running');
    await queue.settled();
    const backtest = await queue.find(id);
    expect(backtest).toMatchObject({
      status: 'completed',
      summary: { returnPct: 3, sharpeRatio: null },
      isCached: false,
      barsDone: 500,
      barsTotal: 500,
      error: null,
    });
    expect(decodeDetail(backtest!.detail!)).toMatchObject({
      summary: { closeSum: 174_750 },
      reproducibility: { engineVersion: 'stand-in' },
      resolvedConfig: { leverage: 1, range: { start: null, end: null } },
    });
    expect(backtest!.startedAt!.getTime()).toBeGreaterThanOrEqual(backtest!.createdAt.getTime());
    expect(backtest!.finishedAt!.getTime()).toBeGreaterThanOrEqual(backtest!.startedAt!.getTime());
  });

  it('goes queued → running → failed on an expected failure, with its code, path and message', async () => {
    await queue.startWorker();
    const [id] = await queue.enqueue([{ act: 'fail' }]);
    await queue.settled();
    expect(await queue.find(id)).toMatchObject({
      status: 'failed',
      error: { code: 'RANGE_NO_DATA', path: '/config/range', message: 'The range holds no bars.' },
      summary: null,
    });
  });

  it('reports a bug in the engine as INTERNAL_ERROR without its stack', async () => {
    await queue.startWorker();
    const [id] = await queue.enqueue([{ act: 'throw' }]);
    await queue.settled();
    const { error } = (await queue.find(id))!;
    expect(error).toMatchObject({ code: 'INTERNAL_ERROR' });
    expect(JSON.stringify(error)).not.toContain('standInRunner');
  });

  it('fails only the backtest whose inputs are gone', async () => {
    await queue.startWorker();
    const items = newBacktests(queue.workspace, queue.data, [{ value: 1 }, { value: 2 }]);
    const [lost, kept] = await queue.sql.begin((tx) =>
      insertBacktests(tx, queue.workspaceId, [{ ...items[0], snapshots: ['0'.repeat(64)] }, items[1]]),
    );
    await queue.settled();
    expect(await queue.find(lost.id)).toMatchObject({ status: 'failed', error: { code: 'INPUT_MISSING' } });
    expect(await queue.find(kept.id)).toMatchObject({ status: 'completed' });
  });

  it('fails only the backtest whose result Postgres cannot hold, and stores the rest of its batch', async () => {
    await queue.startWorker();
    const ids = await queue.enqueue([{ value: 1 }, { act: 'nul' }, { value: 2 }]);
    await queue.settled();
    expect(await Promise.all(ids.map(async (id) => (await queue.find(id))!.status))).toEqual([
      'completed',
      'failed',
      'completed',
    ]);
    expect((await queue.find(ids[1]))!.error).toMatchObject({ code: 'RESULT_NOT_STORABLE' });
  });

  it('copies an equal run of the workspace instead of running it again, and says so', async () => {
    await queue.startWorker();
    const [first] = await queue.enqueue([{ value: 11 }], { runKey: 'same' });
    await queue.settled();
    const [second] = await queue.enqueue([{ act: 'poison' }], { runKey: 'same' });
    await queue.settled();
    const [a, b] = [await queue.find(first), await queue.find(second)];
    expect(b).toMatchObject({ status: 'completed', isCached: true, summary: a!.summary });
    expect(Buffer.from(b!.detail!)).toEqual(Buffer.from(a!.detail!));
    expect(await readTrades(queue.sql, second)).toEqual(await readTrades(queue.sql, first));
  });

  it('does not copy an equal run of another workspace', async () => {
    await queue.startWorker();
    const other = await makeWorkspace(queue.sql);
    await queue.enqueue([{ value: 12 }], { runKey: 'shared' });
    await queue.settled();
    const [id] = await enqueue(queue.sql, other, queue.data, [{ value: 13 }], { runKey: 'shared' });
    await queue.settled();
    expect(await findBacktest(queue.sql, other.workspaceId, id, STATISTIC_POSITIONS)).toMatchObject({
      isCached: false,
      summary: { returnPct: 13 },
    });
  });

  it('runs equal backtests that were claimed together once', async () => {
    const ids = await queue.enqueue(
      Array.from({ length: 20 }, () => ({ value: 5 })),
      { runKey: 'twins' },
    );
    await queue.startWorker();
    await queue.settled();
    const rows = await Promise.all(ids.map((id) => queue.find(id)));
    expect(rows.every((row) => row!.status === 'completed' && row!.summary!.returnPct === 5)).toBe(true);
    expect(rows.filter((row) => row!.isCached).length).toBeGreaterThanOrEqual(18);
  });

  it('notifies listeners of every result', async () => {
    await using notifications = openNotifications(queue.sql);
    // All that wait look again once it listens: only what wakes them after that counts.
    await new Promise<void>((resolve) => notifications.subscribe('nothing', resolve));
    const ids = await queue.enqueue(Array.from({ length: 450 }, (_, value) => ({ value })));
    const woken = new Set<string>();
    for (const id of ids) notifications.subscribe(id, () => woken.add(id));
    await queue.startWorker();
    await queue.settled();
    await eventually(() => woken.size === ids.length);
    expect(woken).toEqual(new Set(ids));
  });

  it('leaves no jobs when nothing is due', async () => {
    await queue.startWorker();
    await queue.enqueue(Array.from({ length: 200 }, (_, value) => ({ value })));
    await queue.settled();
    await eventually(async () => (await queue.sql`select 1 from graphile_worker.jobs`).length === 0);
    expect(await queue.countByStatus()).toEqual({ completed: 200 });
  });

  it('listens once somebody waits', async () => {
    const listeners = async (): Promise<number> =>
      (await queue.sql`select 1 from pg_stat_activity where query = 'listen "candlepool_changed"'`).length;
    await using notifications = openNotifications(queue.sql);
    const before = await listeners();
    await new Promise<void>((resolve) => notifications.subscribe('nothing', resolve));
    expect(await listeners()).toBe(before + 1);
  });
});

describe('cancelling a backtest', () => {
  it('cancels a queued backtest at once', async () => {
    const [id] = await queue.enqueue([{}]);
    expect(await queue.cancel(id)).toBe('cancelled');
    expect(await queue.find(id)).toMatchObject({ status: 'cancelled', startedAt: null });
    expect(await queue.cancel(id)).toBe('terminal');
  });

  it('cancels a running backtest long before it would end, and the others of its batch complete', async () => {
    await queue.startWorker();
    const ids = await queue.enqueue([{ value: 1 }, { act: 'spin', ms: 600_000 }, { value: 2 }]);
    await eventually(async () => Number((await queue.find(ids[1]))?.barsTotal) > 0);
    expect(await queue.cancel(ids[1])).toBe('running');
    await notify(queue.sql, 'cancel', [ids[1]]);
    await eventually(async () => (await queue.find(ids[1]))?.status === 'cancelled');
    await queue.settled();
    expect(await queue.countByStatus()).toEqual({ cancelled: 1, completed: 2 });
  });

  it('cancels one of two equal backtests, and the other completes', async () => {
    const ids = await queue.enqueue(
      [1, 2].map(() => ({ act: 'spin', ms: 1_500 })),
      { runKey: 'pair' },
    );
    await queue.startWorker();
    await eventually(async () => (await queue.countByStatus()).running === 2);
    await queue.cancel(ids[0]);
    await notify(queue.sql, 'cancel', [ids[0]]);
    await queue.settled();
    expect((await queue.find(ids[1]))!.status).toBe('completed');
  });

  it('never changes a terminal backtest, even through direct SQL', async () => {
    const [id] = await queue.enqueue([{}]);
    await queue.cancel(id);
    await expect(queue.sql`update backtest_results set status = 'completed' where id = ${id}`).rejects.toThrow(
      'never changes',
    );
  });

  it('does not find a backtest of another workspace', async () => {
    const [id] = await queue.enqueue([{}]);
    const other = await makeWorkspace(queue.sql);
    expect(await cancelBacktest(queue.sql, other.workspaceId, id)).toBeUndefined();
    expect((await queue.find(id))!.status).toBe('queued');
  });
});

describe('a Graphile runner that ends by itself', () => {
  it('fails the worker, whose supervisor then starts another process', async () => {
    const own = await createTestDatabase();
    const broken = await startTestWorker(own.url, queue.data);
    let ended: string | null = null;
    void broken.failed.then(
      () => (ended = 'went on'),
      (error: Error) => (ended = error.message),
    );
    // Graphile stops itself when another host has migrated its tables to a schema that it does not know. It is told
    // again until it ends: it may not listen yet.
    const message = await eventually(async () => {
      await own.sql`select pg_notify('worker:migrate', '{"breaking":true,"migrationNumber":999}')`;
      return ended;
    });
    expect(message).toContain('Graphile Worker stopped');
    // Set by Graphile, for a process of its own.
    process.exitCode = undefined;
    await broken[Symbol.asyncDispose]();
    await own[Symbol.asyncDispose]();
  });
});
