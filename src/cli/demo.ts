// candlepool demo: the whole system at work in a folder of its own, from an empty database to two hundred backtests, and everything stopped again.
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import type { Command } from 'commander';
import { isolatedEnvironment, ROOT } from '../config.ts';
import { DemoAgent } from './demoAgent.ts';
import { CommandError, printJson, printLine, withJson } from './output.ts';

/** First start of the database, import of the shipped series, and two processes: two seconds at most on a slow disk, then this is a failure. */
const READY_WITHIN_MS = 60_000;
const MAIN = join(ROOT, 'src', 'main.ts');

export function register(program: Command): void {
  withJson(
    program.command('demo').description('the whole system at work, on real data: takes seconds, leaves nothing behind'),
  ).action(demo);
}

async function demo(options: { readonly json?: boolean }): Promise<void> {
  const say = options.json ? () => {} : printLine;
  const startedAt = performance.now();
  await using stack = new AsyncDisposableStack();
  const dataDir = await mkdtemp(join(tmpdir(), 'candlepool-demo-'));
  stack.defer(() => rm(dataDir, { recursive: true, force: true }));
  const env = isolatedEnvironment(dataDir);
  const server = spawn(process.execPath, [MAIN, 'serve', '--port', '0', '--json'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  stack.defer(() => stop(server));
  const url = await readyUrl(server);
  say(`Candlepool answers at ${url}: embedded Postgres, API and worker started in ${seconds(startedAt)} s.`);
  const workspace = await command<{ id: string }>(['workspace', 'create', '--name', 'Demo', '--tier', 'pro'], env);
  const { apiKey } = await command<{ apiKey: string }>(
    ['keys', 'create', '--workspace', workspace.id, '--name', 'demo agent'],
    env,
  );
  const outcome = await new DemoAgent(url, apiKey, options.json === true).run();
  await stack.disposeAsync();
  say(`Everything is stopped again; the demo took ${seconds(startedAt)} s.`);
  say('Next: npm start serves until it is stopped and says how to get a key; the README goes on from there.');
  if (options.json) printJson({ ...outcome, totalSeconds: Number(seconds(startedAt)) });
}

const seconds = (since: number): string => ((performance.now() - since) / 1000).toFixed(1);

/** The address in the one line that `serve --json` prints. */
async function readyUrl(server: ChildProcess): Promise<string> {
  const failed = once(server, 'exit').then(([code]) => {
    throw new CommandError(
      `The server ended with code ${code} before it was ready; LOG_LEVEL=info shows more.`,
      'DEMO_FAILED',
    );
  });
  const late = new Promise<never>((_, reject) => {
    const error = new CommandError(
      'The server was not ready within a minute; LOG_LEVEL=info shows more.',
      'DEMO_FAILED',
    );
    setTimeout(() => reject(error), READY_WITHIN_MS).unref();
  });
  failed.catch(() => {});
  return Promise.race([firstReady(server), failed, late]);
}

async function firstReady(server: ChildProcess): Promise<string> {
  for await (const line of createInterface({ input: server.stdout! })) {
    const event = JSON.parse(line) as { event?: string; url?: string };
    if (event.event === 'ready' && event.url !== undefined) return event.url;
  }
  return new Promise<never>(() => {});
}

async function stop(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  server.kill('SIGTERM');
  await once(server, 'exit');
}

/** What a command of ours answers with --json. */
async function command<T>(args: readonly string[], env: NodeJS.ProcessEnv): Promise<T> {
  const { stdout } = await promisify(execFile)(process.execPath, [MAIN, ...args, '--json'], { env });
  return JSON.parse(stdout) as T;
}
