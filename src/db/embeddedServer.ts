// The server process of the embedded Postgres: the address it answers at, its launch and log, the lock file that names
// it, and its stop.
import type { ChildProcess } from 'node:child_process';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { closeSync, existsSync, openSync } from 'node:fs';
import { lstat, readdir, readFile, readlink, rename, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { socketUrl } from './connect.ts';
import {
  EmbeddedDatabaseError,
  makeCluster,
  makeHome,
  makePrivate,
  ownerOf,
  placeBinaries,
  spawnAs,
  USER,
} from './embeddedCluster.ts';
import type { Identity } from './embeddedCluster.ts';
import { isAlive } from './processes.ts';

const DATABASE = 'postgres';

interface Address {
  readonly url: string;
  readonly settings: Readonly<Record<string, string>>;
  readonly initdbArgs: readonly string[];
}

export interface Server extends Address {
  /** The folder of everything that belongs to it. */
  readonly home: string;
  /** The folder of the database's files, in `home`. */
  readonly cluster: string;
}

export interface LaunchOptions {
  /** Interrupts the start; its reason is thrown, and nothing is left running. */
  readonly signal?: AbortSignal;
  /** Postgres settings on top of ours, e.g. {fsync: 'off'} for a database that lives as long as a test. */
  readonly settings?: Readonly<Record<string, string>>;
}

const POLL_MS = 10;
/** A longer log is emptied at the next start. */
const LOG_MAX_BYTES = 4 << 20;
/** Fast shutdown ends sessions and writes a checkpoint; after this long the server is told to drop everything. */
const STOP_TIMEOUT_MS = 8_000;

const SETTINGS: Readonly<Record<string, string>> = {
  max_connections: '200',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_min_messages: 'warning',
  // Our queries are short; compiling them costs more than running them.
  jit: 'off',
};

/**
 * Finds where the server of a data folder is. Makes the folder, but neither a database nor a server.
 * @param isLoopback over TCP on this host, as on Windows; else over a Unix socket
 * @throws EmbeddedDatabaseError, FolderError
 */
export async function openServer(dataDir: string, identity: Identity, isLoopback: boolean): Promise<Server> {
  const home = await makeHome(dataDir, identity);
  const address = await (isLoopback ? loopbackAddress(home) : socketAddress(home, identity)).catch((error: Error) => {
    throw new EmbeddedDatabaseError(error.message);
  });
  return { ...address, home, cluster: join(home, 'cluster') };
}

/** sun_path holds 108 bytes with its final zero; Postgres appends `/.s.PGSQL.5432` and, for its lock, `.lock`. */
const SOCKET_FOLDER_MAX_BYTES = 107 - '/.s.PGSQL.5432.lock'.length;

/**
 * A Unix socket that only the current user can open: no port, no password, and nobody outside its folder (0700) can
 * connect.
 * @throws Error when somebody else's folder lies where ours should.
 */
async function socketAddress(home: string, identity: Identity): Promise<Address> {
  const folder = socketFolderOf(home);
  await makePrivate(folder, identity);
  const found = await lstat(folder);
  // A shared temporary folder may hold a trap of another user under our name.
  const isOurs = found.uid === ownerOf(identity);
  if (!found.isDirectory() || !isOurs || (found.mode & 0o077) !== 0) {
    throw new Error(`${folder} should be a folder of mode 0700 of our own, and is not; remove it`);
  }
  return {
    url: socketUrl(folder, USER, DATABASE),
    settings: { listen_addresses: '', unix_socket_directories: folder, unix_socket_permissions: '0700' },
    // Only those who may open the folder reach the socket. The network is refused even if a setting allows it.
    initdbArgs: ['--auth-local=trust', '--auth-host=reject'],
  };
}

/** Below `home`, or for a long path a folder in tmpdir that is named by its hash, so that every process finds it. */
function socketFolderOf(home: string): string {
  const folder = join(home, 'socket');
  if (Buffer.byteLength(folder) <= SOCKET_FOLDER_MAX_BYTES) return folder;
  const name = `candlepool-${createHash('sha256').update(home).digest('hex').slice(0, 16)}`;
  const short = join(tmpdir(), name);
  return Buffer.byteLength(short) <= SOCKET_FOLDER_MAX_BYTES ? short : join('/tmp', name);
}

/** Loopback with a password: port and password are drawn once and kept in `home`. */
async function loopbackAddress(home: string): Promise<Address> {
  const port = await writeOnce(join(home, 'port'), async () => String(await freePort()));
  const passwordFile = join(home, 'password');
  const password = await writeOnce(passwordFile, async () => randomBytes(24).toString('hex'));
  return {
    url: `postgresql://${USER}:${password}@127.0.0.1:${port}/${DATABASE}`,
    settings: { listen_addresses: '127.0.0.1', port, unix_socket_directories: '' },
    initdbArgs: ['--auth=scram-sha-256', `--pwfile=${passwordFile}`],
  };
}

/** The text of a file, written by whichever process is first. */
async function writeOnce(path: string, make: () => Promise<string>): Promise<string> {
  const text = await make();
  await writeFile(path, text, { flag: 'wx', mode: 0o600 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  return readFile(path, 'utf8');
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/**
 * Makes the cluster if there is none and spawns a server. Its lock file decides between several that start at once: all
 * but one of them end at once.
 * @param owner names this start; the server carries it as the setting `candlepool.owner`
 * @throws EmbeddedDatabaseError
 */
export async function launch(
  server: Server,
  identity: Identity,
  owner: string,
  { settings: added = {}, signal }: LaunchOptions,
): Promise<ChildProcess> {
  const binaries = await placeBinaries(server.home, identity);
  if (!existsSync(server.cluster)) await makeCluster(server, identity, binaries, signal);
  await clearStaleLock(server);
  signal?.throwIfAborted();
  const settings = { ...SETTINGS, ...added, ...server.settings, 'candlepool.owner': owner };
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const logFile = logOf(server);
  const isLong = (await stat(logFile).catch(() => ({ size: 0 }))).size > LOG_MAX_BYTES;
  if (isLong) await truncate(logFile);
  const log = openSync(logFile, 'a');
  const program = join(binaries, 'postgres');
  const child = spawnAs(identity, program, ['-D', server.cluster, ...args], server.home, ['ignore', log, log]);
  closeSync(log);
  child.unref();
  // A server that could not be spawned has an exit code as well, which `requireHeld` reports.
  child.on('error', () => {});
  return child;
}

/** Whether a launched server has ended. */
export const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null;

/**
 * Accepts the end of a launched server when another process was quicker, or a killed server is not quite gone.
 * @throws EmbeddedDatabaseError for any other end
 */
export async function requireHeld(server: Server, { exitCode }: ChildProcess): Promise<void> {
  const log = await logTail(server);
  const isHeld = (await lockHolder(server)) !== null || /lock file|shared memory block/.test(log);
  if (!isHeld) throw new EmbeddedDatabaseError(`it ended with code ${exitCode}\n${log}`);
}

const logOf = ({ home }: Server): string => join(home, 'server.log');

/** The last lines that the server has written. */
export async function logTail(server: Server): Promise<string> {
  const text = await readFile(logOf(server), 'utf8').catch(() => '');
  return text.trimEnd().split('\n').slice(-8).join('\n');
}

/** The process that the lock file of the cluster names; null: there is no such file. */
async function lockHolder({ cluster }: Server): Promise<number | null> {
  const text = await readFile(join(cluster, 'postmaster.pid'), 'utf8').catch(() => null);
  return text === null ? null : pidIn(text);
}

/** The pid in the first line of a lock file, which is negative for a standalone server; null: it is not complete. */
function pidIn(text: string): number | null {
  const pid = Math.abs(Number(text.split('\n')[0]));
  return Number.isInteger(pid) && pid > 0 ? pid : null;
}

/** The process of the server, by the lock file of its cluster; null: none lives. */
export async function livingPostmaster(server: Server): Promise<number | null> {
  const pid = await lockHolder(server);
  return pid !== null && isAlive(pid) && (await worksIn(pid, server.cluster)) ? pid : null;
}

/** Where there is no /proc the question cannot be asked, and a living pid counts as the server. */
async function worksIn(pid: number, folder: string): Promise<boolean> {
  if (!existsSync('/proc/self')) return true;
  return (await readlink(`/proc/${pid}/cwd`).catch(() => '')) === folder;
}

/**
 * Removes the lock file of a server that is certainly gone. Postgres itself removes a file whose pid no process has,
 * but refuses to start while *any* process has it: a zombie that nobody reaps or, after a container restart, an
 * unrelated process. In that case the file is removed here, unless a process works in the cluster's folder, as every
 * Postgres process does.
 */
async function clearStaleLock(server: Server): Promise<void> {
  const holder = await lockHolder(server);
  if (holder === null || !existsSync('/proc/self') || !existsSync(`/proc/${holder}`)) return;
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  for (const pid of pids) if (await worksIn(pid, server.cluster)) return;
  const lock = join(server.cluster, 'postmaster.pid');
  const aside = `${lock}.${randomUUID()}`;
  // Moved first, then checked: if another process has started a server in the meantime, its file is moved back.
  await rename(lock, aside).catch(() => {});
  const moved = await readFile(aside, 'utf8').catch(() => null);
  if (moved !== null && pidIn(moved) !== holder) await rename(aside, lock);
  else await rm(aside, { force: true });
}

/** Stops the server, if it runs, and waits until it is gone, ten seconds at most. */
export async function stopServer(server: Server): Promise<void> {
  const pid = await livingPostmaster(server);
  if (pid === null) return;
  const started = Date.now();
  // Fast shutdown, then immediate: the next start replays the log.
  for (const [signal, until] of [
    ['SIGINT', STOP_TIMEOUT_MS],
    ['SIGQUIT', STOP_TIMEOUT_MS + 2_000],
  ] as const) {
    signalIfAlive(pid, signal);
    while (isAlive(pid)) {
      if (Date.now() - started > until) break;
      await sleep(POLL_MS);
    }
  }
}

function signalIfAlive(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
