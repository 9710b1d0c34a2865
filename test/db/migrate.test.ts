// Migrations: what has run is remembered, and two hosts that start at once do not trip over each other.
import { expect, test } from 'vitest';
import { connect } from '../../src/db/connect.ts';
import { migrate } from '../../src/db/migrate.ts';
import { createTestDatabase } from '../support/database.ts';

test('a migrated database has nothing left to run, and Graphile Worker can take jobs in it', async () => {
  await using database = await createTestDatabase();
  expect(await migrate(database.sql)).toEqual([]);
  const [job] = await database.sql`select task_identifier from graphile_worker.add_job('probe', '{}'::json) as job
    join lateral (select 'probe' as task_identifier) named on true`;
  expect(job.task_identifier).toBe('probe');
});

test('two processes that migrate at once run each file once', async () => {
  await using database = await createTestDatabase();
  await database.sql`drop schema public cascade`;
  await database.sql`create schema public`;
  await database.sql`drop schema graphile_worker cascade`;
  const other = connect(database.url);
  const runs = await Promise.all([migrate(database.sql), migrate(other)]);
  await other.end();
  expect(Math.min(...runs.map((files) => files.length))).toBe(0);
  const names = await database.sql<{ name: string }[]>`select name from migrations order by name`;
  expect(names.map((row) => row.name)).toEqual(runs.flat());
});

test('a file that fails leaves nothing behind and names itself', async () => {
  await using database = await createTestDatabase();
  await database.sql`delete from migrations where name = '0001_workspaces.sql'`;
  await expect(migrate(database.sql)).rejects.toThrow(/Migration 0001_workspaces.sql failed: .*already exists/);
  // The lock and the connection are free again.
  await expect(migrate(database.sql)).rejects.toThrow(/0001_workspaces/);
});

test('uuidv7 ids sort by the time they were made', async () => {
  await using database = await createTestDatabase();
  const [first] = await database.sql`select uuidv7() as id`;
  const [second] = await database.sql`select uuidv7() as id`;
  expect(String(first.id) < String(second.id)).toBe(true);
});
