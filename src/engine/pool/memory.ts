// Memory: an estimate of what a run may need, made before it starts (admission.ts bounds what runs at once).
import type { Snapshot } from '../bars/arrow.ts';
import { DAY_MS, TIMEFRAME_MS } from '../bars/bars.ts';
import { estimateBacktest } from '../estimateBacktest.ts';
import type { Frame } from '../plan/plan.ts';
import type { BacktestTask } from '../task.ts';

/** A thread's own heap while it runs the smallest backtest. */
const BYTES_PER_RUN = 8 << 20;
/**
 * A row of a snapshot: time and five prices of 8 bytes. Extra columns make rows longer and the estimate higher, which
 * is safe.
 */
const BYTES_PER_ROW = 6 * 8;
/** The times of an opened snapshot, and the bars that are resampled from it. */
const OPENED_BYTES_PER_ROW = 8;
/**
 * Bars of a coarser timeframe, against what a market without gaps would give: minutes are missing at night and on
 * weekends, days less often.
 */
const GAPS_WITHIN_DAY = 1.5;
const GAPS_BETWEEN_DAYS = 4;

/** Bytes a run may need at its peak, besides the shared snapshots. */
export function estimateRunBytes(task: Omit<BacktestTask, 'id' | 'strategyHash'>, read: readonly Snapshot[]): number {
  const rows = read.reduce((sum, snapshot) => sum + rowsIn(snapshot), 0);
  const estimate = estimateBacktest(task, (frame) => rowsOf(frame, read));
  return runBytes(estimate?.bytes ?? 0, rows);
}

/** @param openedRows rows of all snapshots that the run may read */
export const runBytes = (planBytes: number, openedRows: number): number =>
  BYTES_PER_RUN + OPENED_BYTES_PER_ROW * openedRows + planBytes;

const rowsIn = ({ buffer }: Snapshot): number => buffer.byteLength / BYTES_PER_ROW;

/** Bars of a series that is among the snapshots, or resampled from one of them. */
function rowsOf({ symbol, timeframe }: Frame, read: readonly Snapshot[]): number {
  const wanted = TIMEFRAME_MS[timeframe];
  const gaps = wanted > DAY_MS / 8 ? GAPS_BETWEEN_DAYS : GAPS_WITHIN_DAY;
  const ofSymbol = read.filter(({ meta }) => meta.symbol === symbol && TIMEFRAME_MS[meta.timeframe] <= wanted);
  const own = ofSymbol.find(({ meta }) => meta.timeframe === timeframe);
  if (own) return rowsIn(own);
  return ofSymbol.reduce((most, snapshot) => {
    const share = Math.min(1, (TIMEFRAME_MS[snapshot.meta.timeframe] * gaps) / wanted);
    return Math.max(most, rowsIn(snapshot) * share);
  }, 0);
}
