// Data quality: what a reader should know about the bars behind a result.
import { TIMEFRAME_MS, type Bars } from '../bars/bars.ts';
import { findOutliers, type Outlier } from '../bars/outliers.ts';

export interface DataQuality {
  readonly bars: number;
  /** Places where the next bar does not follow immediately. On markets with sessions, every night is one. */
  readonly gaps: number;
  /** The longest gap, in bars of the timeframe. */
  readonly longestGapBars: number;
  readonly zeroVolumeBars: number;
  /** Bars with open = high = low = close. */
  readonly flatBars: number;
  /** Prices that the bars around them contradict: bad ticks, unadjusted splits, flash crashes. */
  readonly outlierCount: number;
  /** The first outliers, at most MAX_OUTLIERS. */
  readonly outliers: readonly Outlier[];
  /** Resampled bars with fewer children than an unbroken market gives. */
  readonly partialBars: number;
  readonly isResampled: boolean;
  /** The finest imported timeframe to drill into; null if there is none. */
  readonly fineTimeframe: string | null;
}

/** A longer list tells a reader nothing new: data with more outliers needs repair. */
const MAX_OUTLIERS = 20;

type Counted = Pick<
  DataQuality,
  'gaps' | 'longestGapBars' | 'zeroVolumeBars' | 'flatBars' | 'outlierCount' | 'outliers'
> & {
  readonly start: number;
  readonly end: number;
};

/** The answer for the last range, because the runs of a batch share it. Bars are never written to. */
const counted = new WeakMap<Bars, Counted>();
/** Outliers among all bars: whether a price is one does not depend on the range. */
const outliersOf = new WeakMap<Bars, readonly Outlier[]>();

export function dataQuality(bars: Bars, fine: Bars | null, start: number, end: number): DataQuality {
  let counts = counted.get(bars);
  if (counts === undefined || counts.start !== start || counts.end !== end)
    counted.set(bars, (counts = countFlaws(bars, start, end)));
  const { gaps, longestGapBars, zeroVolumeBars, flatBars, outlierCount, outliers } = counts;
  return {
    bars: end - start,
    gaps,
    longestGapBars,
    zeroVolumeBars,
    flatBars,
    outlierCount,
    outliers,
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
  const found = outliersBetween(bars, start, end);
  return {
    start,
    end,
    gaps,
    longestGapBars: longest,
    zeroVolumeBars,
    flatBars,
    outlierCount: found.length,
    outliers: found.slice(0, MAX_OUTLIERS),
  };
}

function outliersBetween(bars: Bars, start: number, end: number): readonly Outlier[] {
  let found = outliersOf.get(bars);
  if (found === undefined) outliersOf.set(bars, (found = findOutliers(bars)));
  if (end <= start) return [];
  const [first, last] = [bars.time[start], bars.time[end - 1]];
  return found.filter(({ time }) => time >= first && time <= last);
}
