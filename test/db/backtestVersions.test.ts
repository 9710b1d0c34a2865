// A backtest belongs to a strategy version: triggers stand where a foreign key would be checked for each row.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { insertBacktests } from '../../src/db/backtests.ts';
import type { Queryable } from '../../src/db/connect.ts';
import { isReferenceGone } from '../../src/db/sqlErrors.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { makeWorkspace, newBacktests, type TestWorkspace } from '../support/queue.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());

const enqueue = (workspace: TestWorkspace, sql: Queryable = database.sql) =>
  insertBacktests(sql, workspace.workspaceId, newBacktests(workspace, { sha256: 'a' }, [{}, {}]));

const countOf = async ({ workspaceId }: TestWorkspace): Promise<[number, number]> => {
  const [{ rows, open }] = await database.sql<[{ rows: number; open: number }]>`
    select (select count(*) from backtests where workspace_id = ${workspaceId}) as rows,
      (select open from workspace_turns where workspace_id = ${workspaceId}) as open`;
  return [rows, open];
};

/** Resolves when a statement waits for the lock of another. */
const somebodyWaits = () =>
  eventually(async () => {
    const [{ waiting }] = await database.sql<[{ waiting: boolean }]>`
      select exists (select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock')
        as waiting`;
    return waiting;
  });

it('refuses a backtest of a version that does not exist, with all that came with it', async () => {
  const workspace = await makeWorkspace(database.sql);
  const items = newBacktests(workspace, { sha256: 'a' }, [{}, {}]);
  const stray = { ...items[1], strategyVersionId: randomUUID() };
  const error: unknown = await insertBacktests(database.sql, workspace.workspaceId, [items[0], stray]).catch(
    (caught: unknown) => caught,
  );
  expect(isReferenceGone(error)).toBe(true);
  expect((await countOf(workspace))[0]).toBe(0);
});

it('deletes the backtests of a version with it, and those of no other', async () => {
  const [gone, kept] = [await makeWorkspace(database.sql), await makeWorkspace(database.sql)];
  await enqueue(gone);
  await enqueue(kept);
  await database.sql`delete from strategy_versions where id = ${gone.strategyVersionId}`;
  expect(await countOf(gone)).toEqual([0, 0]);
  expect(await countOf(kept)).toEqual([2, 2]);
});

it('waits for a deletion of the version, and is refused when it happens', async () => {
  const workspace = await makeWorkspace(database.sql);
  const insertion = await database.sql.begin(async (tx) => {
    await tx`delete from strategy_versions where id = ${workspace.strategyVersionId}`;
    const waiting = enqueue(workspace).catch((error: unknown) => error);
    await somebodyWaits();
    // In an object, or the transaction would wait for it.
    return { waiting };
  });
  expect(isReferenceGone(await insertion.waiting)).toBe(true);
});

it('keeps its version until it is committed, and is deleted with it then', async () => {
  const workspace = await makeWorkspace(database.sql);
  const deletion = await database.sql.begin(async (tx) => {
    await enqueue(workspace, tx);
    const waiting = database.sql`delete from strategy_versions where id = ${workspace.strategyVersionId}`.execute();
    await somebodyWaits();
    return { waiting };
  });
  await deletion.waiting;
  expect(await countOf(workspace)).toEqual([0, 0]);
});
