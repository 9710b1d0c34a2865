// The heartbeat: shows that this process is alive, and takes over the work of processes that are not.
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from '../db/connect.ts';
import type { Sql } from '../db/connect.ts';
import { notify } from '../db/notifications.ts';
import { deleteOldReruns } from '../db/reruns.ts';
import { registerWorker, renewHeartbeat, takeOverDeadWorkers, unregisterWorker } from '../db/workerProcesses.ts';
import type { WorkerProcess, WorkerTotals } from '../db/workerProcesses.ts';
import type { Log } from '../log.ts';

/** The work of a dead process is taken over at most one beat after the process counts as dead. */
const BEAT_MS = 500;
/** Abandoned reruns only cost space. */
const TIDY_EVERY_BEATS = 120;

interface HeartbeatParts {
  readonly sql: Sql;
  readonly url: string;
  readonly worker: () => WorkerProcess;
  readonly totals: () => WorkerTotals;
  /** A worker that is known to be dead. */
  readonly predecessor: string | undefined;
}

/** Registers the process and beats until it is disposed of. */
export async function startHeartbeat(
  { sql, url, worker, totals, predecessor }: HeartbeatParts,
  log: Log,
): Promise<AsyncDisposable> {
  // A dedicated connection: the lock lasts as long as it does.
  let isConnected = false;
  const connection = connect(url, {
    max: 1,
    keepConnections: true,
    applicationName: 'candlepool worker heartbeat',
    onClose: () => (isConnected = false),
  });
  let registered: WorkerProcess | undefined;
  const register = async (): Promise<void> => {
    registered = worker();
    await registerWorker(connection, registered);
    isConnected = true;
  };
  await register();

  let beats = 0;
  const beat = async (): Promise<void> => {
    const { id, poolId } = worker();
    // Registered again after a lost connection, which held its lock; when Graphile Worker was started again, under
    // another id; and when other processes took this one for dead.
    const isRegistered =
      isConnected && registered?.poolId === poolId && (await renewHeartbeat(connection, id, totals()));
    if (!isRegistered) await register();
    await takeOverWork(sql, predecessor, log);
    if (beats++ % TIDY_EVERY_BEATS === 0) await deleteOldReruns(sql);
  };

  const stopped = new AbortController();
  const beating = (async () => {
    while (!stopped.signal.aborted) {
      await beat().catch((error: unknown) => {
        if (!stopped.signal.aborted) log.warn({ err: error }, 'heartbeat failed, trying again');
      });
      await sleep(BEAT_MS, undefined, { signal: stopped.signal }).catch(() => {});
    }
  })();
  return {
    async [Symbol.asyncDispose]() {
      stopped.abort();
      await beating;
      // Postgres may have stopped already; then there is no registration to remove.
      await unregisterWorker(connection, worker().id).catch(() => {});
      await connection.end({ timeout: 1 });
    },
  };
}

async function takeOverWork(sql: Sql, predecessor: string | undefined, log: Log): Promise<void> {
  const taken = await takeOverDeadWorkers(sql, predecessor);
  if (taken === undefined) return;
  const { deadWorkers, changedIds } = taken;
  if (deadWorkers.length > 0)
    log.warn({ workers: deadWorkers, backtests: changedIds.length }, 'took over the work of dead workers');
  await notify(sql, 'changed', changedIds);
}
