// The launch of the embedded Postgres: its settings, its process and its log.
import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { readFile, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { bareEnvironment } from '../config.ts';
import { refuseNetwork } from './embeddedAccess.ts';
import { placeBinaries } from './embeddedBinaries.ts';
import { makeCluster } from './embeddedCluster.ts';
import { EmbeddedDatabaseError } from './embeddedError.ts';
import { runAs } from './embeddedIdentity.ts';
import type { Identity } from './embeddedIdentity.ts';
import { clearStaleLock, lockHolder } from './embeddedPostmaster.ts';
import { probe } from './embeddedPresence.ts';
import type { Server } from './embeddedServer.ts';

export interface LaunchOptions {
  /** Interrupts the start; its reason is thrown, and nothing is left running. */
  readonly signal?: AbortSignal;
  /** Postgres settings on top of ours, e.g. {fsync: 'off'} for a database that lives as long as a test. */
  readonly settings?: Readonly<Record<string, string>>;
}

const POLL_MS = 10;
/** A longer log is emptied at the next start. */
const LOG_MAX_BYTES = 4 << 20;

const SETTINGS: Readonly<Record<string, string>> = {
  max_connections: '200',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_min_messages: 'warning',
  // Our queries are short; compiling them costs more than running them.
  jit: 'off',
};

/**
 * Makes the cluster if there is none and spawns a server. Returns when a server answers, this one or that of another
 * process, or when one is likely to answer soon: the caller must probe again.
 * @param owner names this start (`ownerMark`)
 * @throws EmbeddedDatabaseError
 */
export async function launch(
  server: Server,
  identity: Identity,
  owner: string,
  { settings: added = {}, signal }: LaunchOptions,
): Promise<void> {
  const binaries = await placeBinaries(server.home, identity);
  if (!existsSync(server.cluster)) await makeCluster(server, identity, binaries, signal);
  await clearStaleLock(server);
  await closeNetwork(server);
  signal?.throwIfAborted();
  const settings = { ...SETTINGS, ...added, ...server.settings };
  const args = ['-D', server.cluster, '-c', `candlepool.owner=${owner}`];
  for (const [name, value] of Object.entries(settings)) args.push('-c', `${name}=${value}`);
  const exit = await spawnServer(server, runAs(identity, binaries.postgres, args));
  if (exit === null) return;
  // Another process was quicker, or a killed server is not quite gone: look again. Anything else is a fault.
  const isHeld = (await lockHolder(server)) !== null || /lock file|shared memory block/.test(exit.log);
  if (!isHeld) throw new EmbeddedDatabaseError(`it ended with code ${exit.code}\n${exit.log}`);
  await sleep(POLL_MS * 5);
}

interface ServerExit {
  readonly code: number | null;
  readonly log: string;
}

/** Resolves with null as soon as the server answers, or with how it ended. */
async function spawnServer(server: Server, command: ReturnType<typeof runAs>): Promise<ServerExit | null> {
  const logFile = join(server.home, 'server.log');
  const logStart = await stat(logFile).then(
    (found) => found.size,
    () => 0,
  );
  if (logStart > LOG_MAX_BYTES) await truncate(logFile);
  const log = openSync(logFile, 'a');
  // A session of its own: Ctrl-C in a terminal must reach us and not the database, which we stop when we have drained.
  const child = spawn(command.command, command.args, {
    stdio: ['ignore', log, log],
    detached: true,
    cwd: server.home,
    env: bareEnvironment(),
    ...(command.uid !== undefined && { uid: command.uid, gid: command.gid }),
  });
  closeSync(log);
  child.unref();
  const end: { code?: number | null } = {};
  child.on('exit', (code) => (end.code = code));
  child.on('error', () => (end.code = null));
  while (end.code === undefined) {
    const state = await probe(server.url);
    if (state.kind === 'ready') {
      await state.presence.session.end({ timeout: 1 });
      return null;
    }
    await sleep(POLL_MS);
  }
  return { code: end.code, log: await logTail(server) };
}

/** The last lines that the server has written. */
export async function logTail(server: Server): Promise<string> {
  const text = await readFile(join(server.home, 'server.log'), 'utf8').catch(() => '');
  return text.trimEnd().split('\n').slice(-8).join('\n');
}

/** Makes a server that listens on its socket alone refuse the network. @returns whether its rules had to be changed */
export const closeNetwork = async ({ cluster, settings }: Server): Promise<boolean> =>
  settings.listen_addresses === '' && (await refuseNetwork(cluster));
