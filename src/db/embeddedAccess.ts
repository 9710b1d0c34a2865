// Access to the embedded Postgres over the network: clusters made by earlier versions let it in by their pg_hba.conf.
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
  // Whole or not at all, and still the server's own file.
  const aside = `${file}.${process.pid}`;
  await writeFile(aside, refused, { mode });
  await chown(aside, uid, gid);
  await rename(aside, file);
  return true;
}
