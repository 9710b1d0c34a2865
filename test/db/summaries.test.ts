// Flat summaries in the database: numbers of every kind come back, and backtests are sorted by them.
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { listBacktests } from '../../src/db/backtestLists.ts';
import { findBacktest } from '../../src/db/backtests.ts';
import { claimDue, finishRuns, type FinishedRun } from '../../src/db/claims.ts';
import type { Sql } from '../../src/db/connect.ts';
import { FLAT_KEYS, STATISTIC_POSITIONS } from '../../src/engine/index.ts';
import { createTestDatabase } from '../support/database.ts';
import { enqueue, makeWorkspace, type TestWorkspace } from '../support/queue.ts';
import { summaryBytes } from '../support/summaries.ts';

/** Ends a backtest for each summary in one statement; null: it fails. @returns their ids */
async function finish(
  sql: Sql,
  workspace: TestWorkspace,
  summaries: readonly (Parameters<typeof summaryBytes>[0] | null)[],
  equal: { readonly runKey?: string } = {},
): Promise<string[]> {
  const params = summaries.map(() => ({}));
  const ids = await enqueue(sql, workspace, { sha256: 'a' }, params, equal);
  const { runs } = await claimDue(sql, randomUUID(), ids.length, 1e12);
  const bytes = Buffer.from('x');
  const finished = runs.map(({ id, attempt }): FinishedRun => {
    const flat = summaries[ids.indexOf(id)];
    const common = { id, attempt, isCached: false, barsDone: 1, barsTotal: 1 };
    if (flat === null) return { ...common, status: 'failed', result: null, error: { code: 'TIME_LIMIT' } };
    const result = { summary: summaryBytes(flat), detail: bytes, trades: bytes, warnings: [], diagnosis: null };
    return { ...common, status: 'completed', result, error: null };
  });
  expect(await finishRuns(sql, finished)).toHaveLength(ids.length);
  return ids;
}

const sortedBy = async (sql: Sql, workspaceId: string, name: string, descending: boolean) => {
  const order = { name, descending };
  return (await listBacktests(sql, workspaceId, {}, { order, limit: 20, after: null }, STATISTIC_POSITIONS)).rows;
};

it('keeps every number as it is, and each with its own backtest', async () => {
  await using database = await createTestDatabase();
  const workspace = await makeWorkspace(database.sql);
  const values = [0.1 + 0.2, -1e-320, Number.MAX_VALUE, 5e-324, 2 ** 53 - 1, 1 / 3, -1e21, null];
  const flats = values.map((value) => Object.fromEntries(FLAT_KEYS.map((key, at) => [key, at % 3 === 0 ? value : at])));
  const ids = await finish(database.sql, workspace, [...flats, null]);
  const stored = await Promise.all(
    ids.map(async (id) => (await findBacktest(database.sql, workspace.workspaceId, id, STATISTIC_POSITIONS))!.summary),
  );
  expect(stored.slice(0, values.length)).toEqual(flats);
  expect(stored.at(-1)).toBeNull();
});

it('sorts by a number, backtests without a value last, and refuses a result without numbers', async () => {
  await using database = await createTestDatabase();
  const { sql } = database;
  const workspace = await makeWorkspace(sql);
  const [high, none, low, middle] = await finish(sql, workspace, [
    { returnPct: 0.5, sharpeRatio: 3 },
    { returnPct: 0.25 },
    { returnPct: 0.75, sharpeRatio: -2 },
    { sharpeRatio: 1 },
  ]);
  const order = async (name: string, descending: boolean) =>
    (await sortedBy(sql, workspace.workspaceId, name, descending)).map(({ id }) => id);
  expect(await order('sharpeRatio', true)).toEqual([high, middle, low, none]);
  expect(await order('sharpeRatio', false)).toEqual([low, middle, high, none]);
  const found = await sortedBy(sql, workspace.workspaceId, 'returnPct', true);
  expect(found.map(({ row }) => row.returnPct)).toEqual([0.75, 0.5, 0.25, null]);
  expect(found.map(({ id }) => id)).toEqual([low, high, none, middle]);
  await expect(
    sql`insert into backtest_results (id, workspace_id, status)
      values (${randomUUID()}, ${workspace.workspaceId}, 'completed')`,
  ).rejects.toThrow(/backtest_results_check/);
});

it('copies the result of an equal run', async () => {
  await using database = await createTestDatabase();
  const { sql } = database;
  const workspace = await makeWorkspace(sql);
  await finish(sql, workspace, [{ returnPct: 1 }], { runKey: 'equal' });
  const [second] = await enqueue(sql, workspace, { sha256: 'a' }, [{}], { runKey: 'equal' });
  const { copiedIds } = await claimDue(sql, randomUUID(), 1, 1e12);
  expect(copiedIds).toEqual([second]);
  const copy = await findBacktest(sql, workspace.workspaceId, second, STATISTIC_POSITIONS);
  expect(copy).toMatchObject({ status: 'completed', isCached: true, summary: { returnPct: 1 } });
});
