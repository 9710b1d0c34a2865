// The heartbeat: shows that this process lives, and takes over the work of those that do not.
import { connect } from '../db/connect.ts';
import type { Sql } from '../db/connect.ts';
import { tell } from '../db/news.ts';
import { deleteOldReruns } from '../db/reruns.ts';
import { registerWorker, showLife, sweep, unregisterWorker } from '../db/workerProcesses.ts';
import type { WorkerProcess, WorkerTotals } from '../db/workerProcesses.ts';
import type { Log } from '../log.ts';

/** Two beats are a second: the time within which work of a dead process is taken over. */
const BEAT_MS = 500;
/** Reruns that were left behind cost space, nothing else. */
const TIDY_EVERY_BEATS = 120;

/** Registers the process and beats until it is disposed of. */
export async function startHeartbeat(
  sql: Sql,
  url: string,
  worker: WorkerProcess,
  totals: () => WorkerTotals,
  log: Log,
): Promise<AsyncDisposable> {
  // A connection of its own: the lock lives and dies with it.
  let isConnected = false;
  const connection = connect(url, {
    max: 1,
    keepConnections: true,
    applicationName: 'candlepool worker heartbeat',
    onClose: () => (isConnected = false),
  });
  const register = async (): Promise<void> => {
    await registerWorker(connection, worker);
    isConnected = true;
  };
  await register();

  let beats = 0;
  const beat = async (): Promise<void> => {
    if (!isConnected || !(await showLife(connection, worker.id, totals()))) await register();
    const swept = await sweep(sql);
    if (swept && swept.deadWorkers.length > 0)
      log.warn(
        { workers: swept.deadWorkers, backtests: swept.changedIds.length },
        'took over the work of dead workers',
      );
    if (swept) await tell(sql, 'changed', swept.changedIds);
    if (beats++ % TIDY_EVERY_BEATS === 0) await deleteOldReruns(sql);
  };

  const stopped = new AbortController();
  const beating = (async () => {
    while (!stopped.signal.aborted) {
      await beat().catch((error: unknown) => {
        if (!stopped.signal.aborted) log.warn({ err: error }, 'heartbeat failed, trying again');
      });
      await pause(BEAT_MS, stopped.signal);
    }
  })();
  return {
    async [Symbol.asyncDispose]() {
      stopped.abort();
      await beating;
      // Postgres may be gone before us; then there is nothing to sign off from.
      await unregisterWorker(connection, worker.id).catch(() => {});
      await connection.end({ timeout: 1 });
    },
  };
}

/** Resolves after so long, or at once when the signal aborts. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done, { once: true });
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    }
  });
}
