// The user the embedded Postgres runs as: Postgres refuses to run as root, and containers often are root.
import { spawnSync } from 'node:child_process';
import { chown, stat } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import { DATA_DIR_ADVICE, makeFolder } from '../folders.ts';

/** `nobody` on Linux. */
const NOBODY = 65_534;

/** Where root keeps the database when DATA_DIR lies in a folder that `nobody` may not enter. */
const ROOTS_OWN_FOLDER = '/var/lib/candlepool';

export type Identity =
  /** Not root: the current user. */
  | { readonly kind: 'self' }
  /** Root: Postgres runs in a user namespace where it is not root. Files stay ours, no folder needs another owner. */
  | { readonly kind: 'namespace' }
  /** Root where namespaces are forbidden (Docker's default seccomp): as `nobody`, in folders that are its own. */
  | { readonly kind: 'nobody' };

interface Spawnable {
  readonly command: string;
  readonly args: string[];
  readonly uid?: number;
  readonly gid?: number;
}

const UNSHARE = ['--user', `--map-user=${NOBODY}`, `--map-group=${NOBODY}`];

/** Finds the least intrusive identity that Postgres accepts on this machine. */
export function chooseIdentity(): Identity {
  if (process.getuid?.() !== 0) return { kind: 'self' };
  const isNamespaceAllowed = spawnSync('unshare', [...UNSHARE, 'true'], { stdio: 'ignore' }).status === 0;
  return { kind: isNamespaceAllowed ? 'namespace' : 'nobody' };
}

/** The command line that runs `command` under that identity; the process spawned is `command` itself (exec). */
export function runAs(identity: Identity, command: string, args: readonly string[]): Spawnable {
  switch (identity.kind) {
    case 'self':
      return { command, args: [...args] };
    case 'namespace':
      return { command: 'unshare', args: [...UNSHARE, command, ...args] };
    case 'nobody':
      return { command, args: [...args], uid: NOBODY, gid: NOBODY };
  }
}

/** The folder everything of the embedded Postgres lies in (0700), made if need be. */
export async function makeHome(dataDir: string, identity: Identity): Promise<string> {
  let home = join(dataDir, 'postgres');
  // `nobody` must be able to pass through it, and no one else to list it.
  await makeFolder(dataDir, DATA_DIR_ADVICE, identity.kind === 'nobody' ? 0o711 : 0o700);
  if (identity.kind === 'nobody' && !(await isReachable(dataDir))) {
    home = distantHome(dataDir);
  }
  await makePrivate(home, identity);
  return home;
}

const distantHome = (dataDir: string): string =>
  join(ROOTS_OWN_FOLDER, createHash('sha256').update(dataDir).digest('hex').slice(0, 16));

/** Where the embedded Postgres of a folder may be, without making anything. */
export const possibleHomes = (dataDir: string): string[] => [join(dataDir, 'postgres'), distantHome(dataDir)];

/** The user that owns what is made for the identity; undefined where users have no numbers. */
export const ownerOf = (identity: Identity): number | undefined =>
  identity.kind === 'nobody' ? NOBODY : process.getuid?.();

/** Makes a 0700 folder that belongs to the identity. */
export async function makePrivate(folder: string, identity: Identity): Promise<void> {
  await makeFolder(folder, DATA_DIR_ADVICE, 0o700);
  if (identity.kind === 'nobody') await chown(folder, NOBODY, NOBODY);
}

/** Whether the identity can enter `path`: every folder above, and itself, may be entered by others. */
export async function isReachableBy(identity: Identity, path: string): Promise<boolean> {
  return identity.kind !== 'nobody' || (await isReachable(path));
}

async function isReachable(path: string): Promise<boolean> {
  for (let folder = path; ; folder = dirname(folder)) {
    const { mode } = await stat(folder);
    if ((mode & 0o001) === 0) return false;
    if (folder === dirname(folder)) return true;
  }
}
