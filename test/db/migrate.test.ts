// Migrations: what has run is remembered, and two hosts that start at once do not trip over each other.
import { Logger, runOnce } from 'graphile-worker';
import pg from 'pg';
import { expect, it, onTestFinished, vi } from 'vitest';
import { connect } from '../../src/db/connect.ts';
import { migrate } from '../../src/db/migrate.ts';
import { createTestDatabase } from '../support/database.ts';

it('leaves nothing to run in a migrated database, in which Graphile Worker can take jobs', async () => {
  await using database = await createTestDatabase();
  expect(await migrate(database.sql)).toEqual([]);
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

it('runs each file once when two processes migrate at the same time', async () => {
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

it('rolls back a file that fails, and names it', async () => {
  await using database = await createTestDatabase();
  await database.sql`delete from migrations where name = '0001_workspaces.sql'`;
  await expect(migrate(database.sql)).rejects.toThrow(/Migration 0001_workspaces.sql failed: .*already exists/);
  // The lock and the connection are free again.
  await expect(migrate(database.sql)).rejects.toThrow(/0001_workspaces/);
});

it('makes uuidv7 ids that sort by creation time', async () => {
  await using database = await createTestDatabase();
  const [first] = await database.sql`select uuidv7() as id`;
  const [second] = await database.sql`select uuidv7() as id`;
  expect(String(first.id) < String(second.id)).toBe(true);
});
