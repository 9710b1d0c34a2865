// Brings a database to the current schema: migrations/*.sql in order, then the functions of src/db/functions/, then
// Graphile Worker's own tables. Each file of src/db/functions/ creates the function it is named after, and the triggers
// that call it; it is applied again when its text has changed, and the function is dropped when the file is gone.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Logger, runMigrations } from 'graphile-worker';
import pg from 'pg';
import { ROOT } from '../config.ts';
import { urlOf, type Queryable, type Sql } from './connect.ts';
import { LOCKS } from './locks.ts';
import { hash } from 'node:crypto';

const MIGRATIONS = join(ROOT, 'migrations');

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
  const files = (await readdir(MIGRATIONS)).filter((name) => /^\d{4}_\w+\.sql$/.test(name)).sort();
  await tx`
    create table if not exists migrations (name text primary key, applied_at timestamptz not null default now())`;
  const applied = new Set((await tx<{ name: string }[]>`select name from migrations`).map((row) => row.name));
  requireKnown(applied, files);
  const pending = files.filter((name) => !applied.has(name));
  for (const name of pending) {
    const text = await readFile(join(MIGRATIONS, name), 'utf8');
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

const FUNCTIONS = 'src/db/functions';

/** The text of each file, by the name of its function. */
type FunctionTexts = ReadonlyMap<string, string>;

export async function readFunctionTexts(): Promise<FunctionTexts> {
  const names = (await readdir(join(ROOT, FUNCTIONS)))
    .filter((file) => /^\w+\.sql$/.test(file))
    .map((file) => file.slice(0, -'.sql'.length))
    .sort();
  const texts = names.map((name) => readFile(join(ROOT, FUNCTIONS, `${name}.sql`), 'utf8'));
  return new Map((await Promise.all(texts)).map((text, index) => [names[index], text]));
}

/**
 * Makes the functions of the database those of `texts`. A function whose text is unchanged is left alone.
 * @param tx a transaction, so that a text that fails leaves all functions as they were
 * @returns the names of the functions that were created or dropped
 */
export async function applyFunctions(tx: Queryable, texts: FunctionTexts): Promise<string[]> {
  const stored = await readStored(tx, [...texts.keys()]);
  const isCurrent = ({ name, comment }: StoredFunction): boolean =>
    texts.has(name) && comment === commentOf(name, texts.get(name)!);
  const current = new Set(stored.filter(isCurrent).map(({ name }) => name));
  const outdated = stored.filter((found) => !isCurrent(found));
  const changed = [...texts.keys()].filter((name) => !current.has(name));
  if (changed.length === 0 && outdated.length === 0) return [];
  for (const { name, signature, triggers } of outdated) {
    const drops = [...triggers.map((trigger) => `drop trigger ${trigger}`), `drop function ${signature}`];
    await run(tx, name, drops.join(';\n'));
  }
  // A function may call one that is created after it, so the bodies are checked when all functions exist.
  await tx`set local check_function_bodies = off`;
  for (const name of changed) {
    const text = texts.get(name)!;
    await run(tx, name, `${text};\ncomment on function ${name} is '${commentOf(name, text)}'`);
  }
  await checkBodies(tx, [...texts.keys()]);
  return [...new Set([...outdated.map(({ name }) => name), ...changed])].toSorted();
}

/** The comment of a function in the database says which text it was created from. */
const commentOf = (name: string, text: string): string => `${FUNCTIONS}/${name}.sql, sha256 ${hash('sha256', text)}`;

interface StoredFunction {
  readonly name: string;
  /** The name with the types of the arguments, as `drop function` needs it. */
  readonly signature: string;
  readonly comment: string | null;
  /** Triggers that call it, as `drop trigger` needs them. */
  readonly triggers: readonly string[];
}

/** The functions in the database that have one of the names or were created from a file that may be gone. */
const readStored = (tx: Queryable, names: readonly string[]) => tx<StoredFunction[]>`
  select p.proname as name, p.oid::regprocedure::text as signature, obj_description(p.oid, 'pg_proc') as comment, array(
    select format('%I on %s', t.tgname, t.tgrelid::regclass) from pg_trigger t where t.tgfoid = p.oid
  ) as triggers
  from pg_proc p
  where p.pronamespace = current_schema()::regnamespace and (
    p.proname = any (${names as string[]}::text[])
      or starts_with(obj_description(p.oid, 'pg_proc'), ${`${FUNCTIONS}/`}::text))`;

/** Lets the language of each function check its body. */
async function checkBodies(tx: Queryable, names: readonly string[]): Promise<void> {
  await tx`set local check_function_bodies = on`;
  const checks = await tx<{ name: string; statement: string }[]>`
    select p.proname as name, format('select %s(%s)', l.lanvalidator::regproc, p.oid) as statement
    from pg_proc p join pg_language l on l.oid = p.prolang
    where p.pronamespace = current_schema()::regnamespace and p.proname = any (${names as string[]}::text[])`;
  for (const { name, statement } of checks) await run(tx, name, statement);
}

async function run(tx: Queryable, name: string, statements: string): Promise<void> {
  try {
    await tx.unsafe(statements);
  } catch (error) {
    throw new Error(`${FUNCTIONS}/${name}.sql failed: ${(error as Error).message}`, { cause: error });
  }
}
