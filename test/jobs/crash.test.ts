// Crashes: whatever happens to worker processes, nothing is lost, every result is stored once, and only the run that
// causes the crashes fails.
import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { claimDue, finishRuns } from '../../src/db/claims.ts';
import { connect } from '../../src/db/connect.ts';
import { areCrashSuspectsWaiting, claimCrashSuspect } from '../../src/db/crashSuspects.ts';
import { notify } from '../../src/db/notifications.ts';
import { summaryNumber } from '../../src/db/summaries.ts';
import { registerWorker, takeOverDeadWorkers } from '../../src/db/workerProcesses.ts';
import { STATISTIC_POSITIONS } from '../../src/engine/index.ts';
import { eventually } from '../support/eventually.ts';
import { enqueue, killWorker, makeWorkspace } from '../support/queue.ts';
import { scaled, seededRandom } from '../support/scale.ts';
import { TestQueue } from '../support/testQueue.ts';

const queue = new TestQueue();
const running = async () => (await queue.countByStatus()).running ?? 0;
const spins = (count: number, ms: number) => Array.from({ length: count }, (_, value) => ({ act: 'spin', ms, value }));

/** Every backtest completed with the result of its own input, and what is counted of its workspace agrees. */
async function expectAllCompleted(ids: readonly string[]): Promise<void> {
  expect(await queue.countByStatus()).toEqual({ completed: ids.length });
  const rows = await queue.sql<{ id: string; value: number; wanted: number }[]>`
    select id, ${queue.sql.unsafe(summaryNumber('returnPct', STATISTIC_POSITIONS))} as value,
      (config #>> '{params,value}')::float8 as wanted
    from backtests join backtest_results r using (id)`;
  expect(rows.filter((row) => row.value !== row.wanted)).toEqual([]);
  const [turn] = await queue.sql`select due, open from workspace_turns where workspace_id = ${queue.workspaceId}`;
  expect(turn).toMatchObject({ due: 0, open: 0 });
}

describe('kill -9 of a worker process', () => {
  it('loses nothing: the backtests in progress run again', async () => {
    const ids = await queue.enqueue(spins(20, 100));
    const first = await queue.spawnWorker();
    await eventually(async () => (await running()) > 0);
    await killWorker(first);
    expect(await running()).toBeGreaterThan(0);
    await queue.spawnWorker();
    await queue.settled();
    await expectAllCompleted(ids);
  });

  it('is noticed by another process, which queues its backtests again', async () => {
    await queue.enqueue(spins(4, 600_000));
    const doomed = await queue.spawnWorker();
    await eventually(async () => (await running()) === 4);
    const [{ claimedBy }] =
      await queue.sql`select claimed_by as "claimedBy" from backtest_queue where claimed_by is not null limit 1`;
    await queue.spawnWorker();
    await killWorker(doomed);
    await eventually(async () => {
      const [{ held }] =
        await queue.sql`select count(*)::int as held from backtest_queue where claimed_by = ${claimedBy}`;
      return held === 0;
    });
    const open = await queue.countByStatus();
    expect((open.queued ?? 0) + (open.running ?? 0)).toBe(4);
  });

  it('stores every result once, however often and whenever it happens', async () => {
    const seed = 20_261_121;
    const random = seededRandom(seed);
    const rounds = scaled(50);
    const ids = await queue.enqueue(spins(rounds * 60, 4));
    let alive = [await queue.spawnWorker(), await queue.spawnWorker()];
    for (let round = 0; round < rounds; round++) {
      await new Promise((resolve) => setTimeout(resolve, random() * 700));
      const [victim, ...rest] = random() < 0.5 ? alive : alive.toReversed();
      await killWorker(victim);
      alive = [...rest, await queue.spawnWorker()];
    }
    await queue.settled();
    await expectAllCompleted(ids);
    expect(
      (await queue.sql`select 1 from graphile_worker.jobs where locked_by is not null`).length,
    ).toBeLessThanOrEqual(8);
  }, 900_000);
});

describe('a backtest that kills its worker', () => {
  it('fails as RESOURCE_LIMIT after three deaths, of which only the first is that of a worker', async () => {
    const params = [...spins(20, 1), { act: 'poison', value: 99 }, ...spins(20, 1)];
    const ids = await queue.enqueue(params);
    const settled = queue.settled().then(() => 'settled');
    const deathOf = (worker: ChildProcess) => once(worker, 'exit').then(() => 'died');
    let deaths = 0;
    // As a supervisor does.
    while ((await Promise.race([settled, deathOf(await queue.spawnWorker())])) === 'died') deaths++;
    expect(await queue.find(ids[20])).toMatchObject({
      status: 'failed',
      error: { code: 'RESOURCE_LIMIT', path: '' },
      summary: null,
    });
    expect(await queue.countByStatus()).toEqual({ completed: 40, failed: 1 });
    expect(deaths).toBe(1);
  });

  it('lets others go on while it runs again, and is not kept waiting by them', async () => {
    const [suspect] = await queue.enqueue(spins(1, 600_000));
    const doomed = await queue.spawnWorker();
    await eventually(async () => (await running()) === 1);
    const backlog = await queue.enqueue(spins(1_000, 10));
    await killWorker(doomed);
    await queue.spawnWorker();
    const completed = async () => (await queue.countByStatus()).completed ?? 0;
    // Nothing else runs in its process, and most of the backlog still waits.
    const before = await eventually(async () => {
      const [row] = await queue.sql<{ isAlone: boolean }[]>`
        select is_alone as "isAlone" from backtest_queue
        where id = ${suspect} and claimed_by is not null and kills = 1`;
      return row?.isAlone && completed();
    });
    expect(before).toBeLessThan(backlog.length);
    await eventually(async () => (await completed()) > before + 100);
    expect(await queue.find(suspect)).toMatchObject({ status: 'running' });
    await queue.cancel(suspect);
    await notify(queue.sql, 'cancel', [suspect]);
    await eventually(async () => (await queue.countByStatus()).cancelled === 1);
  });

  it('is not blamed for the deaths of a worker in which it did not run', async () => {
    const { sql } = queue;
    const worker = randomUUID();
    const [id] = await queue.enqueue([{}]);
    await claimDue(sql, worker, 10, 1e9);
    await takeOverDeadWorkers(sql);
    for (let attempt = 2; attempt < 10; attempt++) {
      expect(await claimCrashSuspect(sql, worker)).toMatchObject({ id, attempt });
      await takeOverDeadWorkers(sql);
      expect(await sql`select kills from backtest_queue where id = ${id}`).toEqual([{ kills: 1 }]);
    }
    // A run that takes the whole machine with it each time must end as well.
    await claimCrashSuspect(sql, worker);
    await takeOverDeadWorkers(sql);
    expect(await queue.find(id)).toMatchObject({
      status: 'failed',
      error: { code: 'ATTEMPTS_EXHAUSTED' },
    });
  });

  it('waits while another one of its workspace runs, and not for those of others', async () => {
    const { sql } = queue;
    const worker = randomUUID();
    const other = await makeWorkspace(sql);
    const [dear, cheap] = [
      ...(await queue.enqueue([{}], { cost: 9_000 })),
      ...(await queue.enqueue([{}], { cost: 8_000 })),
    ];
    const [ofOther] = await enqueue(queue.sql, other, queue.data, [{}], { cost: 9_500 });
    await claimDue(sql, worker, 10, 1e9);
    await takeOverDeadWorkers(sql);
    const next = async (...excluded: string[]) => (await claimCrashSuspect(sql, worker, excluded))?.id;
    expect(await areCrashSuspectsWaiting(sql, worker, [])).toBe(true);
    expect(await next()).toBe(cheap);
    expect(await next(queue.workspaceId)).toBe(ofOther);
    expect(await areCrashSuspectsWaiting(sql, worker, [queue.workspaceId, other.workspaceId])).toBe(false);
    expect(await next(queue.workspaceId, other.workspaceId)).toBeUndefined();
    expect(await next(other.workspaceId)).toBe(dear);
  });

  it('is not run again if it was cancelled meanwhile', async () => {
    const [id] = await queue.enqueue(spins(1, 60_000));
    const doomed = await queue.spawnWorker();
    await eventually(async () => (await running()) === 1);
    doomed.kill('SIGSTOP');
    await queue.cancel(id);
    await killWorker(doomed);
    // Nobody is declared dead before it has had the time to connect again.
    await eventually(async () => {
      await takeOverDeadWorkers(queue.sql);
      return (await running()) === 0;
    });
    expect(await queue.find(id)).toMatchObject({ status: 'cancelled' });
  });
});

describe('a worker that is known to be dead', () => {
  it('loses its work at once, but not while it is connected', async () => {
    const [id] = await queue.enqueue([{}]);
    const worker = { id: randomUUID(), poolId: 'pool', host: 'host', pid: 1, threads: 1 };
    const connection = connect(queue.url, { max: 1, keepConnections: true });
    await registerWorker(connection, worker);
    // However long this test takes, it is not for its silence that the worker is declared dead.
    await queue.sql`update worker_processes set seen_at = now() + interval '1 hour' where id = ${worker.id}`;
    await claimDue(queue.sql, worker.id, 10, 1e9);
    const status = async () => (await queue.find(id))?.status;
    await takeOverDeadWorkers(queue.sql, worker.id);
    expect(await status()).toBe('running');
    await connection.end();
    await takeOverDeadWorkers(queue.sql);
    expect(await status()).toBe('running');
    await eventually(async () => {
      await takeOverDeadWorkers(queue.sql, worker.id);
      return (await status()) === 'queued';
    });
  });
});

describe('the fence', () => {
  it('prevents a worker that was declared dead from writing the result of a lost claim', async () => {
    const [id] = await queue.enqueue([{}]);
    const zombie = '00000000-0000-7000-8000-000000000009';
    const { runs } = await claimDue(queue.sql, zombie, 10, 1e9);
    expect(runs.map((run) => run.id)).toEqual([id]);
    await takeOverDeadWorkers(queue.sql);
    const late = {
      id,
      attempt: runs[0].attempt,
      status: 'failed',
      isCached: false,
      result: null,
      error: { code: 'LATE' },
      barsDone: 0,
      barsTotal: 0,
    } as const;
    expect(await finishRuns(queue.sql, [late])).toEqual([]);
    expect(await queue.find(id)).toMatchObject({ status: 'queued' });
  });

  it('gives a queued backtest whose ticket was lost another one', async () => {
    const ids = await queue.enqueue([{ value: 1 }]);
    await queue.sql`select graphile_worker.complete_jobs(array(select id from graphile_worker.jobs))`;
    await queue.startWorker();
    await queue.settled();
    await expectAllCompleted(ids);
  });
});

/** Runs of ten minutes finish neither within it nor within the seconds that they are given in operation. */
const FINISH_MS = 500;

describe('stopping', () => {
  it('finishes short work on SIGTERM and ends with exit code 0', async () => {
    const ids = await queue.enqueue(spins(6, 300));
    // However busy the machine is.
    const worker = await queue.spawnWorker(60_000);
    // All of them are claimed; on a busy machine some have ended as well before this process looks.
    await eventually(async () => (await queue.countByStatus()).queued === undefined);
    expect(await killWorker(worker, 'SIGTERM')).toBe(0);
    await expectAllCompleted(ids);
  });

  it('returns long work on SIGTERM, without counting a death against it', async () => {
    await queue.enqueue(spins(40, 600_000));
    const worker = await queue.spawnWorker(FINISH_MS);
    await eventually(async () => (await running()) === 40);
    expect(await killWorker(worker, 'SIGTERM')).toBe(0);
    expect(await queue.countByStatus()).toEqual({ queued: 40 });
    const [{ kills }] = await queue.sql`select max(kills) as kills from backtest_queue`;
    expect(kills).toBe(0);
    expect((await queue.sql`select 1 from worker_processes`).length).toBe(0);
  });

  it('ends even a run that ignores SIGTERM', async () => {
    await queue.enqueue([{ act: 'deaf', ms: 600_000 }]);
    const worker = await queue.spawnWorker(FINISH_MS);
    await eventually(async () => (await running()) === 1);
    expect(await killWorker(worker, 'SIGTERM')).toBe(0);
    expect(await queue.countByStatus()).toEqual({ queued: 1 });
  });
});

describe('a pair of workers on one database', () => {
  it('shares the work, and runs each backtest once', async () => {
    await queue.spawnWorker();
    await queue.spawnWorker();
    // Every claim is recorded: on a busy machine, a look at the queue now and then can miss one of the workers.
    await queue.sql.unsafe(`
      drop table if exists claims_by_worker;
      drop function if exists record_claim cascade;
      create table claims_by_worker (worker text, backtest uuid);
      create function record_claim() returns trigger language plpgsql as $$
      begin
        insert into claims_by_worker values (new.claimed_by, new.id);
        return null;
      end $$;
      create trigger record_claims after update of claimed_by on backtest_queue
        for each row when (new.claimed_by is not null) execute function record_claim()`);
    // Dear ones: a share holds two of them. So many that a worker which wakes up a second late gets some too.
    const ids = await queue.enqueue(spins(400, 20), { cost: 300_000 });
    await queue.settled();
    const claims = await queue.sql<{ count: number }[]>`
      select count(*)::int as count from claims_by_worker group by worker`;
    expect(claims.length).toBe(2);
    expect(claims.reduce((sum, { count }) => sum + count, 0)).toBe(ids.length);
    await expectAllCompleted(ids);
    const [{ attempts }] = await queue.sql`select max(attempt) as attempts from backtest_results`;
    expect(attempts).toBe(1);
  });
});
