// Access to the embedded Postgres over the network: the pg_hba.conf of clusters made by earlier versions allows it.
import { chown, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A line as initdb writes it with `--auth-host=trust`; lines that a person wrote stay as they are. */
const TRUSTED_NETWORK = /^(host\s+(?:all|replication)\s+all\s+(?:127\.0\.0\.1\/32|::1\/128)\s+)trust[ \t]*$/gm;

/**
 * Rewrites those lines of a cluster to `reject`. A server that runs must read the file again.
 * @returns whether there were any
 */
export async function refuseNetwork(cluster: string): Promise<boolean> {
  const file = join(cluster, 'pg_hba.conf');
  const text = await readFile(file, 'utf8');
  const refused = text.replaceAll(TRUSTED_NETWORK, '$1reject');
  if (refused === text) return false;
  const { uid, gid, mode } = await stat(file);
  // Replaced atomically, and with the same owner, so that the server can still read it.
  const aside = `${file}.${process.pid}`;
  await writeFile(aside, refused, { mode });
  await chown(aside, uid, gid);
  await rename(aside, file);
  return true;
}
