// A database as an earlier version left it.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT } from '../../src/config.ts';
import type { Sql } from '../../src/db/connect.ts';

/** Empties the database and runs the migrations before the one that is named. */
export async function migrateBefore(sql: Sql, first: string): Promise<void> {
  await sql`drop schema public cascade`;
  await sql`create schema public`;
  await sql`create table migrations (name text primary key, applied_at timestamptz not null default now())`;
  const folder = join(ROOT, 'migrations');
  for (const name of (await readdir(folder)).sort()) {
    if (name >= first) break;
    await sql.unsafe(await readFile(join(folder, name), 'utf8'));
    await sql`insert into migrations (name) values (${name})`;
  }
}
