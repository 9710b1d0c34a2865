// Data quality: what a reader should know about the bars behind a result.
import type { Bars, Instrument } from '../bars/bars.ts';
import { compareRange } from '../bars/exchangeDays.ts';
import { exchangeOf } from '../bars/runCalendar.ts';
import { contradictionsOf } from '../bars/contradictions.ts';
import { countBits } from '../kernels/bits.ts';
import { flawSearch, type Flaws } from '../bars/flaws.ts';
import type { Outlier } from '../bars/outliers.ts';

export interface DataQuality {
  readonly bars: number;
  /** Places where the next bar does not follow immediately. On markets with sessions, every night is one. */
  readonly gaps: number;
  /** The longest gap, in bars of the timeframe. */
  readonly longestGapBars: number;
  readonly zeroVolumeBars: number;
  /** Trading days of its exchange without a bar; absent where the instrument has no calendar. */
  readonly missingTradingDays?: number;
  /** Bars with open = high = low = close. */
  readonly flatBars: number;
  /** Prices that the bars around them contradict: bad ticks, unadjusted splits, flash crashes. */
  readonly outlierCount: number;
  /** The first outliers, at most MAX_OUTLIERS. */
  readonly outliers: readonly (Outlier & {
    /** Absent in runs of one instrument. */
    readonly symbol?: string;
  })[];
  /** Resampled bars with fewer children than an unbroken market gives. */
  readonly partialBars: number;
  readonly isResampled: boolean;
  /** The finest imported timeframe to drill into; null if there is none. */
  readonly fineTimeframe: string | null;
  /** Bars that the finer bars inside them contradict; they are not drilled into. */
  readonly contradictedBars: number;
  /** So many bars of the series are contradicted that none is drilled into. */
  readonly isDrillingOff: boolean;
}

/** A longer list tells a reader nothing new: data with more outliers needs repair. */
export const MAX_OUTLIERS = 20;

/** The last block of each range, keyed by its flaws: runs over the same range share these. */
const kept = new WeakMap<Flaws, { readonly fine: Bars | null; readonly block: DataQuality }>();

/**
 * The quality of the bars of rows [start, end).
 * @param fine the bars to drill into; null: none
 */
export function dataQuality(
  bars: Bars,
  fine: Bars | null,
  start: number,
  end: number,
  instrument: Pick<Instrument, 'calendar'> = {},
): DataQuality {
  const flaws = flawSearch(bars, start, end).flaws();
  const known = kept.get(flaws);
  if (known?.fine === fine) return known.block;
  const contradictions = fine && contradictionsOf(bars, fine);
  const { gaps, longestGapBars, zeroVolumeBars, flatBars, outliers } = flaws;
  const block: DataQuality = {
    bars: end - start,
    gaps,
    longestGapBars,
    ...missingDays(bars, start, end, instrument),
    zeroVolumeBars,
    flatBars,
    outlierCount: outliers.length,
    outliers: outliers.slice(0, MAX_OUTLIERS),
    partialBars: bars.partialBars,
    isResampled: bars.isResampled,
    fineTimeframe: fine?.timeframe ?? null,
    contradictedBars: contradictions === null ? 0 : countBits(contradictions.runRows, start, end),
    isDrillingOff: contradictions?.isDrillingOff ?? false,
  };
  kept.set(flaws, { fine, block });
  return block;
}

function missingDays(
  bars: Bars,
  start: number,
  end: number,
  instrument: Pick<Instrument, 'calendar'>,
): { readonly missingTradingDays?: number } {
  const exchange = exchangeOf(instrument);
  return exchange === undefined ? {} : { missingTradingDays: compareRange(bars, start, end, exchange).missing.length };
}
