// The functions that the database has now.
import type { Sql } from '../../src/db/connect.ts';

/** Names of the functions of our schema, sorted. */
export async function functionNames(sql: Sql): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select proname as name from pg_proc where pronamespace = 'public'::regnamespace and proname <> 'uuidv7'`;
  return rows.map(({ name }) => name).toSorted();
}
