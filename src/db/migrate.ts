// Brings a database to the current schema: migrations/*.sql in order, then the functions of src/db/functions/, then
// Graphile Worker's own tables.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Logger, runMigrations } from 'graphile-worker';
import pg from 'pg';
import { ROOT } from '../config.ts';
import { urlOf } from './connect.ts';
import type { Queryable, Sql } from './connect.ts';
import { LOCKS } from './locks.ts';
import { applyFunctions, readFunctionTexts } from './sqlFunctions.ts';

const FOLDER = join(ROOT, 'migrations');

interface Applied {
  /** Names of the files that were run now. */
  readonly migrations: readonly string[];
  /** Names of the functions that were created or dropped now. */
  readonly functions: readonly string[];
}

/**
 * Applies pending migrations and changed functions under a lock, all in one transaction. Migrations only go forward.
 * @throws DatabaseVersionError
 */
export async function migrate(sql: Sql): Promise<Applied> {
  const connection = await sql.reserve();
  try {
    // A migration may rewrite a large table, and another host may have to be waited for.
    await connection`set statement_timeout = 0`;
    await connection`select pg_advisory_lock(hashtextextended(${LOCKS.migrations}, 0))`;
    const applied = await applyAll(connection);
    await migrateGraphileWorker(urlOf(sql));
    return applied;
  } finally {
    await connection`select pg_advisory_unlock(hashtextextended(${LOCKS.migrations}, 0))`;
    await connection`reset statement_timeout`;
    connection.release();
  }
}

async function applyAll(connection: Queryable): Promise<Applied> {
  await connection`begin`;
  try {
    const migrations = await applyMigrations(connection);
    const functions = await applyFunctions(connection, await readFunctionTexts());
    await connection`commit`;
    return { migrations, functions };
  } catch (error) {
    await connection`rollback`;
    throw error;
  }
}

/** @returns the names of the files that were run now */
async function applyMigrations(tx: Queryable): Promise<string[]> {
  const files = (await readdir(FOLDER)).filter((name) => /^\d{4}_\w+\.sql$/.test(name)).sort();
  await tx`
    create table if not exists migrations (name text primary key, applied_at timestamptz not null default now())`;
  const applied = new Set((await tx<{ name: string }[]>`select name from migrations`).map((row) => row.name));
  requireKnown(applied, files);
  const pending = files.filter((name) => !applied.has(name));
  for (const name of pending) {
    const text = await readFile(join(FOLDER, name), 'utf8');
    try {
      await tx.unsafe(`${text};\ninsert into migrations (name) values ('${name}')`);
    } catch (error) {
      throw new Error(`Migration ${name} failed: ${(error as Error).message}`, { cause: error });
    }
  }
  return pending;
}

/** The first of 27 migrations that were replaced by one before the first release. */
const FIRST_OF_OLD_NUMBERING = '0001_workspaces.sql';

/** The tables of the database are not those of this version; the message says what to do. */
class DatabaseVersionError extends Error {
  override readonly name = 'DatabaseVersionError';
}

/** Refuses a database to which a migration was applied that this version does not have. */
function requireKnown(applied: ReadonlySet<string>, files: readonly string[]): void {
  if (applied.has(FIRST_OF_OLD_NUMBERING))
    throw new DatabaseVersionError(
      'The database was made by a version of Candlepool from before its first release, and this version cannot read ' +
        'its tables. To start afresh, set DATA_DIR to a new folder, or DATABASE_URL to an empty database. To keep ' +
        'market data, export each series first, with the version that made the database: candlepool data list, then ' +
        'candlepool data export --symbol <symbol> --timeframe <timeframe> --out <file>.',
    );
  const unknown = applied.values().find((name) => !files.includes(name));
  if (unknown !== undefined)
    throw new DatabaseVersionError(
      `The database was migrated by a newer version of Candlepool: this version does not have ${unknown}. ` +
        'Start that version, or restore a backup from before the upgrade.',
    );
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
