// Where the embedded Postgres of a data folder is: its files, and the address it answers at.
import { join } from 'node:path';
import { loopbackAddress, socketAddress } from './embeddedAddress.ts';
import type { Address } from './embeddedAddress.ts';
import { EmbeddedDatabaseError } from './embeddedError.ts';
import { makeHome } from './embeddedIdentity.ts';
import type { Identity } from './embeddedIdentity.ts';

export interface Server extends Address {
  /** The folder of everything that belongs to it. */
  readonly home: string;
  /** The folder of the database's files, in `home`. */
  readonly cluster: string;
}

/**
 * Makes the folder, but neither a database nor a server.
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
