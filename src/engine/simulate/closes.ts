// Closes: which of them a run must read in the situation that it is in.
import { hasBit } from '../kernels/bits.ts';
import type { Run } from './run.ts';
import type { WatchedCloses } from './watch.ts';

/** Whether nothing is open, due or pending, so that only an entry signal can change anything. */
export const isIdle = (run: Run): boolean =>
  run.positions.length === 0 && run.pendingCount === 0 && run.dueEntry === null && run.dueExits.count === 0;

/** Whether anything at this close can order something. */
export function isRead(run: Run, row: number): boolean {
  if (run.pendingCount > 0 || run.input.risk.timeStop !== null) return true;
  const { words } = watchedCloses(run);
  return words === null || hasBit(words, row);
}

/** The closes that can order something in the situation the run is in. */
export function watchedCloses({ watch, positions, input }: Run): WatchedCloses {
  if (positions.length === 0) return watch.flat;
  const isLong = positions[0].side > 0;
  if (positions.length >= input.maxConcurrentPositions) return isLong ? watch.longFull : watch.shortFull;
  return isLong ? watch.longOpen : watch.shortOpen;
}
