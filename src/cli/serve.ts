// candlepool serve: everything on one machine. The API runs here; the worker in a process of its own, so that a
// simulation that brings it down leaves the API standing.
import type { Command } from 'commander';
import { environmentOf } from '../config.ts';
import { resolveDatabase } from '../db/resolve.ts';
import { createLog } from '../log.ts';
import { announce, configWith, startApi, withListenOptions } from './api.ts';
import type { ListenOptions } from './api.ts';
import { beginLifetime, runUntilStopped } from './lifetime.ts';
import { supervise } from './supervisor.ts';

export function register(program: Command): void {
  withListenOptions(program.command('serve').description('API and worker on this machine')).action(serve);
}

async function serve(options: ListenOptions): Promise<void> {
  const lifetime = beginLifetime();
  const config = configWith(options);
  const log = createLog(config);
  await using database = await resolveDatabase(config);
  const api = await startApi(config, database.url, log);
  const worker = supervise(['worker'], environmentOf(config, database.url), log);
  announce(api.url, options.json ?? false);
  const opened = {
    // Both at once: requests are answered while runs finish. The database goes last.
    [Symbol.asyncDispose]: async () => {
      await Promise.allSettled([api[Symbol.asyncDispose](), worker[Symbol.asyncDispose]()]);
      await database[Symbol.asyncDispose]();
    },
  };
  await runUntilStopped(lifetime, opened, log);
}
