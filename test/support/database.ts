// A real Postgres for tests: one embedded server per run, one migrated template, one clone of it (24 ms) per test file.
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '../../src/db/connect.ts';
import type { Sql } from '../../src/db/connect.ts';
import { startEmbedded } from '../../src/db/embedded.ts';
import type { EmbeddedServer } from '../../src/db/embedded.ts';
import { migrate } from '../../src/db/migrate.ts';
import { eventually } from './eventually.ts';
import { RUN_FOLDER, RUN_PID } from './databaseRun.ts';

export type TestDatabase = AsyncDisposable & { readonly url: string; readonly sql: Sql };

const TEMPLATE = 'candlepool_template';
/** Serializes the making of the template between test files that start together. */
const TEMPLATE_LOCK = 'candlepool test template';
/** Nothing here outlives the run, so nothing waits for the disk. */
const SETTINGS = { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off' };

/** The same server, another database. */
export function withDatabase(url: string, database: string): string {
  const parsed = new URL(url);
  parsed.pathname = `/${database}`;
  return parsed.href;
}

/**
 * A fresh, migrated database of its own, empty of rows. `await using database = await createTestDatabase()`, or dispose
 * in afterAll. The server starts with the first call of a run, so files that need no database pay nothing.
 */
export async function createTestDatabase(): Promise<TestDatabase> {
  const server = await openRunServer();
  const admin = connect(server.url, { max: 1 });
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await makeTemplate(admin, server.url);
  await admin.unsafe(`create database ${name} template ${TEMPLATE}`);
  const url = withDatabase(server.url, name);
  const sql = connect(url);
  return {
    url,
    sql,
    [Symbol.asyncDispose]: async () => {
      await sql.end({ timeout: 2 });
      await connectionsGone(admin, name);
      await admin.unsafe(`drop database if exists ${name} with (force)`);
      await admin.end({ timeout: 2 });
      await server[Symbol.asyncDispose]();
    },
  };
}

/** How long a pool may take to close what it no longer uses. */
const CLOSING_MS = 3_000;

/**
 * Waits for connections that are closing: Graphile's migration pool hangs up a moment after it says that it is done,
 * and a forced drop in that moment is an error nobody listens for. What is still there later is forced.
 */
async function connectionsGone(admin: Sql, name: string): Promise<void> {
  const areGone = async (): Promise<boolean> => {
    const [{ count }] = await admin<{ count: number }[]>`
      select count(*)::int as count from pg_stat_activity where datname = ${name}`;
    return count === 0;
  };
  await eventually(areGone, { ms: CLOSING_MS }).catch(() => {});
}

/** Under vitest the run's server (stopped by its global setup), elsewhere one that lives as long as the database. */
async function openRunServer(): Promise<EmbeddedServer> {
  const folder = process.env[RUN_FOLDER];
  if (folder !== undefined) {
    return startEmbedded(folder, { ownerPid: Number(process.env[RUN_PID]), settings: SETTINGS });
  }
  const own = await mkdtemp(join(tmpdir(), 'candlepool-test-own-'));
  const server = await startEmbedded(own, { settings: SETTINGS });
  return {
    ...server,
    [Symbol.asyncDispose]: async () => {
      await server[Symbol.asyncDispose]();
      await rm(own, { recursive: true, force: true });
    },
  };
}

async function makeTemplate(admin: Sql, serverUrl: string): Promise<void> {
  await admin`select pg_advisory_lock(hashtextextended(${TEMPLATE_LOCK}, 0))`;
  try {
    const existing = await admin`select 1 from pg_database where datname = ${TEMPLATE}`;
    if (existing.length > 0) return;
    const unfinished = `${TEMPLATE}_unfinished`;
    await admin.unsafe(`drop database if exists ${unfinished} with (force)`);
    await admin.unsafe(`create database ${unfinished}`);
    const sql = connect(withDatabase(serverUrl, unfinished), { max: 2 });
    await migrate(sql).finally(() => sql.end({ timeout: 2 }));
    await admin.unsafe(`alter database ${unfinished} rename to ${TEMPLATE}`);
  } finally {
    await admin`select pg_advisory_unlock(hashtextextended(${TEMPLATE_LOCK}, 0))`;
  }
}
