// Brings a database to the current schema: migrations/*.sql in order, then Graphile Worker's own tables.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Logger, runMigrations } from 'graphile-worker';
import pg from 'pg';
import { ROOT } from '../config.ts';
import { urlOf } from './connect.ts';
import type { Sql } from './connect.ts';
import { LOCKS } from './locks.ts';
import { splitDetails } from './splitDetails.ts';

/**
 * Applies pending migrations under a lock, each file in its own transaction. Migrations only go forward.
 * @returns the names of the files that were run now.
 */
export async function migrate(sql: Sql): Promise<string[]> {
  const folder = join(ROOT, 'migrations');
  const files = (await readdir(folder)).filter((name) => /^\d{4}_\w+\.sql$/.test(name)).sort();
  const connection = await sql.reserve();
  try {
    // A migration may rewrite a large table, and another host may have to be waited for.
    await connection`set statement_timeout = 0`;
    await connection`select pg_advisory_lock(hashtextextended(${LOCKS.migrations}, 0))`;
    await connection`
      create table if not exists migrations (name text primary key, applied_at timestamptz not null default now())`;
    const applied = new Set((await connection<{ name: string }[]>`select name from migrations`).map((row) => row.name));
    const pending = files.filter((name) => !applied.has(name));
    for (const name of pending) {
      const text = await readFile(join(folder, name), 'utf8');
      try {
        await connection.unsafe(`begin;\n${text}\n;insert into migrations (name) values ('${name}');\ncommit`);
      } catch (error) {
        await connection`rollback`;
        throw new Error(`Migration ${name} failed: ${(error as Error).message}`, { cause: error });
      }
    }
    await splitDetails(connection);
    await migrateGraphileWorker(urlOf(sql));
    return pending;
  } finally {
    await connection`select pg_advisory_unlock(hashtextextended(${LOCKS.migrations}, 0))`;
    await connection`reset statement_timeout`;
    connection.release();
  }
}

/**
 * Uses a pool of our own. Nothing would listen for errors on one that Graphile Worker made once it is done: if the
 * database stopped before the last connection is closed, the error would end the process.
 */
async function migrateGraphileWorker(connectionString: string): Promise<void> {
  const pool = new pg.Pool({ connectionString });
  // Queries report the errors that matter.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  try {
    await runMigrations({ pgPool: pool, logger: new Logger(() => () => {}) });
  } finally {
    await pool.end();
  }
}
