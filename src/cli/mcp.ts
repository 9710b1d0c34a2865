// candlepool mcp: an MCP server on standard input and output that calls a running service.
import { isIPv6 } from 'node:net';
import type { Command } from 'commander';
import { serveMcpStdio } from '../api/mcp/stdio.ts';
import { readConfig } from '../config.ts';
import { addressOf } from './api.ts';
import { databaseCommandName } from './invocation.ts';
import { UsageError } from './output.ts';

export function register(program: Command): void {
  program
    .command('mcp')
    .description('an MCP server on standard input and output; its tools call a running service with an API key')
    .option('--url <url>', 'address of the service; default: the HOST and PORT of this environment')
    .option('--key <key>', 'API key; default: CANDLEPOOL_API_KEY')
    .action(serve);
}

function serve(options: { readonly url?: string; readonly key?: string }): void {
  const config = readConfig();
  const key = options.key ?? config.apiKey;
  if (key === undefined) {
    throw new UsageError(
      `No API key. Set CANDLEPOOL_API_KEY or pass --key; ${databaseCommandName()} keys create prints one.`,
    );
  }
  const { host: address, port } = config;
  const url = options.url ?? addressOf({ address, port, family: isIPv6(address) ? 'IPv6' : 'IPv4' });
  if (!URL.canParse(url)) throw new UsageError(`--url ${url} is not an address, such as http://127.0.0.1:8080.`);
  serveMcpStdio(url.replace(/\/+$/, ''), key, (error) => process.stderr.write(`candlepool mcp: ${error.message}\n`));
}
