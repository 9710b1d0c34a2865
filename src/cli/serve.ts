// candlepool serve: everything on one machine. API and worker are processes of their own, so that neither takes the
// other, nor the database, down with it; this process starts them, and starts them again when they die.
import type { Command } from 'commander';
import { environmentOf } from '../config.ts';
import type { Config } from '../config.ts';
import { resolveDatabase } from '../db/resolve.ts';
import { createLog } from '../log.ts';
import type { Log } from '../log.ts';
import { announce, configWith, withListenOptions } from './api.ts';
import type { ListenOptions, ReadyMessage } from './api.ts';
import { liveThrough, runUntilStopped, type Lifetime } from './lifetime.ts';
import { supervise } from './supervisor.ts';
import type { Supervised } from './supervisor.ts';

export function register(program: Command): void {
  withListenOptions(program.command('serve').description('run the API and a worker on this machine')).action(
    (options: ListenOptions) => liveThrough((lifetime) => serve(options, lifetime)),
  );
}

async function serve(options: ListenOptions, lifetime: Lifetime): Promise<void> {
  const config = configWith(options);
  const log = createLog(config);
  await using database = await resolveDatabase(config, { signal: lifetime.signal, log });
  const env = environmentOf(config, database.url);
  const { api, url } = await startApiProcess(config, env, log, lifetime.signal);
  const worker = supervise(() => ['worker', '--supervised'], env, log);
  announce(url, options.json ?? false);
  const opened = {
    // Stops both at the same time, so that requests are answered while runs finish. The database stops last.
    [Symbol.asyncDispose]: async () => {
      await Promise.allSettled([api[Symbol.asyncDispose](), worker[Symbol.asyncDispose]()]);
      await database[Symbol.asyncDispose]();
    },
  };
  await runUntilStopped(lifetime, opened, log);
}

/** The API could not be started; its own message has already been printed. */
class ApiStartError extends Error {
  override readonly name = 'ApiStartError';
  constructor() {
    super('The API did not start; the message above says why.');
  }
}

/**
 * Resolves when the API answers. A restarted API listens on the port of the first one, which `--port 0` has left to
 * chance.
 * @throws ApiStartError when the first one ends before it answers; the signal's reason when that aborts
 */
async function startApiProcess(
  config: Config,
  env: NodeJS.ProcessEnv,
  log: Log,
  signal: AbortSignal,
): Promise<{ readonly api: Supervised; readonly url: string }> {
  let port = config.port;
  const ready = Promise.withResolvers<string>();
  const api = supervise(() => ['api', '--supervised', '--host', config.host, '--port', String(port)], env, log, {
    onMessage: (message) => {
      const sent = message as ReadyMessage;
      port = sent.port;
      ready.resolve(sent.url);
    },
    onDeath: () => ready.reject(new ApiStartError()),
  });
  signal.addEventListener('abort', () => ready.reject(signal.reason as Error), { once: true });
  if (signal.aborted) ready.reject(signal.reason as Error);
  try {
    return { api, url: await ready.promise };
  } catch (error) {
    await api[Symbol.asyncDispose]();
    throw error;
  }
}
