// candlepool api: the HTTP service alone, on a database that other processes share.
import { flushCompileCache } from 'node:module';
import type { AddressInfo } from 'node:net';
import { Option, type Command } from 'commander';
import { buildApp } from '../api/app.ts';
import { startHeavyRequests } from '../api/http/heavyThreads.ts';
import type { Config } from '../config.ts';
import { connect } from '../db/connect.ts';
import { waitForDatabase } from '../db/availability.ts';
import { migrate } from '../db/migrate.ts';
import { resolveDatabase } from '../db/resolve.ts';
import { createLog } from '../log.ts';
import type { Log } from '../log.ts';
import { openCatalog } from '../market/catalog.ts';
import type { StoredCatalog } from '../market/catalog.ts';
import { importShipped } from '../market/shipped.ts';
import { WorkspaceCatalogs } from '../market/workspaceCatalogs.ts';
import { offerUniverse } from '../market/universe/offerUniverse.ts';
import { runInLifetime, runUntilStopped, type Lifetime } from './lifetime.ts';
import { announce, configWith, requireFreePort, withListenOptions, type ListenOptions } from './listening.ts';
import { awaitBegin, sayReady } from './supervised.ts';

/** How long requests in flight may take to be answered before their connections are closed. */
const DRAIN_MS = 7_000;

/** Connections for short reads: one computes in Postgres while the next is on its way. */
const SHORT_READS = 3;

/** What a supervised API says about itself. */
export interface ReadyApi {
  readonly url: string;
  readonly port: number;
}

type ApiOptions = ListenOptions & { supervised?: boolean };

export function register(program: Command): void {
  withListenOptions(program.command('api').description('run the API alone'))
    .addOption(new Option('--supervised', 'print nothing but the log').hideHelp())
    .action((options: ApiOptions) => runInLifetime((lifetime) => run(options, lifetime)));
}

async function run(options: ApiOptions, lifetime: Lifetime): Promise<void> {
  const config = configWith(options);
  // Under a supervisor, the port may still belong to the process that this one replaces.
  if (!options.supervised) await requireFreePort(config);
  const log = createLog(config);
  // Now that everything has been imported, because a process that is killed does not keep its compiled code.
  flushCompileCache();
  const begun = options.supervised ? awaitBegin<ReadyApi>(lifetime) : Promise.resolve(undefined);
  // An unobserved rejection must not crash the process.
  begun.catch(() => {});
  await using stack = new AsyncDisposableStack();
  const database = stack.use(await resolveDatabase(config, { signal: lifetime.signal, log }));
  if (options.supervised) await waitForDatabase(database.url, lifetime.signal, log);
  const prepared = stack.use(await prepareApi(config, database.url, log));
  const predecessor = await begun;
  // It may have been away again while this process stood by.
  if (predecessor !== undefined) await waitForDatabase(database.url, lifetime.signal, log);
  // Takes over the port of its predecessor: with `--port 0`, the system chose it.
  const api = await prepared.listen(predecessor?.port ?? config.port, lifetime.signal);
  if (!options.supervised) announce(api.url, config, options.json ?? false);
  else sayReady(api);
  await runUntilStopped(lifetime, stack, log);
}

interface PreparedApi extends AsyncDisposable {
  /**
   * Migrates, imports the shipped series, and listens: the url answers once this returns.
   * @throws the signal's reason if it aborts meanwhile
   */
  listen(port: number, signal: AbortSignal): Promise<ReadyApi>;
}

/** Builds what can be built before this process may work: most of the processor time of a start. */
async function prepareApi(config: Config, databaseUrl: string, log: Log): Promise<PreparedApi> {
  await using stack = new AsyncDisposableStack();
  const sql = connect(databaseUrl, { applicationName: 'candlepool api' });
  stack.defer(() => sql.end({ timeout: 2 }));
  const shortReads = connect(databaseUrl, { applicationName: 'candlepool api', max: SHORT_READS });
  stack.defer(() => shortReads.end({ timeout: 2 }));
  const stored = openCatalog(sql, config.dataDir, { storage: config.snapshotStorage, log });
  const catalog = offerUniverse(stored);
  const catalogs = new WorkspaceCatalogs(sql, catalog, stored.files);
  const services = { sql, shortReads, config, log, catalogs };
  // The thread of heavy requests reads tables as soon as it has started.
  const migrated = Promise.withResolvers<void>();
  const app = await buildApp(services, { heavyRequests: startHeavyRequests(services, migrated.promise) });
  stack.defer(async () => {
    const timer = setTimeout(() => app.server.closeAllConnections(), DRAIN_MS);
    await app.close().finally(() => clearTimeout(timer));
  });
  const opened = stack.move();
  return {
    listen: async (port, signal) => {
      await migrate(sql);
      migrated.resolve();
      signal.throwIfAborted();
      await importShipped(catalog);
      signal.throwIfAborted();
      // Not awaited: snapshots that only this host has can just as well be shared after the first request.
      void shareSnapshots(catalog, log, signal);
      await app.listen({ port, host: config.host });
      const address = app.server.address() as AddressInfo;
      return { url: addressOf(address), port: address.port };
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

async function shareSnapshots(catalog: StoredCatalog, log: Log, signal: AbortSignal): Promise<void> {
  try {
    const shared = await catalog.share();
    if (shared > 0) log.info({ snapshots: shared }, 'copied snapshots of this host to Postgres for the others');
  } catch (error) {
    if (!signal.aborted) log.error({ err: error }, 'snapshots of this host could not be copied to Postgres');
  }
}

/** An address a client can use: "every network" is reached through loopback from here. */
export function addressOf({ address, port, family }: AddressInfo): string {
  const isAny = address === '0.0.0.0' || address === '::';
  const host = isAny ? '127.0.0.1' : family === 'IPv6' ? `[${address}]` : address;
  return `http://${host}:${port}`;
}
