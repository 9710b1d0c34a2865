// What the commands that answer HTTP share: their options, and how they announce their address.
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Command } from 'commander';
import { readConfig } from '../config.ts';
import type { Config } from '../config.ts';
import { wholeNumber } from './arguments.ts';
import { databaseCommandName } from './invocation.ts';
import { CommandError, printJson, printLine, withJson } from './output.ts';

export interface ListenOptions {
  port?: number;
  host?: string;
  json?: boolean;
}

export function withListenOptions(command: Command): Command {
  return withJson(command)
    .option('--port <port>', 'port, in place of PORT; 0 takes a free one', wholeNumber(0, 65_535))
    .option('--host <address>', 'address, in place of HOST');
}

/** The configuration, in which options of the command line replace the environment. */
export function configWith(options: ListenOptions): Config {
  const config = readConfig();
  return { ...config, port: options.port ?? config.port, host: options.host ?? config.host };
}

/**
 * Listens on the port for a moment, so that one that is in use is reported at once, and not after a database has been
 * made and started; and so is a host on which this machine cannot listen.
 * @throws the error of the system, such as EADDRINUSE
 */
export async function requireFreePort({ host, port }: Config): Promise<void> {
  const server = createServer().listen({ host, port });
  await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
    if (!FOREIGN_HOST.has(error.code)) throw error;
    throw new CommandError(
      `${host} is not an address of this machine. Give 127.0.0.1, or 0.0.0.0 for every network, as --host or HOST.`,
      error.code,
    );
  });
  server.close();
  await once(server, 'close');
}

/** What the system answers for a name that it cannot resolve, or for the address of another machine. */
const FOREIGN_HOST: ReadonlySet<string | undefined> = new Set(['EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN']);

/** One line of JSON for programs, or the address and how to get a key for people. */
export function announce(url: string, { publicUrl }: Config, isJson: boolean): void {
  if (isJson) return printJson({ event: 'ready', url, ...(publicUrl !== undefined && { publicUrl }) });
  printLine(`Candlepool runs at ${url}   (guides and API reference: ${publicUrl ?? url}/docs)`);
  if (publicUrl !== undefined) printLine(`Links lead to ${publicUrl}, the PUBLIC_URL of this environment.`);
  const command = databaseCommandName();
  printLine(`Create a key:  ${command} workspace create --name mine`);
  printLine(`               ${command} keys create --workspace <id> --name first`);
  printLine(`Then:          curl -H "x-api-key: <key>" ${url}/public/v1`);
}
