// candlepool api: the HTTP service alone, on a database that other processes share.
import type { AddressInfo } from 'node:net';
import { Option, type Command } from 'commander';
import { buildApp } from '../api/app.ts';
import { startHeavyRequests } from '../api/http/heavyRequests.ts';
import { keepCompiledCode } from './compiledCode.ts';
import { readConfig } from '../config.ts';
import type { Config } from '../config.ts';
import { connect } from '../db/connect.ts';
import { databaseAnswers } from '../db/availability.ts';
import { migrate } from '../db/migrate.ts';
import { resolveDatabase } from '../db/resolve.ts';
import { createLog } from '../log.ts';
import type { Log } from '../log.ts';
import { openCatalogue } from '../market/catalogue.ts';
import type { StoredCatalogue } from '../market/catalogue.ts';
import { importShipped } from '../market/shipped.ts';
import { wholeNumber } from './arguments.ts';
import { commandName } from './invocation.ts';
import { liveThrough, runUntilStopped, type Lifetime } from './lifetime.ts';
import { printJson, printLine, withJson } from './output.ts';

/** How long requests in flight may take to be answered before their connections are closed. */
const DRAIN_MS = 7_000;

export type RunningApi = AsyncDisposable & { readonly url: string; readonly port: number };

/** What a supervised API sends to its supervisor as soon as it answers. */
export interface ReadyMessage {
  readonly event: 'ready';
  readonly url: string;
  readonly port: number;
}

export interface ListenOptions {
  port?: number;
  host?: string;
  json?: boolean;
}

type ApiOptions = ListenOptions & { supervised?: boolean };

export function register(program: Command): void {
  withListenOptions(program.command('api').description('run the API alone'))
    .addOption(new Option('--supervised', 'print nothing but the log').hideHelp())
    .action((options: ApiOptions) => liveThrough((lifetime) => run(options, lifetime)));
}

export function withListenOptions(command: Command): Command {
  return withJson(command)
    .option('--port <port>', 'port, in place of PORT; 0 takes a free one', wholeNumber(0, 65_535))
    .option('--host <address>', 'address, in place of HOST');
}

async function run(options: ApiOptions, lifetime: Lifetime): Promise<void> {
  const config = configWith(options);
  const log = createLog(config);
  await using stack = new AsyncDisposableStack();
  const database = stack.use(await resolveDatabase(config, { signal: lifetime.signal, log }));
  if (options.supervised) await databaseAnswers(database.url, lifetime.signal, log);
  const api = stack.use(await startApi(config, database.url, log, lifetime.signal));
  if (!options.supervised) announce(api.url, options.json ?? false);
  else process.send?.({ event: 'ready', url: api.url, port: api.port } satisfies ReadyMessage);
  keepCompiledCode();
  await runUntilStopped(lifetime, stack, log);
}

/** The configuration, with the options of the command line in place of the environment. */
export function configWith(options: ListenOptions): Config {
  const config = readConfig();
  return { ...config, port: options.port ?? config.port, host: options.host ?? config.host };
}

/**
 * Migrates, imports the shipped series, and listens: the url answers once this returns. If `signal` aborts meanwhile,
 * closes what was opened and throws the signal's reason.
 */
async function startApi(config: Config, databaseUrl: string, log: Log, signal: AbortSignal): Promise<RunningApi> {
  await using stack = new AsyncDisposableStack();
  const sql = connect(databaseUrl, { applicationName: 'candlepool api' });
  stack.defer(() => sql.end({ timeout: 2 }));
  await migrate(sql);
  signal.throwIfAborted();
  const catalogue = openCatalogue(sql, config.dataDir, { storage: config.snapshotStorage });
  await importShipped(catalogue);
  signal.throwIfAborted();
  const services = { sql, config, log, catalogue };
  // Not awaited: what this host alone has is as good after the first request as before it.
  void shareSnapshots(catalogue, log, signal);
  const app = await buildApp(services, { heavyRequests: startHeavyRequests(services) });
  stack.defer(async () => {
    const timer = setTimeout(() => app.server.closeAllConnections(), DRAIN_MS);
    await app.close().finally(() => clearTimeout(timer));
  });
  await app.listen({ port: config.port, host: config.host });
  const opened = stack.move();
  const address = app.server.address() as AddressInfo;
  return { url: addressOf(address), port: address.port, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

async function shareSnapshots(catalogue: StoredCatalogue, log: Log, signal: AbortSignal): Promise<void> {
  try {
    const shared = await catalogue.share();
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

/** One line of JSON for programs, or the address and how to get a key for people. */
export function announce(url: string, isJson: boolean): void {
  if (isJson) return printJson({ event: 'ready', url });
  printLine(`Candlepool runs at ${url}   (guides and API reference: ${url}/docs)`);
  const command = commandName();
  printLine(`Create a key:  ${command} workspace create --name mine`);
  printLine(`               ${command} keys create --workspace <id> --name first`);
  printLine(`Then:          curl -H "x-api-key: <key>" ${url}/public/v1`);
}
