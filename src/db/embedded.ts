// The embedded Postgres: a real server under DATA_DIR, started when nobody has, adopted when somebody has.
import { spawn } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { closeSync, existsSync, openSync } from 'node:fs';
import { lstat, mkdir, readdir, readFile, readlink, rename, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect, socketUrl } from './connect.ts';
import { placeBinaries } from './embeddedBinaries.ts';
import type { Binaries } from './embeddedBinaries.ts';
import { chooseIdentity, makeHome, makePrivate, runAs } from './embeddedIdentity.ts';
import type { Identity } from './embeddedIdentity.ts';
import { isAlive, processStamp } from './processes.ts';

export type EmbeddedServer = AsyncDisposable & {
  readonly url: string;
  /** Whether disposing stops the server: true for the one that started it, or took it over from a dead owner. */
  readonly isOwner: boolean;
};

export type EmbeddedOptions = {
  /** The process the server belongs to; another than this one leaves it running when this one disposes. */
  readonly ownerPid?: number;
  /** Postgres settings on top of ours, e.g. {fsync: 'off'} for a database that lives as long as a test. */
  readonly settings?: Readonly<Record<string, string>>;
  /** For tests: run under this identity instead of the one found. */
  readonly identity?: Identity;
};

const USER = 'candlepool';
const DATABASE = 'postgres';
/** Crash recovery of a large write-ahead log may take this long; anything longer is a fault. */
const START_TIMEOUT_MS = 60_000;
/** Fast shutdown ends sessions and writes a checkpoint; after this long the server is told to drop everything. */
const STOP_TIMEOUT_MS = 8_000;
const POLL_MS = 10;
/** sun_path holds 108 bytes with its final zero; Postgres appends `/.s.PGSQL.5432` and, for its lock, `.lock`. */
const SOCKET_FOLDER_MAX_BYTES = 107 - '/.s.PGSQL.5432.lock'.length;
const LOG_MAX_BYTES = 4 * 2 ** 20;

const SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: '',
  unix_socket_permissions: '0700',
  max_connections: '200',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_min_messages: 'warning',
  // Our queries are short; compiling them costs more than running them.
  jit: 'off',
};

/** The embedded Postgres could not be had; the message says why and names the way out. */
export class EmbeddedDatabaseError extends Error {
  override readonly name = 'EmbeddedDatabaseError';
  constructor(reason: string) {
    super(
      `The embedded Postgres could not start: ${reason}. Correct that, or set DATABASE_URL to a Postgres of your own.`,
    );
  }
}

/**
 * Starts the server of `dataDir`, or adopts the one that runs. Any number of processes may call this at once: Postgres's
 * own lock file decides who starts it. Dispose to stop it, which only the owner does.
 * @throws EmbeddedDatabaseError
 */
export async function startEmbedded(dataDir: string, options: EmbeddedOptions = {}): Promise<EmbeddedServer> {
  if (process.platform === 'win32') {
    throw new EmbeddedDatabaseError(
      'it is reached through a unix socket, which Postgres on Windows does not offer reliably',
    );
  }
  const identity = options.identity ?? chooseIdentity();
  const home = await makeHome(dataDir, identity);
  const server = await openServer(home, identity);
  const ownerPid = options.ownerPid ?? process.pid;
  const deadline = Date.now() + START_TIMEOUT_MS;
  for (;;) {
    const state = await probe(server.url);
    if (state.kind === 'ready') {
      const isOwner = await own(server, state.owner, ownerPid);
      return {
        url: server.url,
        isOwner,
        [Symbol.asyncDispose]: async () => {
          if (isOwner && ownerPid === process.pid) await stopServer(server);
        },
      };
    }
    if (Date.now() > deadline) {
      throw new EmbeddedDatabaseError(
        `it did not answer within ${START_TIMEOUT_MS / 1000} s\n${await logTail(server)}`,
      );
    }
    if (state.kind === 'absent' && !(await isPostmasterAlive(server)))
      await launch(server, identity, ownerPid, options);
    else await sleep(POLL_MS);
  }
}

/** Stops the server of `dataDir` whoever owns it; nothing happens when none runs. */
export async function stopEmbedded(dataDir: string): Promise<void> {
  const identity = chooseIdentity();
  const home = await makeHome(dataDir, identity);
  await stopServer(await openServer(home, identity));
}

type Server = { readonly home: string; readonly cluster: string; readonly socketFolder: string; readonly url: string };

async function openServer(home: string, identity: Identity): Promise<Server> {
  let socketFolder = join(home, 'socket');
  if (Buffer.byteLength(socketFolder) > SOCKET_FOLDER_MAX_BYTES) {
    const name = `candlepool-${createHash('sha256').update(home).digest('hex').slice(0, 16)}`;
    const base = Buffer.byteLength(join(tmpdir(), name)) > SOCKET_FOLDER_MAX_BYTES ? '/tmp' : tmpdir();
    socketFolder = join(base, name);
  }
  await makePrivate(socketFolder, identity);
  await assertPrivate(socketFolder);
  return { home, cluster: join(home, 'cluster'), socketFolder, url: socketUrl(socketFolder, USER, DATABASE) };
}

/** A shared temporary folder may hold a trap of another user under our name. */
async function assertPrivate(folder: string): Promise<void> {
  const found = await lstat(folder);
  const isOurs = process.getuid?.() === 0 || found.uid === process.getuid?.();
  if (!found.isDirectory() || !isOurs || (found.mode & 0o077) !== 0) {
    throw new EmbeddedDatabaseError(`${folder} should be a folder of mode 0700 of our own, and is not; remove it`);
  }
}

type Probe =
  | { readonly kind: 'ready'; readonly owner: string }
  | { readonly kind: 'starting' }
  | { readonly kind: 'absent' };

async function probe(url: string): Promise<Probe> {
  const sql = connect(url, { max: 1 });
  try {
    const [row] = await sql<{ owner: string }[]>`select current_setting('candlepool.owner', true) as owner`;
    return { kind: 'ready', owner: row.owner };
  } catch (error) {
    const { code } = error as { code?: string };
    // cannot_connect_now: starting up or shutting down; either passes.
    return { kind: code === '57P03' ? 'starting' : 'absent' };
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/**
 * Whether the running server is this process's to stop. The server carries the stamp of the process that started it; a
 * file names a later owner, valid for that very start of the server. An orphan goes to whoever finds it.
 */
async function own(server: Server, startedBy: string, ownerPid: number): Promise<boolean> {
  const mine = processStamp(ownerPid);
  const postmaster = (await readPostmasterFile(server))?.identity ?? '';
  const takenOver = await readFile(join(server.home, 'owner'), 'utf8').catch(() => '');
  const [forPostmaster, laterOwner] = takenOver.split('\n');
  const owner = forPostmaster === postmaster && laterOwner !== undefined ? laterOwner : startedBy;
  if (owner === mine) return claimOnce(server, postmaster);
  if (isStampAlive(owner)) return false;
  const temporary = join(server.home, `owner.${randomUUID()}`);
  await writeFile(temporary, `${postmaster}\n${mine}\n`);
  await rename(temporary, join(server.home, 'owner'));
  return claimOnce(server, postmaster);
}

/** Servers this process has already been given as their owner: the second opening of one is an adoption. */
const claimed = new Set<string>();
function claimOnce(server: Server, postmaster: string): boolean {
  const key = `${server.home} ${postmaster}`;
  if (claimed.has(key)) return false;
  claimed.add(key);
  return true;
}

function isStampAlive(stamp: string): boolean {
  const pid = Number(stamp.split(':')[0]);
  return Number.isInteger(pid) && pid > 0 && isAlive(pid) && processStamp(pid) === stamp;
}

/** Makes the cluster if there is none, spawns a server, and returns when it answers, or when it has given up. */
async function launch(server: Server, identity: Identity, ownerPid: number, options: EmbeddedOptions): Promise<void> {
  const binaries = await placeBinaries(server.home, identity);
  if (!existsSync(server.cluster)) await initialise(server, identity, binaries);
  await clearStaleLock(server);
  const settings = { ...SETTINGS, ...options.settings, unix_socket_directories: server.socketFolder };
  const args = ['-D', server.cluster, '-c', `candlepool.owner=${processStamp(ownerPid)}`];
  for (const [name, value] of Object.entries(settings)) args.push('-c', `${name}=${value}`);
  const exit = await spawnServer(server, runAs(identity, binaries.postgres, args));
  if (exit === null) return;
  // Another process was quicker, or a killed server is not quite gone: look again. Anything else is a fault.
  const isHeld = (await readPostmasterFile(server)) !== null || /lock file|shared memory block/.test(exit.log);
  if (!isHeld) throw new EmbeddedDatabaseError(`it ended with code ${exit.code}\n${exit.log}`);
  await sleep(POLL_MS * 5);
}

type ServerExit = { readonly code: number | null; readonly log: string };

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
    env: { PATH: process.env.PATH ?? '', LC_ALL: 'C' },
    ...(command.uid !== undefined && { uid: command.uid, gid: command.gid }),
  });
  closeSync(log);
  child.unref();
  const end: { code?: number | null } = {};
  child.on('exit', (code) => (end.code = code));
  child.on('error', () => (end.code = null));
  while (end.code === undefined) {
    const state = await probe(server.url);
    if (state.kind === 'ready') return null;
    await sleep(POLL_MS);
  }
  return { code: end.code, log: await logTail(server) };
}

/** initdb into a temporary folder, then a rename: there is no such thing as a half-made cluster. */
async function initialise(server: Server, identity: Identity, binaries: Binaries): Promise<void> {
  const temporary = join(server.home, `cluster.${process.pid}.${randomUUID().slice(0, 8)}`);
  await mkdir(server.home, { recursive: true });
  const command = runAs(identity, binaries.initdb, [
    `--pgdata=${temporary}`,
    `--username=${USER}`,
    '--auth=trust',
    '--encoding=UTF8',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--locale=C',
    // An empty cluster has nothing to lose; the first checkpoint writes it out.
    '--no-sync',
    '--no-instructions',
  ]);
  const output = await new Promise<{ code: number | null; text: string }>((resolve) => {
    const child = spawn(command.command, command.args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      cwd: server.home,
      env: { PATH: process.env.PATH ?? '', LC_ALL: 'C' },
      ...(command.uid !== undefined && { uid: command.uid, gid: command.gid }),
    });
    let text = '';
    child.stdout.on('data', (chunk) => (text += String(chunk)));
    child.stderr.on('data', (chunk) => (text += String(chunk)));
    child.on('error', (error) => resolve({ code: null, text: error.message }));
    child.on('close', (code) => resolve({ code, text }));
  });
  if (output.code !== 0) {
    await rm(temporary, { recursive: true, force: true });
    throw new EmbeddedDatabaseError(`initdb ended with code ${output.code}: ${output.text.trim().slice(-2000)}`);
  }
  await rename(temporary, server.cluster).catch(async (error: NodeJS.ErrnoException) => {
    await rm(temporary, { recursive: true, force: true });
    // Another process made the cluster in the meantime: then there is one, which is all we wanted.
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
  });
}

type PostmasterFile = {
  readonly pid: number;
  /** pid and start, which tell two runs of the server apart */ readonly identity: string;
};

async function readPostmasterFile(server: Server): Promise<PostmasterFile | null> {
  const text = await readFile(join(server.cluster, 'postmaster.pid'), 'utf8').catch(() => null);
  if (text === null) return null;
  const lines = text.split('\n');
  const pid = Math.abs(Number(lines[0]));
  return Number.isInteger(pid) && pid > 0 ? { pid, identity: `${lines[0]}@${lines[2] ?? ''}` } : null;
}

async function isPostmasterAlive(server: Server): Promise<boolean> {
  const file = await readPostmasterFile(server);
  return file !== null && isAlive(file.pid) && (await worksIn(file.pid, server.cluster));
}

/**
 * Removes the lock file of a server that is gone for certain. A file that names no process Postgres clears by itself;
 * but it refuses to start while *any* process has that number: a zombie nobody reaps, or, after a container restart, an
 * unrelated process. Then the file goes, if no process works in the cluster's folder, which every Postgres process does.
 */
async function clearStaleLock(server: Server): Promise<void> {
  const file = await readPostmasterFile(server);
  if (file === null || !existsSync('/proc/self') || !existsSync(`/proc/${file.pid}`)) return;
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  for (const pid of pids) if (await worksIn(pid, server.cluster)) return;
  const lock = join(server.cluster, 'postmaster.pid');
  const aside = `${lock}.${randomUUID()}`;
  // Moved, then looked at: should another process have started a server since, its file goes back.
  await rename(lock, aside).catch(() => {});
  const moved = await readFile(aside, 'utf8').catch(() => null);
  if (moved !== null && Math.abs(Number(moved.split('\n')[0])) !== file.pid) await rename(aside, lock);
  else await rm(aside, { force: true });
}

/** Where there is no /proc the question cannot be asked, and a living pid counts as the server. */
async function worksIn(pid: number, folder: string): Promise<boolean> {
  if (!existsSync('/proc/self')) return true;
  return (await readlink(`/proc/${pid}/cwd`).catch(() => '')) === folder;
}

async function stopServer(server: Server): Promise<void> {
  const file = await readPostmasterFile(server);
  if (file === null || !isAlive(file.pid) || !(await worksIn(file.pid, server.cluster))) return;
  claimed.delete(`${server.home} ${file.identity}`);
  const started = Date.now();
  // Fast shutdown, then immediate: the next start replays the log.
  for (const [signal, until] of [
    ['SIGINT', STOP_TIMEOUT_MS],
    ['SIGQUIT', STOP_TIMEOUT_MS + 2_000],
  ] as const) {
    signalIfAlive(file.pid, signal);
    while (isAlive(file.pid)) {
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

async function logTail(server: Server): Promise<string> {
  const text = await readFile(join(server.home, 'server.log'), 'utf8').catch(() => '');
  return text.trimEnd().split('\n').slice(-8).join('\n');
}
