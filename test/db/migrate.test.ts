// Migrations: applied files are remembered, two hosts that start at the same time do not disturb each other, and a
// database of another version is refused.
import { Logger, runOnce } from 'graphile-worker';
import pg from 'pg';
import { expect, it, onTestFinished, vi } from 'vitest';
import { connect } from '../../src/db/connect.ts';
import { migrate } from '../../src/db/migrate.ts';
import { callCommand } from '../support/command.ts';
import { createTestDatabase } from '../support/database.ts';
import { functionNames } from '../support/sqlFunctions.ts';

it('leaves nothing to run in a migrated database, in which Graphile Worker can take jobs', async () => {
  await using database = await createTestDatabase();
  expect(await migrate(database.sql)).toEqual({ migrations: [], functions: [] });
  await database.sql`select graphile_worker.add_job('probe', '{"number": 7}'::json)`;
  const payloads: unknown[] = [];
  await runOnce({
    connectionString: database.url,
    logger: new Logger(() => () => {}),
    taskList: { probe: async (payload) => void payloads.push(payload) },
  });
  expect(payloads).toEqual([{ number: 7 }]);
  const [{ left }] = await database.sql`select count(*)::int as left from graphile_worker.jobs`;
  expect(left).toBe(0);
});

it('has an index for every reference to rows that are deleted, which Postgres looks for at each deletion', async () => {
  await using database = await createTestDatabase();
  const rows = await database.sql<{ place: string }[]>`
    select format('%s.%s', c.conrelid::regclass, a.attname) as place
    from pg_constraint c join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
    where c.contype = 'f' and c.connamespace = 'public'::regnamespace and not exists (
      select 1 from pg_index i where i.indrelid = c.conrelid and i.indkey[0] = c.conkey[1])
    order by place`;
  // Users are never deleted, and there are few series.
  expect(rows.map(({ place }) => place)).toEqual(['api_keys.created_by', 'series.sha256']);
});

it('runs each migration and creates each function once when two processes migrate at the same time', async () => {
  await using database = await createTestDatabase();
  await database.sql`drop schema public cascade`;
  await database.sql`create schema public`;
  await database.sql`drop schema graphile_worker cascade`;
  const other = connect(database.url);
  const runs = await Promise.all([migrate(database.sql), migrate(other)]);
  await other.end();
  expect(runs).toContainEqual({ migrations: [], functions: [] });
  const names = await database.sql<{ name: string }[]>`select name from migrations order by name`;
  expect(names.map((row) => row.name)).toEqual(runs.flatMap(({ migrations }) => migrations));
  expect(await functionNames(database.sql)).toEqual(runs.flatMap(({ functions }) => functions));
});

it('outlives a database that stops while a connection of Graphile Worker is being closed', async () => {
  await using database = await createTestDatabase();
  const ended = vi.spyOn(pg.Pool.prototype, 'end');
  onTestFinished(() => ended.mockRestore());
  await migrate(database.sql);
  const pools = ended.mock.contexts;
  expect(pools).toHaveLength(1);
  // What a pool does when the server ends an idle connection: it throws where nobody listens.
  expect(() => (pools[0] as pg.Pool).emit('error', new Error('terminating connection'), {})).not.toThrow();
});

it('rolls back a migration that fails, and names it', async () => {
  await using database = await createTestDatabase();
  await database.sql`delete from migrations`;
  await expect(migrate(database.sql)).rejects.toThrow(/Migration 0001_schema.sql failed: .*already exists/);
  // The lock and the connection are free again.
  await expect(migrate(database.sql)).rejects.toThrow(/0001_schema/);
});

it('refuses a database from before the first release, and says how to start afresh and how to export', async () => {
  await using database = await createTestDatabase();
  const { sql, url } = database;
  await sql`drop schema public cascade`;
  await sql`create schema public`;
  await sql`create table migrations (name text primary key, applied_at timestamptz not null default now())`;
  for (const name of ['0001_workspaces.sql', '0002_market.sql', '0027_ended_memberships.sql'])
    await sql`insert into migrations (name) values (${name})`;
  await sql`create table workspaces (id uuid primary key)`;
  const { code, stdout, stderr } = await callCommand(['migrate'], { DATABASE_URL: url });
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(/^error: The database was made by a version of Candlepool from before its first release/);
  for (const advice of ['DATA_DIR to a new folder', 'DATABASE_URL to an empty database', 'candlepool data export'])
    expect(stderr).toContain(advice);
  expect(stderr).not.toContain(' at ');
  const tables = await sql<{ tablename: string }[]>`
    select tablename from pg_tables where schemaname = 'public' order by tablename`;
  expect(tables.map((row) => row.tablename)).toEqual(['migrations', 'workspaces']);
});

it('refuses a database that a newer version has migrated, whose functions it would replace', async () => {
  await using database = await createTestDatabase();
  await database.sql`insert into migrations (name) values ('9999_later.sql')`;
  await expect(migrate(database.sql)).rejects.toThrow(/newer version of Candlepool.*9999_later\.sql.*backup/);
});

it('makes uuidv7 ids that sort by creation time', async () => {
  await using database = await createTestDatabase();
  const [first] = await database.sql`select uuidv7() as id`;
  const [second] = await database.sql`select uuidv7() as id`;
  expect(String(first.id) < String(second.id)).toBe(true);
});
