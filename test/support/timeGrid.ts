// The grid of timeframes the slow way: fixed lengths by hand, weeks by walking back to a Monday, months by their dates.
import type { Timeframe } from '../../src/engine/bars/bars.ts';

const UNIT_MS = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };
const isFixedUnit = (unit: string): unit is keyof typeof UNIT_MS => unit in UNIT_MS;

/** The length of a bar, read from its name; NaN for months. */
export function lengthOf(timeframe: Timeframe): number {
  const unit = timeframe.slice(-1);
  return isFixedUnit(unit) ? Number(timeframe.slice(0, -1)) * UNIT_MS[unit] : NaN;
}

/** The open of the bucket that holds a time. */
export function bucketOf(timeframe: Timeframe, time: number): number {
  if (timeframe === '1M') return Date.parse(`${new Date(time).toISOString().slice(0, -17)}-01T00:00:00.000Z`);
  const size = lengthOf(timeframe);
  if (timeframe !== '1w') return time - (((time % size) + size) % size);
  let day = time - (((time % UNIT_MS.d) + UNIT_MS.d) % UNIT_MS.d);
  while (new Date(day).getUTCDay() !== 1) day -= UNIT_MS.d;
  return day;
}

/** When a bar that opens at a time closes. */
export function endOf(timeframe: Timeframe, open: number): number {
  if (timeframe !== '1M') return open + lengthOf(timeframe);
  let day = open;
  while (bucketOf('1M', day) === bucketOf('1M', open)) day += UNIT_MS.d;
  return bucketOf('1M', day);
}

/** The open of the bar that is `steps` bars after one that opens at a time. */
export function laterOpen(timeframe: Timeframe, open: number, steps: number): number {
  if (timeframe !== '1M') return open + steps * lengthOf(timeframe);
  let at = open;
  for (let step = 0; step < steps; step++) at = endOf(timeframe, at);
  return at;
}
