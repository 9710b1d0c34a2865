// The embedded Postgres: a real server under DATA_DIR, started when nobody has, adopted when somebody has.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, openSync } from 'node:fs';
import { readFile, rm, rmdir, stat, truncate } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { bareEnvironment } from '../config.ts';
import { requireRoom } from '../folders.ts';
import type { Log } from '../log.ts';
import { connect } from './connect.ts';
import type { Sql } from './connect.ts';
import { refuseNetwork } from './embeddedAccess.ts';
import { loopbackAddress, socketAddress } from './embeddedAddress.ts';
import type { Address } from './embeddedAddress.ts';
import { placeBinaries } from './embeddedBinaries.ts';
import { makeCluster } from './embeddedCluster.ts';
import { EmbeddedDatabaseError } from './embeddedError.ts';
import { chooseIdentity, makeHome, possibleHomes, runAs } from './embeddedIdentity.ts';
import type { Identity } from './embeddedIdentity.ts';
import { clearStaleLock, isPostmasterAlive, readPostmasterFile, stopServer } from './embeddedPostmaster.ts';
import { isStampAlive, processStamp } from './processes.ts';

export type EmbeddedServer = AsyncDisposable & {
  readonly url: string;
  /** Whether this call started it; false: it ran already. */
  readonly isStarter: boolean;
};

export interface EmbeddedOptions {
  /** For a process that lives as long as the server: it starts the server again when that is lost, and logs it. */
  readonly log?: Log | undefined;
  /** Interrupts the start; its reason is thrown, and nothing is left running. */
  readonly signal?: AbortSignal;
  /** The process the server belongs to, if it is to outlive this one. */
  readonly ownerPid?: number;
  /** Postgres settings on top of ours, e.g. {fsync: 'off'} for a database that lives as long as a test. */
  readonly settings?: Readonly<Record<string, string>>;
  /** For tests: run under this identity instead of the one found. */
  readonly identity?: Identity;
  /** For tests: the way Windows is served. */
  readonly isLoopback?: boolean;
}

/** Crash recovery of a large write-ahead log may take this long; anything longer is a fault. */
const START_TIMEOUT_MS = 60_000;
const POLL_MS = 10;
/** An empty database with its log takes 56 MiB, and the shipped series and some hundred results twenty more. */
const NEW_DATABASE_BYTES = 128 << 20;
/** A segment of the log. With less, Postgres may not even be able to say why it does not start. */
const RESTART_BYTES = 16 << 20;
const LOG_MAX_BYTES = 4 * 2 ** 20;
/**
 * Every process that uses the server keeps one session of this name, by which the last one knows that it is the last.
 */
const PRESENCE = 'candlepool presence';
const LEAVE_LOCK = 7_233_030;
/** Marks a server that a process keeps without being present itself. */
const KEPT = 'kept';
/** A process that did not start the server gives the one that did this long to start it again. */
const RESTART_PATIENCE_MS = 1_000;
const RESTART_BACKOFF_MS = 100;
const RESTART_BACKOFF_MAX_MS = 5_000;

const SETTINGS: Readonly<Record<string, string>> = {
  max_connections: '200',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_min_messages: 'warning',
  // Our queries are short; compiling them costs more than running them.
  jit: 'off',
};

/**
 * Starts the server of `dataDir`, or adopts the one that runs. Any number of processes may call this at once:
 * Postgres's own lock file decides who starts it. Dispose when done: the last process that uses the server stops it.
 * @throws EmbeddedDatabaseError, FolderError
 */
export async function startEmbedded(dataDir: string, options: EmbeddedOptions = {}): Promise<EmbeddedServer> {
  const identity = options.identity ?? chooseIdentity();
  const server = await openServer(dataDir, identity, options.isLoopback ?? process.platform === 'win32');
  if (!(await isPostmasterAlive(server))) {
    const bytes = existsSync(server.cluster) ? RESTART_BYTES : NEW_DATABASE_BYTES;
    await requireRoom(server.home, bytes, 'set DATA_DIR to a folder on another disk');
  }
  // The server carries it as a setting, so who started it, of several that tried, is decided with the start itself.
  const kept = options.ownerPid === undefined ? '' : ` ${KEPT}`;
  const owner = `${processStamp(options.ownerPid ?? process.pid)} ${randomUUID()}${kept}`;
  const reached = await reach(server, identity, owner, options);
  const isStarter = reached.owner === owner;
  const watch = options.log === undefined ? undefined : watchServer(server, identity, owner, reached, options);
  return {
    url: server.url,
    isStarter,
    [Symbol.asyncDispose]: async () => leave(server, watch === undefined ? reached : await watch.stop()),
  };
}

/** A session of this process on the server. */
interface Reached {
  readonly presence: Sql;
  readonly owner: string;
  readonly closed: Promise<void>;
}

/** Waits until the server answers, and starts it when nobody has. */
async function reach(
  server: Server,
  identity: Identity,
  owner: string,
  options: EmbeddedOptions,
  patienceMs = 0,
): Promise<Reached> {
  const begun = Date.now();
  for (;;) {
    const state = await probe(server.url);
    if (state.kind === 'ready') {
      // It may have been started by an earlier version.
      if (await closeNetwork(server)) await state.presence`select pg_reload_conf()`;
      return state;
    }
    if (Date.now() > begun + START_TIMEOUT_MS) {
      const waited = `it did not answer within ${START_TIMEOUT_MS / 1000} s`;
      throw new EmbeddedDatabaseError(`${waited}\n${await logTail(server)}`);
    }
    const isAbsent = state.kind === 'absent' && !(await isPostmasterAlive(server));
    if (isAbsent && Date.now() >= begun + patienceMs) {
      // Not later: a server that has been launched must be seen through, so that disposing of it can stop it.
      options.signal?.throwIfAborted();
      await launch(server, identity, owner, options);
    } else {
      await sleep(POLL_MS);
    }
  }
}

/** Where the server is reached over its socket alone. @returns whether its rules had to be changed for that */
const closeNetwork = async ({ cluster, settings }: Server): Promise<boolean> =>
  settings.listen_addresses === '' && (await refuseNetwork(cluster));

/** Starts the server again whenever it is lost, until stopped. */
function watchServer(
  server: Server,
  identity: Identity,
  owner: string,
  first: Reached,
  options: EmbeddedOptions,
): { stop(): Promise<Reached> } {
  const stopping = new AbortController();
  let current = first;
  const { promise: stopped, resolve: stop } = Promise.withResolvers<void>();
  const reachAgain = async (): Promise<Reached> => {
    // Who started the server is the first to start it again; the others do it when that process does not.
    const patienceMs = current.owner === owner ? 0 : RESTART_PATIENCE_MS;
    for (let tries = 0; ; tries++) {
      if (stopping.signal.aborted) return current;
      try {
        return await reach(server, identity, owner, { ...options, signal: stopping.signal }, patienceMs);
      } catch (error) {
        if (!stopping.signal.aborted) options.log?.error({ err: error }, 'the embedded Postgres could not be started');
        const pauseMs = Math.min(RESTART_BACKOFF_MS * 2 ** tries, RESTART_BACKOFF_MAX_MS) * (0.5 + Math.random() / 2);
        await sleep(pauseMs, undefined, { signal: stopping.signal }).catch(() => {});
      }
    }
  };
  const watching = (async () => {
    while (!stopping.signal.aborted) {
      await Promise.race([current.closed, stopped]);
      if (stopping.signal.aborted) return;
      await current.presence.end({ timeout: 0 });
      options.log?.error('the embedded Postgres is gone; starting it again');
      current = await reachAgain();
      options.log?.info('the embedded Postgres answers again');
    }
  })();
  return {
    stop: async () => {
      stopping.abort();
      stop();
      await watching;
      return current;
    },
  };
}

/** Stops the server of `dataDir`, even if other processes use it; nothing happens when none runs. */
export async function stopEmbedded(dataDir: string): Promise<void> {
  await stopServer(await openServer(dataDir, chooseIdentity(), process.platform === 'win32'));
}

/** Whether a database has ever been made for `dataDir`; nothing is made or started by the question. */
export const hasEmbedded = (dataDir: string): boolean =>
  possibleHomes(dataDir).some((home) => existsSync(join(home, 'cluster')));

/** Stops the server of `dataDir` and removes all of its files, those that had to lie outside of `dataDir` as well. */
export async function removeEmbedded(
  dataDir: string,
  { identity = chooseIdentity() }: Pick<EmbeddedOptions, 'identity'> = {},
): Promise<void> {
  const server = await openServer(dataDir, identity, process.platform === 'win32');
  await stopServer(server);
  const socketFolder = server.settings.unix_socket_directories;
  if (socketFolder) await rm(socketFolder, { recursive: true, force: true });
  await rm(server.home, { recursive: true, force: true });
  // Empty unless another database lies there too.
  await rmdir(dirname(server.home)).catch(() => {});
}

type Server = Address & { readonly home: string; readonly cluster: string };

async function openServer(dataDir: string, identity: Identity, isLoopback: boolean): Promise<Server> {
  const home = await makeHome(dataDir, identity);
  const address = await (isLoopback ? loopbackAddress(home) : socketAddress(home, identity)).catch((error: Error) => {
    throw new EmbeddedDatabaseError(error.message);
  });
  return { ...address, home, cluster: join(home, 'cluster') };
}

type Probe = (Reached & { readonly kind: 'ready' }) | { readonly kind: 'starting' } | { readonly kind: 'absent' };

/** The session that found the server ready stays open, as this process's presence. */
async function probe(url: string): Promise<Probe> {
  const { promise: closed, resolve: onClose } = Promise.withResolvers<void>();
  const presence = connect(url, { max: 1, applicationName: PRESENCE, keepConnections: true, onClose });
  try {
    const [{ owner }] = await presence<{ owner: string }[]>`
      select current_setting('candlepool.owner', true) as owner`;
    return { kind: 'ready', presence, owner, closed };
  } catch (error) {
    await presence.end({ timeout: 1 });
    // cannot_connect_now: starting up or shutting down; either passes.
    return { kind: (error as { code?: string }).code === '57P03' ? 'starting' : 'absent' };
  }
}

/** Ends this process's presence, and stops the server when nobody else is present. */
async function leave(server: Server, { presence }: Reached): Promise<void> {
  // Under a lock, and no longer under the name that is counted: of two that leave at once, the second sees that it is
  // the last.
  const answer = await presence
    .begin(async (tx) => {
      await tx`select pg_advisory_xact_lock(${LEAVE_LOCK})`;
      await tx`set application_name = 'candlepool leaving'`;
      return tx<{ owner: string; others: number }[]>`
        select current_setting('candlepool.owner', true) as owner, (
          select count(*) from pg_stat_activity where application_name = ${PRESENCE} and pid <> pg_backend_pid()
        ) as others`;
    })
    .catch(() => []);
  await presence.end({ timeout: 1 });
  // No answer: somebody has stopped it already.
  if (answer.length === 0) return;
  const [{ owner, others }] = answer;
  const [stamp, , kept] = owner.split(' ');
  if (others === 0 && !(kept === KEPT && isStampAlive(stamp))) await stopServer(server);
}

/**
 * Makes the cluster if there is none and spawns a server; returns when one answers, ours or another, or to look again.
 */
async function launch(
  server: Server,
  identity: Identity,
  owner: string,
  { settings: added = {}, signal }: EmbeddedOptions,
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
  const isHeld = (await readPostmasterFile(server)) !== null || /lock file|shared memory block/.test(exit.log);
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
      await state.presence.end({ timeout: 1 });
      return null;
    }
    await sleep(POLL_MS);
  }
  return { code: end.code, log: await logTail(server) };
}

async function logTail(server: Server): Promise<string> {
  const text = await readFile(join(server.home, 'server.log'), 'utf8').catch(() => '');
  return text.trimEnd().split('\n').slice(-8).join('\n');
}
