// candlepool demo: the whole system at work in a temporary folder, from an empty database to two hundred backtests;
// then everything is stopped and removed, and so are the folders that killed demos have left behind.
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import type { Command } from 'commander';
import { isolatedEnvironment, ROOT } from '../config.ts';
import { EmbeddedPackageError, requireEmbeddedPackage } from '../db/embeddedCluster.ts';
import { DemoAgent, type DemoOutcome } from './demoAgent.ts';
import { serveCommand } from './invocation.ts';
import { beginLifetime } from './lifetime.ts';
import { openConsole } from './openConsole.ts';
import { CommandError, printJson, printLine, withJson } from './output.ts';
import { randomUUID } from 'node:crypto';
import { readdir, rm, stat } from 'node:fs/promises';
import { makeFolder, requireRoom } from '../folders.ts';
import { removeEmbedded } from '../db/embedded.ts';
import { isAlive } from '../db/processes.ts';

/**
 * First start of the database, import of the shipped series, and two processes: seconds, even on a slow disk. Longer
 * than this is a failure.
 */
const READY_WITHIN_MS = 60_000;
/** A server takes at most ten seconds to stop (lifetime.ts). */
const STOP_WITHIN_MS = 12_000;
const MAIN = join(ROOT, 'src', 'main.ts');

type Say = (text?: string) => void;

export function register(program: Command): void {
  withJson(
    program
      .command('demo')
      .description('show the whole system at work on real data; it takes seconds and leaves nothing behind')
      .option('--open', 'open the console in the browser, and keep the demo running until Ctrl-C'),
  ).action(demo);
}

interface DemoOptions {
  readonly json?: boolean;
  readonly open?: boolean;
}

async function demo(options: DemoOptions): Promise<void> {
  requireDatabase();
  // Ending at once would leave files behind, however often Ctrl-C is pressed.
  const lifetime = beginLifetime(() => {});
  const say: Say = (text) => void (options.json || lifetime.signal.aborted || printLine(text));
  const startedAt = performance.now();
  await using stack = new AsyncDisposableStack();
  const playing = play(stack, say, options);
  // After an interruption, whatever the demo was waiting for fails as well, which must not crash the process.
  playing.catch(() => {});
  const ended = await Promise.race([playing, lifetime.stopAsked]);
  if (typeof ended === 'string') {
    process.stderr.write('Interrupted: stopping the server and removing its files.\n');
    await stack.disposeAsync();
    process.exit(128 + constants.signals[ended]);
  }
  if (options.open) {
    say('The demo is done. The console stays open until you press Ctrl-C.');
    await lifetime.stopAsked;
    process.stderr.write('Stopping the server and removing its files.\n');
  }
  await stack.disposeAsync();
  say(`Everything is stopped and removed; the demo took ${seconds(startedAt)} s.`);
  say(`Next: "${serveCommand()}" runs Candlepool until you stop it; docs/getting-started.md goes on from there.`);
  if (options.json) printJson({ ...ended, totalSeconds: Number(seconds(startedAt)) });
}

/** The demo has a database of its own, whatever DATABASE_URL says. */
function requireDatabase(): void {
  try {
    requireEmbeddedPackage();
  } catch (error) {
    if (!(error instanceof EmbeddedPackageError)) throw error;
    const remedy = error.remedies[0] ?? 'run it on a platform that has one (docs/operations.md lists them)';
    throw new CommandError(`${error.reason}, and the demo needs it: ${remedy}.`, 'DEMO_FAILED');
  }
}

/** Plays the demo. Everything that must be closed is put on `stack` as soon as it is opened. */
async function play(stack: AsyncDisposableStack, say: Say, options: DemoOptions): Promise<DemoOutcome> {
  const startedAt = performance.now();
  const making = makeDemoFolder(tmpdir());
  // Before the folder exists: Ctrl-C may come at the very moment that it does.
  stack.defer(async () => {
    const made = await making.catch(() => null);
    if (made !== null) await removeDemoFolder(made);
  });
  const dataDir = await making;
  await removeAbandonedFolders(tmpdir());
  if (stack.disposed) throw new CommandError('The demo was interrupted.', 'DEMO_FAILED');
  const env = isolatedEnvironment(dataDir);
  const server = startServer(env);
  stack.defer(() => stopServer(server));
  const commands = stack.use(new Commands(env));
  const url = await readyUrl(server);
  say(`Candlepool runs at ${url}: embedded Postgres, API and worker started in ${seconds(startedAt)} s.`);
  const workspace = await commands.run<{ id: string }>(['workspace', 'create', '--name', 'Demo', '--tier', 'pro']);
  const { apiKey } = await commands.run<{ apiKey: string }>([
    'keys',
    'create',
    '--workspace',
    workspace.id,
    '--name',
    'demo agent',
  ]);
  if (options.open) await openConsole(url, apiKey, options.json ?? false);
  return new DemoAgent(url, apiKey, say).run();
}

const seconds = (since: number): string => ((performance.now() - since) / 1000).toFixed(1);

function startServer(env: NodeJS.ProcessEnv): ChildProcess {
  return spawn(process.execPath, [MAIN, 'serve', '--port', '0', '--json'], {
    env,
    // The channel ends the server if this process is killed.
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    // Ctrl-C reaches this process alone, which then stops the server and waits for it.
    detached: true,
  });
}

/** The address in the one line that `serve --json` prints. */
async function readyUrl(server: ChildProcess): Promise<string> {
  const failed = once(server, 'exit').then(([code]) => {
    throw new CommandError(
      `The server ended with code ${code} before it was ready. Run the demo with LOG_LEVEL=info to see more.`,
      'DEMO_FAILED',
    );
  });
  const late = new Promise<never>((_, reject) => {
    const error = new CommandError(
      'The server was not ready within a minute. Run the demo with LOG_LEVEL=info to see more.',
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

async function stopServer(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const exit = once(server, 'exit');
  server.kill('SIGTERM');
  const timer = setTimeout(() => server.kill('SIGKILL'), STOP_WITHIN_MS);
  await exit;
  clearTimeout(timer);
}

/**
 * Runs commands of this program. Disposing ends those that still run and waits for them: left alone, one of them might
 * start Postgres again.
 */
class Commands implements AsyncDisposable {
  readonly #env: NodeJS.ProcessEnv;
  readonly #stop = new AbortController();
  #running: Promise<unknown> = Promise.resolve();

  constructor(env: NodeJS.ProcessEnv) {
    this.#env = env;
  }

  /** @returns what the command prints with --json. */
  async run<T>(args: readonly string[]): Promise<T> {
    const { signal } = this.#stop;
    signal.throwIfAborted();
    const running = promisify(execFile)(process.execPath, [MAIN, ...args, '--json'], { env: this.#env, signal });
    this.#running = new Promise((resolve) => running.child.once('close', resolve));
    const { stdout } = await running;
    return JSON.parse(stdout) as T;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }
}

/** The server of a killed demo stops within seconds; no demo takes this long. */
const ABANDONED_AFTER_MS = 3_600_000;
const NAME = /^candlepool-demo-(\d+)-/;

/** Space for the embedded database, two hundred results and the log of writing them. */
const DEMO_BYTES = 192 << 20;
const ADVICE = 'Set TMPDIR to a folder that this user can write.';

/**
 * Makes a folder below `parent` whose name says which process it belongs to.
 * @throws FolderError
 */
export async function makeDemoFolder(parent: string): Promise<string> {
  await makeFolder(parent, ADVICE);
  await requireRoom(parent, DEMO_BYTES, 'set TMPDIR to a folder on another disk');
  const folder = join(parent, `candlepool-demo-${process.pid}-${randomUUID().slice(0, 8)}`);
  await makeFolder(folder, ADVICE, 0o700);
  return folder;
}

/** Removes a demo folder. First stops its Postgres, which a killed server has left running. */
async function removeDemoFolder(folder: string): Promise<void> {
  await removeEmbedded(folder);
  await rm(folder, { recursive: true, force: true });
}

/** Removes the folders below `parent` of demos that were killed an hour ago or longer, as far as this user may. */
export async function removeAbandonedFolders(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    const pid = NAME.exec(name)?.[1];
    if (pid === undefined || isAlive(Number(pid))) continue;
    const folder = join(parent, name);
    const found = await stat(folder).catch(() => null);
    if (found === null || found.uid !== (process.getuid?.() ?? found.uid)) continue;
    if (Date.now() - found.mtimeMs < ABANDONED_AFTER_MS) continue;
    // What cannot be removed now must not keep this demo from running.
    await removeDemoFolder(folder).catch(() => {});
  }
}
