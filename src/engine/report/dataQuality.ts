// Data quality: what a reader should know of the bars a result stands on.
import { TIMEFRAME_MS, type Bars } from '../columns/bars.ts';

export interface DataQuality {
  readonly bars: number;
  /** Places where the next bar does not follow at once; on markets with sessions every night is one. */
  readonly gaps: number;
  /** Longest of them, in bars of the timeframe. */
  readonly longestGapBars: number;
  readonly zeroVolumeBars: number;
  /** open = high = low = close. */
  readonly flatBars: number;
  /** Resampled bars with fewer children than an unbroken market gives. */
  readonly partialBars: number;
  readonly isResampled: boolean;
  /** Finest imported timeframe to drill into; null: none. */
  readonly fineTimeframe: string | null;
}

type Counted = Pick<DataQuality, 'gaps' | 'longestGapBars' | 'zeroVolumeBars' | 'flatBars'> & {
  readonly start: number;
  readonly end: number;
};

/** Of the range asked for last: runs of a batch share it, and bars are never written to. */
const counted = new WeakMap<Bars, Counted>();

export function dataQuality(bars: Bars, fine: Bars | null, start: number, end: number): DataQuality {
  let counts = counted.get(bars);
  if (counts === undefined || counts.start !== start || counts.end !== end)
    counted.set(bars, (counts = countFlaws(bars, start, end)));
  const { gaps, longestGapBars, zeroVolumeBars, flatBars } = counts;
  return {
    bars: end - start,
    gaps,
    longestGapBars,
    zeroVolumeBars,
    flatBars,
    partialBars: bars.partialBars,
    isResampled: bars.isResampled,
    fineTimeframe: fine?.timeframe ?? null,
  };
}

function countFlaws(bars: Bars, start: number, end: number): Counted {
  const step = TIMEFRAME_MS[bars.timeframe];
  const { time, open, high, low, close, volume } = bars;
  let [gaps, longest, zeroVolumeBars, flatBars] = [0, 0, 0, 0];
  for (let row = start; row < end; row++) {
    if (row > start && time[row] - time[row - 1] > step) {
      gaps++;
      longest = Math.max(longest, Math.round((time[row] - time[row - 1]) / step) - 1);
    }
    zeroVolumeBars += volume[row] === 0 ? 1 : 0;
    flatBars += high[row] === low[row] && open[row] === close[row] ? 1 : 0;
  }
  return { start, end, gaps, longestGapBars: longest, zeroVolumeBars, flatBars };
}
