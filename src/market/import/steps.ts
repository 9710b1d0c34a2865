// Steps: the distances between the times of a file, and whether they run in one direction.

/**
 * The commonest step, in either direction (descending times are refused later, by row); the shorter one on a tie. null
 * if all times are equal.
 */
export function commonestStep(times: Float64Array): number | null {
  const counts = new Map<number, number>();
  for (let row = 1; row < times.length; row++) {
    const step = Math.abs(times[row] - times[row - 1]);
    if (step > 0) counts.set(step, (counts.get(step) ?? 0) + 1);
  }
  let best: number | null = null;
  for (const [step, count] of counts) {
    const most = best === null ? 0 : counts.get(best)!;
    if (best === null || count > most || (count === most && step < best)) best = step;
  }
  return best;
}

/** Whether no time is before (direction 1) or after (-1) the one above it. */
export function isSorted(time: Float64Array, direction: 1 | -1): boolean {
  for (let row = 1; row < time.length; row++) if (direction * (time[row] - time[row - 1]) < 0) return false;
  return true;
}

/** Whether a file runs newest first, as those of CryptoDataDownload, Coinbase and Alpha Vantage do. */
export const isNewestFirst = (time: Float64Array): boolean =>
  time.length >= 2 && time[0] > time[time.length - 1] && isSorted(time, -1);

/** Whether no time is equal to the one above it. */
export function areDistinct(times: Float64Array): boolean {
  for (let row = 1; row < times.length; row++) if (times[row] === times[row - 1]) return false;
  return true;
}

/** The first row of each time. */
export function firstRows(times: Float64Array): ReadonlyMap<number, number> {
  const firsts = new Map<number, number>();
  times.forEach((time, row) => {
    if (!firsts.has(time)) firsts.set(time, row);
  });
  return firsts;
}
