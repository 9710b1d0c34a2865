// candlepool worker: runs queued backtests, over a database that other processes share.
import type { Command } from 'commander';
import { readConfig } from '../config.ts';
import { connect } from '../db/connect.ts';
import { migrate } from '../db/migrate.ts';
import { resolveDatabase } from '../db/resolve.ts';
import { startWorker } from '../jobs/runner.ts';
import { createLog } from '../log.ts';
import { openCatalogue } from '../market/catalogue.ts';
import { wholeNumber } from './arguments.ts';
import { beginLifetime, runUntilStopped } from './lifetime.ts';
import { printJson, printLine, withJson } from './output.ts';

type WorkerOptions = { threads?: number; json?: boolean };

export function register(program: Command): void {
  withJson(program.command('worker').description('a worker alone'))
    .option('--threads <count>', 'instead of WORKER_THREADS', wholeNumber(1, 512))
    .action(run);
}

async function run(options: WorkerOptions): Promise<void> {
  const lifetime = beginLifetime();
  const config = readConfig();
  const log = createLog(config);
  const threads = options.threads ?? config.workerThreads;
  await using stack = new AsyncDisposableStack();
  const database = stack.use(await resolveDatabase(config));
  await migrateOnce(database.url);
  const worker = stack.use(
    await startWorker({ url: database.url, threads, snapshots: (sql) => openCatalogue(sql, config.dataDir) }, log),
  );
  if (options.json) printJson({ event: 'ready', workerId: worker.id, threads });
  // A supervised worker speaks through its log; the line is for whoever started one by hand.
  else if (!process.connected) printLine(`Worker ${worker.id} runs backtests on ${threads} threads.`);
  await runUntilStopped(lifetime, stack, log, [worker.failed]);
}

async function migrateOnce(url: string): Promise<void> {
  const sql = connect(url, { max: 1 });
  try {
    await migrate(sql);
  } finally {
    await sql.end({ timeout: 2 });
  }
}
