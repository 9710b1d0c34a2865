// Cancels: stops the runs of this process that callers cancel.
import { readCancelled } from '../db/claims.ts';
import type { Sql } from '../db/connect.ts';
import { listen } from '../db/notifications.ts';
import type { Log } from '../log.ts';
import type { Executor } from './executor.ts';
import type { SweepRunner } from './sweepTask.ts';

/** @param sweeps absent: the process runs no sweeps */
export function listenForCancels(
  sql: Sql,
  log: Log,
  executor: Executor,
  sweeps?: SweepRunner,
): Promise<AsyncDisposable> {
  const cancelMissed = async (): Promise<void> => {
    await sweeps?.cancelEnded();
    const active = executor.activeIds();
    if (active.length > 0) executor.cancel(await readCancelled(sql, active));
  };
  return listen(sql, 'cancel', (ids) => {
    if (ids) {
      executor.cancel(ids);
      return sweeps?.cancel(ids);
    }
    // The connection was down, and a cancel may have been missed.
    void cancelMissed().catch((error: unknown) => log.warn({ err: error }, 'missed cancels could not be read'));
  });
}
