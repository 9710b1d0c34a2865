// The postmaster of the embedded Postgres: whether it lives, by the lock file of its cluster, and how it is stopped.
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile, readlink, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isAlive } from './processes.ts';

/** Fast shutdown ends sessions and writes a checkpoint; after this long the server is told to drop everything. */
const STOP_TIMEOUT_MS = 8_000;
const POLL_MS = 10;

interface Cluster {
  /** The folder of the database's files. */
  readonly cluster: string;
}

/** The process that the lock file of the cluster names; null: there is no such file. */
export async function lockHolder({ cluster }: Cluster): Promise<number | null> {
  const text = await readFile(join(cluster, 'postmaster.pid'), 'utf8').catch(() => null);
  return text === null ? null : pidIn(text);
}

export const isPostmasterAlive = async (server: Cluster): Promise<boolean> => (await livingPostmaster(server)) !== null;

async function livingPostmaster(server: Cluster): Promise<number | null> {
  const pid = await lockHolder(server);
  return pid !== null && isAlive(pid) && (await worksIn(pid, server.cluster)) ? pid : null;
}

/** The pid in the first line of a lock file, which is negative for a standalone server; null: it is not complete. */
function pidIn(text: string): number | null {
  const pid = Math.abs(Number(text.split('\n')[0]));
  return Number.isInteger(pid) && pid > 0 ? pid : null;
}

/**
 * Removes the lock file of a server that is certainly gone. Postgres itself removes a file whose pid no process has,
 * but refuses to start while *any* process has it: a zombie that nobody reaps or, after a container restart, an
 * unrelated process. In that case the file is removed here, unless a process works in the cluster's folder, as every
 * Postgres process does.
 */
export async function clearStaleLock(server: Cluster): Promise<void> {
  const holder = await lockHolder(server);
  if (holder === null || !existsSync('/proc/self') || !existsSync(`/proc/${holder}`)) return;
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  for (const pid of pids) if (await worksIn(pid, server.cluster)) return;
  const lock = join(server.cluster, 'postmaster.pid');
  const aside = `${lock}.${randomUUID()}`;
  // Moved first, then checked: if another process has started a server in the meantime, its file is moved back.
  await rename(lock, aside).catch(() => {});
  const moved = await readFile(aside, 'utf8').catch(() => null);
  if (moved !== null && pidIn(moved) !== holder) await rename(aside, lock);
  else await rm(aside, { force: true });
}

/** Where there is no /proc the question cannot be asked, and a living pid counts as the server. */
async function worksIn(pid: number, folder: string): Promise<boolean> {
  if (!existsSync('/proc/self')) return true;
  return (await readlink(`/proc/${pid}/cwd`).catch(() => '')) === folder;
}

/** Stops the server of a cluster, if one runs, and waits until it is gone, ten seconds at most. */
export async function stopServer(server: Cluster): Promise<void> {
  const pid = await livingPostmaster(server);
  if (pid === null) return;
  const started = Date.now();
  // Fast shutdown, then immediate: the next start replays the log.
  for (const [signal, until] of [
    ['SIGINT', STOP_TIMEOUT_MS],
    ['SIGQUIT', STOP_TIMEOUT_MS + 2_000],
  ] as const) {
    signalIfAlive(pid, signal);
    while (isAlive(pid)) {
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
