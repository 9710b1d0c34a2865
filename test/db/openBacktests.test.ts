// Statements about open backtests read those, whatever the statistics say: they are from when the queue was longer or
// empty, and the planner, who believes them, may read all rows instead.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { listBacktests } from '../../src/db/backtestLists.ts';
import type { RunStatus } from '../../src/db/runStatus.ts';
import { claimDue, finishRuns, returnRuns, saveProgress, type Claim } from '../../src/db/claims.ts';
import type { Transaction } from '../../src/db/connect.ts';
import { STATISTIC_POSITIONS } from '../../src/engine/index.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { enqueue, makeWorkspace } from '../support/queue.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());

const COUNT = 3_000;
const FAILED = { status: 'failed', isCached: false, result: null, error: {}, barsDone: 0, barsTotal: 0 } as const;

/** By this connection; the statistics of earlier transactions may still be among them. */
async function rowsRead(tx: Transaction, table: string): Promise<number> {
  const [row] = await tx<[{ count: number }?]>`
    select (seq_tup_read + idx_tup_fetch)::int as count from pg_stat_xact_user_tables where relname = ${table}`;
  return row?.count ?? 0;
}

it('reads few rows when few are open and the statistics say that half of all are', async () => {
  const { sql } = database;
  const workspace = await makeWorkspace(sql);
  const worker = randomUUID();
  await enqueue(
    sql,
    workspace,
    { sha256: 'a' },
    Array.from({ length: COUNT }, () => ({})),
  );
  const finish = (runs: readonly Claim[]) =>
    finishRuns(
      sql,
      runs.map(({ id, attempt }) => ({ id, attempt, ...FAILED })),
    );
  await finish((await claimDue(sql, worker, COUNT / 2, 1e9)).runs);
  await sql`analyze`;
  const { runs } = await claimDue(sql, worker, COUNT / 2 - 2, 1e9);
  await finish(runs.slice(1));
  const list = (status: RunStatus) =>
    sql.begin(async (tx) => {
      const before = await rowsRead(tx, 'backtests');
      const page = { limit: 10, after: null, order: { name: 'createdAt', descending: true } };
      const { rows, total } = await listBacktests(tx, workspace.workspaceId, { status }, page, STATISTIC_POSITIONS);
      return { listed: rows.map(({ row }) => row.status), total, read: (await rowsRead(tx, 'backtests')) - before };
    });
  const [queued, running] = [await list('queued'), await list('running')];
  expect(queued).toMatchObject({ listed: ['queued', 'queued'], total: 2 });
  expect(running).toMatchObject({ listed: ['running'], total: 1 });
  // A few lookups for each, for the page and for the total.
  expect(queued.read).toBeLessThan(100);
  expect(running.read).toBeLessThan(100);
});

it.each([
  {
    what: 'stores results',
    work: (tx: Transaction, claims: readonly Claim[]) =>
      finishRuns(
        tx,
        claims.map(({ id, attempt }) => ({ id, attempt, ...FAILED })),
      ),
  },
  { what: 'gives claims back', work: returnRuns },
  {
    what: 'saves progress',
    work: async (tx: Transaction, claims: readonly Claim[]) => {
      await saveProgress(
        tx,
        claims.map(({ id, attempt }, at) => ({ id, attempt, barsDone: at, barsTotal: 2 * at })),
      );
      const rows = await tx<{ id: string; done: number; total: number }[]>`
        select id, bars_done as done, bars_total as total from backtest_queue
        where id = any (${claims.map(({ id }) => id)})`;
      const saved = new Map(rows.map((row) => [row.id, row]));
      return claims.filter(({ id }, at) => saved.get(id)?.done === at && saved.get(id)?.total === 2 * at);
    },
  },
])('$what by looking up each claim when the statistics say that nothing runs', async ({ work }) => {
  const { sql } = database;
  const workspace = await makeWorkspace(sql);
  await enqueue(
    sql,
    workspace,
    { sha256: 'a' },
    Array.from({ length: COUNT }, () => ({})),
  );
  await sql`analyze`;
  const { runs } = await claimDue(sql, randomUUID(), 1_000, 1e9);
  const read = await sql.begin(async (tx) => {
    const before = await rowsRead(tx, 'backtest_queue');
    expect(await work(tx, runs.slice(0, 100))).toHaveLength(100);
    return (await rowsRead(tx, 'backtest_queue')) - before;
  });
  expect(read).toBeLessThan(500);
});
