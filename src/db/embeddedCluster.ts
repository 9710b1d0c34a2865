// The cluster of the embedded Postgres, which is the folder of its files: made whole, or not at all.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { bareEnvironment } from '../config.ts';
import { USER } from './embeddedAddress.ts';
import type { Address } from './embeddedAddress.ts';
import type { Binaries } from './embeddedBinaries.ts';
import { EmbeddedDatabaseError } from './embeddedError.ts';
import { runAs } from './embeddedIdentity.ts';
import type { Identity } from './embeddedIdentity.ts';
import { isAlive } from './processes.ts';

interface NewCluster extends Pick<Address, 'initdbArgs'> {
  /** The folder that the cluster is made in. */
  readonly home: string;
  /** Its own folder, below `home`. */
  readonly cluster: string;
}

/** Runs initdb in a temporary folder, then renames it, so that there is never a half-made cluster. */
export async function makeCluster(
  server: NewCluster,
  identity: Identity,
  binaries: Binaries,
  signal: AbortSignal | undefined,
): Promise<void> {
  const temporary = join(server.home, `cluster.${process.pid}.${randomUUID().slice(0, 8)}`);
  await sweepUnfinished(server.home);
  const command = runAs(identity, binaries.initdb, [
    `--pgdata=${temporary}`,
    `--username=${USER}`,
    ...server.initdbArgs,
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
      // In a session of its own: Ctrl-C in a terminal reaches only this process, which then stops it.
      detached: true,
      cwd: server.home,
      env: bareEnvironment(),
      ...(command.uid !== undefined && { uid: command.uid, gid: command.gid }),
    });
    signal?.addEventListener('abort', () => child.kill('SIGTERM'), { once: true });
    let text = '';
    child.stdout.on('data', (chunk) => (text += String(chunk)));
    child.stderr.on('data', (chunk) => (text += String(chunk)));
    child.on('error', (error) => resolve({ code: null, text: error.message }));
    child.on('close', (code) => resolve({ code, text }));
  });
  if (output.code !== 0) {
    await rm(temporary, { recursive: true, force: true });
    signal?.throwIfAborted();
    throw new EmbeddedDatabaseError(`initdb ended with code ${output.code}: ${output.text.trim().slice(-2000)}`);
  }
  await rename(temporary, server.cluster).catch(async (error: NodeJS.ErrnoException) => {
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
