// candlepool worker: runs queued backtests, on a database that other processes share.
import { flushCompileCache } from 'node:module';
import { Option, type Command } from 'commander';
import { environmentOf, MAX_THREADS, readConfig } from '../config.ts';
import type { Config } from '../config.ts';
import { waitForDatabase } from '../db/availability.ts';
import { connect } from '../db/connect.ts';
import { migrate } from '../db/migrate.ts';
import { resolveDatabase } from '../db/resolve.ts';
import { lowerProcessPriority } from '../engine/index.ts';
import { startWorker } from '../jobs/runner.ts';
import type { WorkerSettings } from '../jobs/runner.ts';
import { runSuspects } from '../jobs/suspectProcess.ts';
import { createLog, type Log } from '../log.ts';
import { openCatalog } from '../market/catalog.ts';
import { wholeNumber } from './arguments.ts';
import { runInLifetime, runUntilStopped, type Lifetime } from './lifetime.ts';
import { printJson, printLine, withJson } from './output.ts';
import { awaitBegin, reportLoad, sayReady, standsBack } from './supervised.ts';
import { spawnMain } from './supervisor.ts';

/** What a supervised worker says about itself. */
interface ReadyWorker {
  readonly workerId: string;
}

/** Lowers the worker's priority, so that an API on the same machine answers first; its threads are lower still. */
const NICENESS = 5;

interface WorkerOptions {
  threads?: number;
  supervised?: boolean;
  suspects?: boolean;
  json?: boolean;
}

export function register(program: Command): void {
  withJson(program.command('worker').description('run a worker alone'))
    .option('--threads <count>', 'number of threads, in place of WORKER_THREADS', wholeNumber(1, MAX_THREADS))
    .addOption(new Option('--supervised', 'print nothing but the log').hideHelp())
    .addOption(new Option('--suspects', 'run the crash suspects of the worker that starts this').hideHelp())
    .action((options: WorkerOptions) =>
      options.suspects ? runSuspectProcess() : runInLifetime((lifetime) => run(options, lifetime)),
    );
}

async function run(options: WorkerOptions, lifetime: Lifetime): Promise<void> {
  lowerProcessPriority(NICENESS);
  const config = readConfig();
  const log = createLog(config);
  const threads = options.threads ?? config.workerThreads;
  await using stack = new AsyncDisposableStack();
  const database = stack.use(await resolveDatabase(config, { signal: lifetime.signal, log }));
  const begin = async (): Promise<string | undefined> => {
    // Now that everything has been imported, because a process that is killed does not keep its compiled code.
    flushCompileCache();
    const predecessor = options.supervised ? await awaitBegin<ReadyWorker>(lifetime) : undefined;
    if (options.supervised) await waitForDatabase(database.url, lifetime.signal, log);
    await migrateOnce(database.url);
    return predecessor?.workerId;
  };
  const worker = stack.use(
    await startWorker(
      {
        url: database.url,
        threads,
        pool: { warmUp: config.warmUp, holdsWarmUp: standsBack },
        snapshots: snapshotsOf(config, log),
        webhooksPrivate: config.webhooksPrivate,
        startSuspectProcess: () => spawnMain(['worker', '--suspects'], environmentOf(config, database.url)),
        begin,
      },
      log,
    ),
  );
  if (options.json) printJson({ event: 'ready', workerId: worker.id, threads });
  else if (!options.supervised) printLine(`Worker ${worker.id} runs backtests on ${threads} threads.`);
  else {
    sayReady({ workerId: worker.id } satisfies ReadyWorker);
    stack.use(reportLoad(() => worker.busyShare > 0));
  }
  await runUntilStopped(lifetime, stack, log, [worker.failed]);
}

async function runSuspectProcess(): Promise<void> {
  lowerProcessPriority(NICENESS);
  const config = readConfig();
  const log = createLog(config);
  await runSuspects({ url: config.databaseUrl!, snapshots: snapshotsOf(config, log) }, log);
}

const snapshotsOf =
  (config: Config, log: Log): WorkerSettings['snapshots'] =>
  (sql) =>
    openCatalog(sql, config.dataDir, { storage: config.snapshotStorage, log });

async function migrateOnce(url: string): Promise<void> {
  const sql = connect(url, { max: 1 });
  try {
    await migrate(sql);
  } finally {
    await sql.end({ timeout: 2 });
  }
}
