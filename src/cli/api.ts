// candlepool api: the HTTP service alone, over a database that other processes share.
import type { AddressInfo } from 'node:net';
import type { Command } from 'commander';
import { buildApp } from '../api/app.ts';
import { readConfig } from '../config.ts';
import type { Config } from '../config.ts';
import { connect } from '../db/connect.ts';
import { migrate } from '../db/migrate.ts';
import { resolveDatabase } from '../db/resolve.ts';
import { createLog } from '../log.ts';
import type { Log } from '../log.ts';
import { openCatalogue } from '../market/catalogue.ts';
import { importShipped } from '../market/shipped.ts';
import { wholeNumber } from './arguments.ts';
import { beginLifetime, runUntilStopped } from './lifetime.ts';
import { printJson, printLine, withJson } from './output.ts';

/** In-flight requests and waiters get so long to be answered; then their connections are cut. */
const DRAIN_MS = 7_000;

export type RunningApi = AsyncDisposable & { readonly url: string };

export type ListenOptions = { port?: number; host?: string; json?: boolean };

export function register(program: Command): void {
  withListenOptions(program.command('api').description('the API alone')).action(run);
}

export function withListenOptions(command: Command): Command {
  return withJson(command)
    .option('--port <port>', 'instead of PORT; 0 takes a free one', wholeNumber(0, 65_535))
    .option('--host <address>', 'instead of HOST');
}

async function run(options: ListenOptions): Promise<void> {
  const lifetime = beginLifetime();
  const config = configWith(options);
  const log = createLog(config);
  await using stack = new AsyncDisposableStack();
  const database = stack.use(await resolveDatabase(config));
  const api = stack.use(await startApi(config, database.url, log));
  announce(api.url, options.json ?? false);
  await runUntilStopped(lifetime, stack, log);
}

/** The configuration with what the command line overrides. */
export function configWith(options: ListenOptions): Config {
  const config = readConfig();
  return { ...config, port: options.port ?? config.port, host: options.host ?? config.host };
}

/** Migrates, imports what is shipped, and listens: the url answers when this returns. */
export async function startApi(config: Config, databaseUrl: string, log: Log): Promise<RunningApi> {
  await using stack = new AsyncDisposableStack();
  const sql = connect(databaseUrl, { applicationName: 'candlepool api' });
  stack.defer(() => sql.end({ timeout: 2 }));
  await migrate(sql);
  const catalogue = openCatalogue(sql, config.dataDir);
  await importShipped(catalogue);
  const app = await buildApp({ sql, config, log, catalogue });
  stack.defer(async () => {
    const timer = setTimeout(() => app.server.closeAllConnections(), DRAIN_MS);
    await app.close().finally(() => clearTimeout(timer));
  });
  await app.listen({ port: config.port, host: config.host });
  const opened = stack.move();
  return { url: addressOf(app.server.address() as AddressInfo), [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

/** An address a client can use: "every network" is reached through loopback from here. */
function addressOf({ address, port, family }: AddressInfo): string {
  const isAny = address === '0.0.0.0' || address === '::';
  const host = isAny ? '127.0.0.1' : family === 'IPv6' ? `[${address}]` : address;
  return `http://${host}:${port}`;
}

/** For programs one line when it answers; for people the address, and how to get a key. */
export function announce(url: string, isJson: boolean): void {
  if (isJson) return printJson({ event: 'ready', url });
  printLine(`Candlepool answers at ${url}   (reference: ${url}/docs)`);
  printLine('A key:   candlepool workspace create --name mine');
  printLine('         candlepool keys create --workspace <id> --name first');
  printLine(`Then:    curl -H "x-api-key: <key>" ${url}/public/v1`);
}
