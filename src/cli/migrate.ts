// candlepool migrate: brings the database to the current schema, for deployments that migrate before they start other
// processes.
import type { Command } from 'commander';
import { readConfig } from '../config.ts';
import { connect } from '../db/connect.ts';
import { migrate } from '../db/migrate.ts';
import { resolveDatabase } from '../db/resolve.ts';
import { printJson, printLine, withJson } from './output.ts';

export function register(program: Command): void {
  withJson(program.command('migrate').description('bring the database to the current schema')).action(run);
}

async function run(options: { json?: boolean }): Promise<void> {
  await using database = await resolveDatabase(readConfig());
  const sql = connect(database.url, { max: 2 });
  try {
    const { migrations, functions } = await migrate(sql);
    if (options.json) return printJson({ applied: migrations, functions });
    const parts = [...migrations, ...(functions.length === 0 ? [] : [`functions: ${functions.join(', ')}`])];
    printLine(parts.length === 0 ? 'The schema is already current.' : `Applied ${parts.join('; ')}.`);
  } finally {
    await sql.end({ timeout: 5 });
  }
}
