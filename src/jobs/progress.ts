// Progress: how far the runs of this process are, for other processes that ask.
import { saveProgress } from '../db/claims.ts';
import type { Sql } from '../db/connect.ts';
import { notify } from '../db/notifications.ts';
import type { Log } from '../log.ts';
import type { Executor } from './executor.ts';

const PROGRESS_MS = 300;

/** Writes the progress of runs that take long enough for anyone to ask. */
export function watchProgress(sql: Sql, executor: Executor, log: Log): Disposable {
  /** Bars done when a run was last seen, by its id. */
  const seen = new Map<string, number>();
  let isBusy = false;
  const save = async (): Promise<void> => {
    const rows = executor.progress();
    const moved = rows.filter((row) => seen.get(row.id) !== row.barsDone);
    const running = new Set(rows.map((row) => row.id));
    for (const id of seen.keys()) if (!running.has(id)) seen.delete(id);
    // A run that is seen for the first time may finish in a moment.
    const shown = moved.filter((row) => seen.has(row.id));
    for (const row of moved) seen.set(row.id, row.barsDone);
    if (shown.length === 0) return;
    await saveProgress(sql, shown);
    await notify(
      sql,
      'changed',
      shown.map((row) => row.id),
    );
  };
  const timer = setInterval(() => {
    if (isBusy) return;
    isBusy = true;
    void save()
      .catch((error: unknown) => log.warn({ err: error }, 'progress could not be written'))
      .finally(() => (isBusy = false));
  }, PROGRESS_MS);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
