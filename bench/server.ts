// A `serve` of a checkout with its embedded Postgres, for as long as a bench needs it, and requests to its API.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { isolatedEnvironment } from '../src/config.ts';
import { connect, type Sql } from '../src/db/connect.ts';
import { removeEmbedded, startEmbedded } from '../src/db/embedded.ts';
import { HERE } from './checkout.ts';
import { exitCodeOf, interruption } from './interruption.ts';
import { onDemand } from './measure.ts';

/** Until it is ready, and until its processes rest. */
export const READY_WITHIN_MS = 60_000;

export interface Server extends AsyncDisposable {
  readonly pid: number;
  readonly url: string;
  readonly apiKey: string;
  /** The server's own database. */
  readonly sql: Sql;
}

const servers = new Set<Promise<Server>>();

/** A signal ends the servers, those that are starting too, before it ends the process. */
const interruptedServers = onDemand(() => {
  const interrupted = interruption();
  interrupted.addEventListener('abort', async () => {
    console.error('Stopping the server …');
    const started = await Promise.allSettled(servers);
    const running = started.flatMap((server) => (server.status === 'fulfilled' ? [server.value] : []));
    await Promise.allSettled(running.map((server) => server[Symbol.asyncDispose]()));
    process.exit(exitCodeOf(interrupted));
  });
  return interrupted;
});

/** A `serve` of a checkout, with a database and a workspace of its own. */
export function startServer(root = HERE): Promise<Server> {
  const starting = start(root, interruptedServers());
  servers.add(starting);
  return starting;
}

/** @throws Error when it cannot be started, or as soon as it can end what it has started when `interrupted` */
async function start(root: string, interrupted: AbortSignal): Promise<Server> {
  await using stack = new AsyncDisposableStack();
  const dataDir = await mkdtemp(join(tmpdir(), 'candlepool-bench-'));
  // The series that were imported lie beside the database.
  stack.defer(() => rm(dataDir, { recursive: true, force: true }));
  stack.defer(() => removeEmbedded(dataDir));
  const env = { ...isolatedEnvironment(dataDir), RATE_LIMITS: 'off' };
  const main = join(root, 'src', 'main.ts');
  // Started here, so that its settings can count statements; `serve` adopts it.
  const database = await startEmbedded(dataDir, { settings: { shared_preload_libraries: 'pg_stat_statements' } });
  stack.use(database);
  const sql = connect(database.url, { max: 1, applicationName: 'bench' });
  stack.defer(() => sql.end({ timeout: 2 }));
  await sql`create extension if not exists pg_stat_statements`;
  interrupted.throwIfAborted();
  const child = spawn(process.execPath, [main, 'serve', '--port', '0', '--json'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  stack.defer(async () => {
    child.kill('SIGTERM');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  });
  const url = await Promise.race([
    readyUrl(child.stdout!),
    once(child, 'exit').then(([code]) => {
      throw new Error(`serve of ${root} ended with ${code} before it was ready`);
    }),
    once(interrupted, 'abort').then((): never => {
      throw interrupted.reason;
    }),
  ]);
  const command = async <T>(...args: string[]): Promise<T> =>
    JSON.parse((await promisify(execFile)(process.execPath, [main, ...args, '--json'], { env })).stdout) as T;
  const { id } = await command<{ id: string }>('workspace', 'create', '--name', 'Bench', '--tier', 'pro');
  const { apiKey } = await command<{ apiKey: string }>('keys', 'create', '--workspace', id, '--name', 'bench');
  const opened = stack.move();
  const end = onDemand(() => opened.disposeAsync());
  return { pid: child.pid!, url, apiKey, sql, [Symbol.asyncDispose]: end };
}

async function readyUrl(output: NodeJS.ReadableStream): Promise<string> {
  const late = AbortSignal.timeout(READY_WITHIN_MS);
  for await (const line of createInterface({ input: output, signal: late })) {
    const event = JSON.parse(line) as { event?: string; url?: string };
    if (event.event === 'ready' && event.url !== undefined) return event.url;
  }
  throw new Error('serve closed its output before it was ready');
}

export type Call = <T>(method: string, path: string, body?: object) => Promise<T>;

/** Sends a request to the server's API; throws when the answer is an error. */
export const caller =
  ({ url, apiKey }: Server): Call =>
  async (method, path, body) => {
    const answer = await fetch(`${url}/public/v1${path}`, {
      method,
      headers: { 'x-api-key': apiKey, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${text.slice(0, 500)}`);
    return JSON.parse(text) as never;
  };
