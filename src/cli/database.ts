// The database of a short command: found or started, migrated, and left as it was found.
import { constants } from 'node:os';
import { readConfig } from '../config.ts';
import type { Config } from '../config.ts';
import { connect } from '../db/connect.ts';
import type { Sql } from '../db/connect.ts';
import { migrate } from '../db/migrate.ts';
import { resolveDatabase } from '../db/resolve.ts';
import { beginLifetime, StopAsked } from './lifetime.ts';

export type CommandDatabase = AsyncDisposable & {
  readonly sql: Sql;
  readonly url: string;
  readonly config: Config;
};

/**
 * `await using database = await openDatabase()`. A signal ends the command, but only after stopping a Postgres that it
 * started.
 */
export async function openDatabase(): Promise<CommandDatabase> {
  const lifetime = beginLifetime();
  const config = readConfig();
  const database = await resolveDatabase(config, { signal: lifetime.signal }).catch((error) => {
    if (error instanceof StopAsked) process.exit(128 + constants.signals[error.asked]);
    throw error;
  });
  const sql = connect(database.url, { max: 4 });
  const close = async (timeout: number): Promise<void> => {
    await sql.end({ timeout });
    await database[Symbol.asyncDispose]();
    lifetime[Symbol.dispose]();
  };
  void lifetime.stopAsked.then(async (signal) => {
    await close(0);
    process.exit(128 + constants.signals[signal]);
  });
  // After a signal, queries fail; the command must wait for its end instead of reporting those failures.
  const dispose = (): Promise<void> => (lifetime.signal.aborted ? new Promise(() => {}) : close(5));
  try {
    await migrate(sql);
  } catch (error) {
    await dispose();
    throw error;
  }
  return { sql, url: database.url, config, [Symbol.asyncDispose]: dispose };
}
