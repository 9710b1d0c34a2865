// Fairness: who queues ten thousand does not hold up who queues one, and tiers weigh.
import { expect, it } from 'vitest';
import { cancelBacktest } from '../../src/db/backtests.ts';
import { countOpenReruns, insertRerun } from '../../src/db/reruns.ts';
import { notify } from '../../src/db/notifications.ts';
import { claimDue } from '../../src/db/claims.ts';
import { cancelSweep } from '../../src/db/sweeps.ts';
import {
  PassedOnTicket,
  RERUN_TASK,
  SWEEP_TASK,
  TICKET_TASK,
  addRerunJob,
  addSweepTickets,
  addTickets,
} from '../../src/db/tickets.ts';
import { RerunTurns } from '../../src/jobs/rerunTask.ts';
import { divide } from '../../src/jobs/shares.ts';
import { eventually } from '../support/eventually.ts';
import { countByStatus, enqueue, enqueueSweep, makeWorkspace, type TestWorkspace } from '../support/queue.ts';
import { scaled } from '../support/scale.ts';
import { TestQueue } from '../support/testQueue.ts';

const queue = new TestQueue(50);
const many = (count: number) => Array.from({ length: count }, () => ({}));
const WORKER = '00000000-0000-7000-8000-000000000001';

/** Those that earlier tests have left. */
const deleteTickets = () =>
  queue.sql`select count(*) from graphile_worker.complete_jobs(array(select id from graphile_worker.jobs))`;

/** Claims of which workspace, in the order they are made. */
async function claimOrder(workspaces: readonly TestWorkspace[], claims: number, perClaim: number): Promise<string[]> {
  const names = new Map(workspaces.map((each, index) => [each.workspaceId, 'ABCDEFGH'[index]]));
  const order: string[] = [];
  for (let claim = 0; claim < claims; claim++) {
    const { runs } = await claimDue(queue.sql, WORKER, perClaim, 1e9);
    order.push(...runs.map((run) => names.get(run.workspaceId)!));
  }
  await queue.sql`delete from backtests`;
  await queue.sql`delete from workspace_turns`;
  return order;
}

it('does not let the long queue of one workspace hold up a backtest of another', async () => {
  await queue.startWorker();
  const [a, b] = [await makeWorkspace(queue.sql), await makeWorkspace(queue.sql)];
  const count = scaled(10_000);
  // First in, first out, the other workspace would come last of all.
  for (let left = count; left > 0; left -= 1_000) {
    const params = Array.from({ length: Math.min(left, 1_000) }, () => ({ act: 'spin', ms: 5 }));
    await enqueue(queue.sql, a, queue.data, params);
  }
  await eventually(async () => (await countByStatus(queue.sql, a.workspaceId)).running > 0);
  await enqueue(queue.sql, b, queue.data, [{}]);
  await eventually(async () => (await countByStatus(queue.sql, b.workspaceId)).completed === 1);
  // By the times in the database: this process may look late.
  const [{ before }] = await queue.sql`
    select count(*)::int as before from backtest_results own, backtest_results other
    where own.workspace_id = ${a.workspaceId} and other.workspace_id = ${b.workspaceId}
      and own.finished_at < other.finished_at`;
  expect(before).toBeLessThan(count * 0.8);
  await queue.sql`
    select end_backtests(array(select id from backtest_queue where claimed_by is null for update), 'cancelled', null)`;
  await queue.settled();
});

it('does not let slow backtests of one workspace hold a worker of one thread', async () => {
  await queue.startWorker({ threads: 1 });
  const [a, b, c] = await Promise.all([1, 2, 3].map(() => makeWorkspace(queue.sql)));
  const spinning = Array.from({ length: 8 }, () => ({ act: 'spin', ms: 600_000 }));
  const slow = await enqueue(queue.sql, a, queue.data, spinning, { cost: 1e9 });
  await eventually(async () => (await countByStatus(queue.sql, a.workspaceId)).running > 0);
  for (const each of [b, c]) await enqueue(queue.sql, each, queue.data, many(3));
  for (const each of [b, c])
    await eventually(async () => (await countByStatus(queue.sql, each.workspaceId)).completed === 3);
  expect((await countByStatus(queue.sql, a.workspaceId)).completed).toBeUndefined();
  for (const id of slow) await cancelBacktest(queue.sql, a.workspaceId, id);
  await notify(queue.sql, 'cancel', slow);
  await queue.settled();
});

it('does not let slow backtests of any number of workspaces hold a worker of two threads', async () => {
  await queue.startWorker();
  const slow: { readonly workspaceId: string; readonly ids: string[] }[] = [];
  for (let count = 0; count < 12; count++) {
    const workspace = await makeWorkspace(queue.sql);
    const spinning = Array.from({ length: 2 }, () => ({ act: 'spin', ms: 600_000 }));
    const ids = await enqueue(queue.sql, workspace, queue.data, spinning, { cost: 1e9 });
    slow.push({ workspaceId: workspace.workspaceId, ids });
  }
  const running = async (): Promise<number> => {
    const counts = await Promise.all(slow.map(({ workspaceId }) => countByStatus(queue.sql, workspaceId)));
    return counts.reduce((sum, count) => sum + (count.running ?? 0), 0);
  };
  // All that may be claimed of them.
  await eventually(async () => (await running()) >= 7);
  for (let small = 0; small < 3; small++) {
    const neighbor = await makeWorkspace(queue.sql);
    await enqueue(queue.sql, neighbor, queue.data, many(2));
    await eventually(async () => (await countByStatus(queue.sql, neighbor.workspaceId)).completed === 2);
  }
  // The slow ones run on meanwhile.
  expect(await running()).toBeGreaterThanOrEqual(7);
  for (const { workspaceId, ids } of slow) {
    for (const id of ids) await cancelBacktest(queue.sql, workspaceId, id);
    await notify(queue.sql, 'cancel', ids);
  }
  await queue.settled();
});

it('runs a backtest while sweeps of many workspaces have a hundred shards due', async () => {
  await queue.startWorker();
  const sweeps: { readonly workspaceId: string; readonly id: string }[] = [];
  for (let count = 0; count < 6; count++) {
    const workspace = await makeWorkspace(queue.sql);
    const id = await enqueueSweep(queue.sql, workspace, queue.data, 17);
    sweeps.push({ workspaceId: workspace.workspaceId, id });
  }
  const running = async (): Promise<number[]> => {
    const rows = await queue.sql<{ count: number }[]>`
      select count(*)::int as count from sweep_shards where status = 'running' group by sweep_id order by count desc`;
    return rows.map(({ count }) => count);
  };
  // One more workspace than there are threads beyond the first, which has a shard on each thread at most.
  await eventually(async () => (await running()).reduce((sum, count) => sum + count, 0) >= 5);
  for (let small = 0; small < 3; small++) {
    const neighbor = await makeWorkspace(queue.sql);
    await enqueue(queue.sql, neighbor, queue.data, many(2));
    await eventually(async () => (await countByStatus(queue.sql, neighbor.workspaceId)).completed === 2);
  }
  const [most, ...others] = await running();
  expect(most).toBeLessThanOrEqual(2);
  expect(most + others.reduce((sum, count) => sum + count, 0)).toBe(5);
  for (const { workspaceId, id } of sweeps) await queue.sql.begin((tx) => cancelSweep(tx, workspaceId, id));
  await notify(
    queue.sql,
    'cancel',
    sweeps.map(({ id }) => id),
  );
  await eventually(async () => (await running()).length === 0);
  await queue.sql`delete from sweeps`;
});

it('gives tickets to a process in their order, but only one of sweeps before those of backtests', async () => {
  await deleteTickets();
  await addRerunJob(queue.sql, WORKER, WORKER);
  await addSweepTickets(queue.sql, 3);
  await addTickets(queue.sql, 1);
  await addSweepTickets(queue.sql, 1);
  const jobs = await queue.sql<{ task: string }[]>`
    select task_identifier as task from graphile_worker.jobs order by priority, run_at, id`;
  const last = Array.from({ length: 4 }, () => SWEEP_TASK);
  expect(jobs.map(({ task }) => task)).toEqual([RERUN_TASK, SWEEP_TASK, TICKET_TASK, ...last]);
});

it('passes on one ticket for shards, however many find no room', async () => {
  await deleteTickets();
  const passedOn = new PassedOnTicket(queue.sql, SWEEP_TASK);
  for (let count = 0; count < 20; count++) await passedOn.add();
  await new PassedOnTicket(queue.sql, SWEEP_TASK).add();
  await new PassedOnTicket(queue.sql, TICKET_TASK).add();
  const jobs = await queue.sql<{ task: string }[]>`
    select task_identifier as task from graphile_worker.jobs order by priority`;
  expect(jobs.map(({ task }) => task)).toEqual([TICKET_TASK, SWEEP_TASK]);
});

it('leaves the artifacts of further workspaces for later, so that backtests have the other jobs', async () => {
  const turns = new RerunTurns(2);
  const ends = new Map<string, () => void>();
  const take = (workspaceId: string) =>
    turns.take(workspaceId, `of ${workspaceId}`, () => new Promise((resolve) => ends.set(workspaceId, resolve)));
  const first = take('a');
  const second = take('b');
  expect(await take('c')).toBe(false);
  // It waits behind the first without a job.
  expect(await take('a')).toBe(true);
  ends.get('b')!();
  expect(await second).toBe(true);
  const third = take('c');
  ends.get('c')!();
  expect(await third).toBe(true);
  ends.get('a')!();
  ends.delete('a');
  await eventually(() => ends.has('a'));
  ends.get('a')!();
  expect(await first).toBe(true);
});

it('runs the artifacts that wait behind one that fails', async () => {
  const turns = new RerunTurns(1);
  const run: string[] = [];
  const take = (id: string) =>
    turns.take('a', id, async (rerunId) => {
      run.push(rerunId);
      await Promise.resolve();
      if (rerunId === 'first') throw new Error('It fails.');
    });
  const first = take('first');
  expect(await take('second')).toBe(true);
  await expect(first).rejects.toThrow('It fails.');
  expect(run).toEqual(['first', 'second']);
  expect(await take('third')).toBe(true);
});

it('hands out only quick backtests to a claim that asks for them, even from behind slow ones', async () => {
  const [a, b] = [await makeWorkspace(queue.sql), await makeWorkspace(queue.sql)];
  await enqueue(queue.sql, a, queue.data, many(3), { cost: 1e6 });
  const [behind] = await enqueue(queue.sql, a, queue.data, many(1), { cost: 1_000 });
  const [first] = await enqueue(queue.sql, b, queue.data, many(1), { cost: 1_000 });
  const { runs } = await claimDue(queue.sql, WORKER, 50, 1e9, { mostCost: 1_000 });
  expect(runs.map(({ id }) => id)).toEqual([behind, first]);
});

it('does not let forty artifacts of one workspace delay a backtest of another', async () => {
  await queue.startWorker();
  const [a, b] = [await makeWorkspace(queue.sql), await makeWorkspace(queue.sql)];
  const [id] = await enqueue(queue.sql, a, queue.data, [{ act: 'spin', ms: 300 }]);
  await queue.settled();
  await queue.sql.begin(async (tx) => {
    for (let format = 0; format < 40; format++)
      await insertRerun(tx, id, { kind: 'artifact', name: 'signals', format: `csv${format}`, engine: '' });
  });
  const open = () => countOpenReruns(queue.sql, a.workspaceId);
  await eventually(async () => (await open()) < 40);
  await enqueue(queue.sql, b, queue.data, many(1));
  await eventually(async () => (await countByStatus(queue.sql, b.workspaceId)).completed === 1);
  expect(await open()).toBeGreaterThan(20);
  await queue.sql`delete from reruns`;
});

it('hands out nothing of the workspaces that are excluded from a claim', async () => {
  const [a, b] = [await makeWorkspace(queue.sql), await makeWorkspace(queue.sql)];
  for (const each of [a, b]) await enqueue(queue.sql, each, queue.data, many(2));
  const { runs } = await claimDue(queue.sql, WORKER, 50, 1e9, { excluded: [a.workspaceId] });
  expect(runs.map(({ workspaceId }) => workspaceId)).toEqual([b.workspaceId, b.workspaceId]);
  expect((await claimDue(queue.sql, WORKER, 50, 1e9, { excluded: [a.workspaceId] })).runs).toEqual([]);
});

it('gives two workspaces of one tier equal shares while both have work', async () => {
  const both = [await makeWorkspace(queue.sql), await makeWorkspace(queue.sql)];
  for (const each of both) await enqueue(queue.sql, each, queue.data, many(40));
  const order = await claimOrder(both, 40, 1);
  for (let at = 2; at <= 40; at += 2)
    expect(order.slice(0, at).filter((name) => name === 'A').length, `after ${at}`).toBe(at / 2);
});

it('gives a pro workspace four times, and a plus workspace twice, the work of a free one', async () => {
  const tiers = ['free', 'plus', 'pro'] as const;
  const workspaces = await Promise.all(tiers.map((tier) => makeWorkspace(queue.sql, tier)));
  for (const each of workspaces) await enqueue(queue.sql, each, queue.data, many(100));
  const order = await claimOrder(workspaces, 70, 1);
  const shares = ['A', 'B', 'C'].map((name) => order.filter((each) => each === name).length);
  expect(shares).toEqual([10, 20, 40]);
});

it('counts expensive backtests for more than cheap ones', async () => {
  const both = [await makeWorkspace(queue.sql), await makeWorkspace(queue.sql)];
  await enqueue(queue.sql, both[0], queue.data, many(60), { cost: 1_000 });
  await enqueue(queue.sql, both[1], queue.data, many(60), { cost: 100 });
  const order = await claimOrder(both, 55, 1);
  expect(order.filter((name) => name === 'A').length).toBe(5);
});

it('does not let an idle workspace save up turns', async () => {
  const [busy, idle] = [await makeWorkspace(queue.sql), await makeWorkspace(queue.sql)];
  await enqueue(queue.sql, busy, queue.data, many(40));
  for (let claim = 0; claim < 20; claim++) await claimDue(queue.sql, WORKER, 1, 1e9);
  await enqueue(queue.sql, idle, queue.data, many(20));
  const order = await claimOrder([busy, idle], 10, 1);
  expect(order.filter((name) => name === 'B').length).toBe(5);
});

it('claims from several workspaces if no single one has enough', async () => {
  const workspaces = await Promise.all(Array.from({ length: 8 }, () => makeWorkspace(queue.sql)));
  for (const each of workspaces) await enqueue(queue.sql, each, queue.data, many(2));
  const order = await claimOrder(workspaces, 1, 50);
  expect(order.length).toBe(16);
  expect(new Set(order).size).toBe(8);
});

it('stops a claim at its cost limit, but takes a more expensive backtest if it comes first', async () => {
  const workspace = await makeWorkspace(queue.sql);
  await enqueue(queue.sql, workspace, queue.data, many(10), { cost: 300 });
  expect((await claimDue(queue.sql, WORKER, 50, 1_000)).runs.length).toBe(4);
  await enqueue(queue.sql, await makeWorkspace(queue.sql), queue.data, many(1), { cost: 5_000 });
  await queue.sql`delete from backtests where id in (select id from backtest_queue where cost = 300)`;
  expect((await claimDue(queue.sql, WORKER, 50, 1_000)).runs.length).toBe(1);
});

it('never gives two concurrent claims the same backtest', async () => {
  const workspaces = await Promise.all([1, 2, 3].map(() => makeWorkspace(queue.sql)));
  for (const each of workspaces) await enqueue(queue.sql, each, queue.data, many(100));
  const claims = await Promise.all(Array.from({ length: 30 }, () => claimDue(queue.sql, WORKER, 10, 1e9)));
  const ids = claims.flatMap((claim) => claim.runs.map((run) => run.id));
  expect(ids.length).toBe(300);
  expect(new Set(ids).size).toBe(300);
});

it('divides a claim by cost, in order, and not into tiny shares', () => {
  const costs = (...list: number[]) => list.map((cost) => ({ cost }));
  expect(divide(costs(1e6, 1e6, 1e6, 1e6), 2).map((share) => share.length)).toEqual([2, 2]);
  expect(divide(costs(3e6, 1e6, 1e6, 1e6), 2).map((share) => share.length)).toEqual([1, 3]);
  expect(divide(costs(100, 100, 100), 4).length).toBe(1);
  expect(divide([], 4)).toEqual([]);
});
