// candlepool serve: everything on one machine. API and worker are processes of their own, so that neither can take down
// the other or the database; this process starts them, and starts them again when they die.
import type { Command } from 'commander';
import { environmentOf } from '../config.ts';
import { waitForDatabase } from '../db/availability.ts';
import { resolveDatabase } from '../db/resolve.ts';
import { createLog } from '../log.ts';
import nodeFlags from './nodeFlags.json' with { type: 'json' };
import type { ReadyApi } from './api.ts';
import { runInLifetime, runUntilStopped, type Lifetime } from './lifetime.ts';
import { announce, configWith, requireFreePort, withListenOptions, type ListenOptions } from './listening.ts';
import { createConsoleKey, openConsole } from './openConsole.ts';
import { ServiceLoad, supervise } from './supervisor.ts';

/**
 * Flags of Node for each process, which `bin/candlepool` reads as well.
 *
 * Most garbage of an API is bodies and answers, whose bytes lie outside the heap. With a small young generation they
 * are collected within a millisecond, instead of piling up until the whole heap has to be collected. A single thread
 * collects, so that collections cannot take every core from the answers.
 *
 * The heaps of a worker's threads stay at some 30 MB, and V8 marked all of it again whenever another 8 MB had survived:
 * 6 % of the processor time of small backtests. Now it waits until a heap is three times as large.
 * A thread collects its garbage itself once, in the warm-up.
 */
const NODE_FLAGS: { readonly api: readonly string[]; readonly worker: readonly string[] } = nodeFlags;

/**
 * A database that is started at the same moment may take this long; after that, its address is assumed to be wrong.
 * Once this process has started, it waits without a limit for a database that goes away.
 */
const DATABASE_WITHIN_MS = 15_000;

export function register(program: Command): void {
  withListenOptions(program.command('serve').description('run the API and a worker on this machine'))
    .option('--open', 'open the console in the browser, with a key of a workspace "Demo" that works for 12 hours')
    .action((options: ServeOptions) => runInLifetime((lifetime) => serve(options, lifetime)));
}

type ServeOptions = ListenOptions & { readonly open?: boolean };

async function serve(options: ServeOptions, lifetime: Lifetime): Promise<void> {
  const config = configWith(options);
  await requireFreePort(config);
  const log = createLog(config);
  const database = await resolveDatabase(config, { signal: lifetime.signal, log });
  if (!database.isEmbedded) await waitForDatabase(database.url, lifetime.signal, log, DATABASE_WITHIN_MS);
  const env = environmentOf(config, database.url);
  const ready = Promise.withResolvers<string>();
  const listening = ['--host', config.host, '--port', String(config.port)];
  const load = new ServiceLoad();
  const api = supervise<ReadyApi>(['api', '--supervised', ...listening], env, log, {
    nodeFlags: NODE_FLAGS.api,
    onReady: ({ url }) => ready.resolve(url),
    onDeath: () => ready.reject(new ApiStartError()),
    load,
  });
  const worker = supervise(['worker', '--supervised'], env, log, { nodeFlags: NODE_FLAGS.worker, load });
  await using opened = {
    // Stops both at the same time, so that requests are answered while runs finish. The database stops last.
    [Symbol.asyncDispose]: async () => {
      await Promise.allSettled([api[Symbol.asyncDispose](), worker[Symbol.asyncDispose]()]);
      await database[Symbol.asyncDispose]();
    },
  };
  lifetime.signal.addEventListener('abort', () => ready.reject(lifetime.signal.reason as Error), { once: true });
  const url = await ready.promise;
  announce(url, config, options.json ?? false);
  if (options.open) await openConsole(url, await createConsoleKey(database.url), options.json ?? false);
  await runUntilStopped(lifetime, opened, log);
}

/** The API could not be started; its own message has already been printed. */
class ApiStartError extends Error {
  override readonly name = 'ApiStartError';
  constructor() {
    super('The API did not start; the message above says why.');
  }
}
