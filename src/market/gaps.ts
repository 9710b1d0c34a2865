// Gaps: where bars are absent. They are counted and reported, never filled.
import type { Timeframe } from '../engine/bars/bars.ts';
import { barsBetween, closeOf } from '../engine/bars/timeframes.ts';

export interface GapCount {
  /** Places where at least one bar is absent; weekends and holidays of a market that closes count too. */
  readonly gaps: number;
  /** Total number of absent bars. */
  readonly missingBars: number;
}
interface Gap {
  /** Open of the first absent bar, ms UTC. */
  readonly from: number;
  /** Open of the bar after the gap. */
  readonly to: number;
  readonly missingBars: number;
}

/** Gaps between bars that open at `time` (ms, ascending), and how many bars of the timeframe are absent in them. */
export function countGaps(time: Float64Array, timeframe: Timeframe): GapCount {
  let gaps = 0;
  let missingBars = 0;
  for (let row = 1; row < time.length; row++) {
    const absent = barsBetween(timeframe, time[row - 1], time[row]) - 1;
    if (absent <= 0) continue;
    gaps++;
    missingBars += absent;
  }
  return { gaps, missingBars };
}

/** All gaps, oldest first. */
export function listGaps(time: Float64Array, timeframe: Timeframe): Gap[] {
  const gaps: Gap[] = [];
  for (let row = 1; row < time.length; row++) {
    const missingBars = barsBetween(timeframe, time[row - 1], time[row]) - 1;
    if (missingBars > 0) gaps.push({ from: closeOf(timeframe, time[row - 1]), to: time[row], missingBars });
  }
  return gaps;
}
