// Cancels: what callers stop while this process runs it.
import { readCancelled } from '../db/claims.ts';
import type { Sql } from '../db/connect.ts';
import { listen } from '../db/notifications.ts';
import type { Executor } from './executor.ts';
import type { SweepRunner } from './sweepTask.ts';

/** Stops what callers cancel. @param sweeps absent: the process runs no sweeps */
export function listenForCancels(sql: Sql, executor: Executor, sweeps?: SweepRunner): Promise<AsyncDisposable> {
  return listen(sql, 'cancel', (ids) => {
    if (ids) {
      executor.cancel(ids);
      return sweeps?.cancel(ids);
    }
    // The connection was down, and a cancel may have been missed.
    void sweeps?.cancelEnded().catch(() => {});
    const active = executor.activeIds();
    if (active.length > 0)
      void readCancelled(sql, active).then(
        (missed) => executor.cancel(missed),
        () => {},
      );
  });
}
