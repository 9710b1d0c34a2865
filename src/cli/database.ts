// The database of a short command: found or started, migrated, and left as it was found.
import { readConfig } from '../config.ts';
import type { Config } from '../config.ts';
import { connect } from '../db/connect.ts';
import type { Sql } from '../db/connect.ts';
import { migrate } from '../db/migrate.ts';
import { resolveDatabase } from '../db/resolve.ts';

export type CommandDatabase = AsyncDisposable & {
  readonly sql: Sql;
  readonly url: string;
  readonly config: Config;
};

/** `await using database = await openDatabase()`. */
export async function openDatabase(): Promise<CommandDatabase> {
  const config = readConfig();
  const database = await resolveDatabase(config, { isTransient: true });
  const sql = connect(database.url, { max: 4 });
  const dispose = async () => {
    await sql.end({ timeout: 5 });
    await database[Symbol.asyncDispose]();
  };
  try {
    await migrate(sql);
  } catch (error) {
    await dispose();
    throw error;
  }
  return { sql, url: database.url, config, [Symbol.asyncDispose]: dispose };
}
