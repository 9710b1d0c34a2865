// The functions of the database follow their files: changed texts are applied, unchanged ones are left alone.
import { expect, it } from 'vitest';
import type { Sql } from '../../src/db/connect.ts';
import { applyFunctions, readFunctionTexts } from '../../src/db/migrate.ts';
import { createTestDatabase } from '../support/database.ts';
import { functionNames } from '../support/sqlFunctions.ts';

const apply = (sql: Sql, texts: ReadonlyMap<string, string>): Promise<string[]> =>
  sql.begin((tx) => applyFunctions(tx, texts));

/** What identifies each function as it was created, by name. */
async function identities(sql: Sql): Promise<Map<string, string>> {
  const rows = await sql<{ name: string; identity: string }[]>`
    select proname as name, format('%s %s', oid, xmin) as identity from pg_proc
    where pronamespace = 'public'::regnamespace order by proname`;
  return new Map(rows.map(({ name, identity }) => [name, identity]));
}

async function triggerNames(sql: Sql): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select tgname as name from pg_trigger where not tgisinternal and tgrelid in (
      select oid from pg_class where relnamespace = 'public'::regnamespace)`;
  return rows.map(({ name }) => name).toSorted();
}

it('creates one function per file, of the name of the file', async () => {
  await using database = await createTestDatabase();
  expect(await functionNames(database.sql)).toEqual([...(await readFunctionTexts()).keys()]);
});

it('leaves functions alone whose text has not changed', async () => {
  await using database = await createTestDatabase();
  const before = await identities(database.sql);
  expect(await apply(database.sql, await readFunctionTexts())).toEqual([]);
  expect(await identities(database.sql)).toEqual(before);
});

it('applies a text that has changed, with other arguments and another result, and no other text', async () => {
  await using database = await createTestDatabase();
  const { sql } = database;
  const before = await identities(sql);
  const texts = new Map(await readFunctionTexts());
  texts.set(
    'current_virtual_time',
    `create function current_virtual_time(seconds integer default 7) returns integer language sql as 'select seconds';`,
  );
  expect(await apply(sql, texts)).toEqual(['current_virtual_time']);
  expect(await sql`select current_virtual_time() as now`).toEqual([{ now: 7 }]);
  const after = await identities(sql);
  expect([...after].filter(([name, identity]) => before.get(name) !== identity).map(([name]) => name)).toEqual([
    'current_virtual_time',
  ]);
  expect(await apply(sql, texts)).toEqual([]);
  expect(await apply(sql, await readFunctionTexts())).toEqual(['current_virtual_time']);
});

it('creates the triggers of a changed text in place of those of the text before', async () => {
  await using database = await createTestDatabase();
  const { sql } = database;
  const before = await triggerNames(sql);
  const texts = new Map(await readFunctionTexts());
  const name = 'refuse_terminal_sweep_change';
  texts.set(name, texts.get(name)!.replace('sweeps_terminal_is_final', 'sweeps_end_once'));
  expect(await apply(sql, texts)).toEqual([name]);
  expect(await triggerNames(sql)).toEqual(
    before.map((each) => (each === 'sweeps_terminal_is_final' ? 'sweeps_end_once' : each)).toSorted(),
  );
});

it('drops a function whose file is gone, with its triggers, and no function that has no file of ours', async () => {
  await using database = await createTestDatabase();
  const { sql } = database;
  await sql`create function of_the_operator() returns integer language sql as 'select 1'`;
  const texts = new Map(await readFunctionTexts());
  texts.delete('refuse_ready_change');
  expect(await apply(sql, texts)).toEqual(['refuse_ready_change']);
  expect(await functionNames(sql)).toEqual([...texts.keys(), 'of_the_operator'].toSorted());
  expect(await triggerNames(sql)).not.toContain('strategy_versions_ready_is_final');
});

it.each([
  ['does not parse', 'create function requeue_backtests() returns void language sql as', /syntax error/],
  [
    'refers to a table that does not exist',
    `create function requeue_backtests() returns void language sql as 'delete from nowhere'`,
    /relation "nowhere" does not exist/,
  ],
  [
    'does not compile',
    `create function requeue_backtests() returns void language plpgsql as 'begin wrong; end'`,
    /syntax error/,
  ],
  [
    'creates another function',
    `create function open_turns() returns void language sql as ''`,
    /could not find a function named "requeue_backtests"/,
  ],
])('leaves all functions as they were when one %s, and names its file', async (_, text, message) => {
  await using database = await createTestDatabase();
  const { sql } = database;
  const before = await identities(sql);
  const texts = new Map(await readFunctionTexts());
  texts.set('add_stored_bytes', `${texts.get('add_stored_bytes')} -- changed`);
  texts.set('requeue_backtests', text);
  const refusal = apply(sql, texts);
  await expect(refusal).rejects.toThrow(/^src\/db\/functions\/requeue_backtests\.sql failed: /);
  await expect(refusal).rejects.toThrow(message);
  expect(await identities(sql)).toEqual(before);
});

it('replaces functions of the same names that have lost their comments, as in a restored dump', async () => {
  await using database = await createTestDatabase();
  const { sql } = database;
  await sql`comment on function close_turns is null`;
  expect(await apply(sql, await readFunctionTexts())).toEqual(['close_turns']);
});
