// How the embedded Postgres is reached: through a Unix socket that only the current user can open, or over loopback on
// Windows.
import { createHash, randomBytes } from 'node:crypto';
import { lstat, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { socketUrl } from './connect.ts';
import { makePrivate, ownerOf } from './embeddedIdentity.ts';
import type { Identity } from './embeddedIdentity.ts';

export const USER = 'candlepool';
const DATABASE = 'postgres';

export interface Address {
  readonly url: string;
  readonly settings: Readonly<Record<string, string>>;
  readonly initdbArgs: readonly string[];
}

/** sun_path holds 108 bytes with its final zero; Postgres appends `/.s.PGSQL.5432` and, for its lock, `.lock`. */
const SOCKET_FOLDER_MAX_BYTES = 107 - '/.s.PGSQL.5432.lock'.length;

/**
 * No port, no password, and nobody outside the folder (0700) can connect.
 * @throws Error when somebody else's folder lies where ours should.
 */
export async function socketAddress(home: string, identity: Identity): Promise<Address> {
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
export async function loopbackAddress(home: string): Promise<Address> {
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
