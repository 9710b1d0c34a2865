// Data quality: what a reader should know about the bars behind a result.
import { TIMEFRAME_MS, type Bars } from '../bars/bars.ts';
import { KeptByRange } from '../bars/keptByRange.ts';
import { kernelsUnder } from '../kernels/simd/inPlace.ts';
import { BLOCK_ROWS, OutlierSearch, type Outlier } from '../bars/outliers.ts';

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
>;

const counted = new KeptByRange<Bars, Counted>();
/** Outliers among all bars: whether a price is one does not depend on the range. */
const outliersOf = new WeakMap<Bars, readonly Outlier[]>();

export function dataQuality(bars: Bars, fine: Bars | null, start: number, end: number): DataQuality {
  const counts = counted.get(bars, start, end, () => countFlaws(bars, start, end));
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
  const flaws: Flaws = { gaps: 0, longestMs: 0, zeroVolumeBars: 0, flatBars: 0 };
  const search = outliersOf.has(bars) ? null : new OutlierSearch(bars);
  for (let from = start; from < end; from += BLOCK_ROWS) {
    const to = Math.min(from + BLOCK_ROWS, end);
    addFlaws(flaws, bars, start, from, to);
    search?.readTo(to);
  }
  if (search !== null) {
    search.readTo(bars.length);
    outliersOf.set(bars, search.found);
  }
  const { gaps, longestMs, zeroVolumeBars, flatBars } = flaws;
  const found = outliersBetween(bars, start, end);
  return {
    gaps,
    longestGapBars: gaps === 0 ? 0 : Math.round(longestMs / TIMEFRAME_MS[bars.timeframe]) - 1,
    zeroVolumeBars,
    flatBars,
    outlierCount: found.length,
    outliers: found.slice(0, MAX_OUTLIERS),
  };
}

interface Flaws {
  gaps: number;
  longestMs: number;
  zeroVolumeBars: number;
  flatBars: number;
}

/** Adds the flaws of rows [from, to) of a range that begins with row `start`. */
function addFlaws(flaws: Flaws, bars: Bars, start: number, from: number, to: number): void {
  addGaps(flaws, bars, Math.max(from, start + 1), to);
  flaws.zeroVolumeBars += countZeroVolume(bars, from, to);
  flaws.flatBars += countFlat(bars, from, to);
}

/** Adds the gaps before rows [from, to): bars that do not follow the one before immediately. */
function addGaps(flaws: Flaws, { time, timeframe }: Bars, from: number, to: number): void {
  const step = TIMEFRAME_MS[timeframe];
  let { gaps, longestMs } = flaws;
  let row = from;
  while (row < to) {
    // Nearly all rows follow immediately: four at once take half of the time.
    while (
      row + 4 <= to &&
      time[row] - time[row - 1] <= step &&
      time[row + 1] - time[row] <= step &&
      time[row + 2] - time[row + 1] <= step &&
      time[row + 3] - time[row + 2] <= step
    )
      row += 4;
    for (const end = Math.min(row + 4, to); row < end; row++) {
      const span = time[row] - time[row - 1];
      if (span <= step) continue;
      gaps++;
      if (span > longestMs) longestMs = span;
    }
  }
  flaws.gaps = gaps;
  flaws.longestMs = longestMs;
}

function countZeroVolume({ volume }: Bars, from: number, to: number): number {
  const kernels = kernelsUnder(volume);
  if (kernels !== null) return kernels.countZeros(volume.byteOffset + 8 * from, to - from);
  let count = 0;
  for (let row = from; row < to; row++) if (volume[row] === 0) count++;
  return count;
}

function countFlat({ open, high, low, close }: Bars, from: number, to: number): number {
  const kernels = kernelsUnder(open, high, low, close);
  if (kernels !== null) {
    const at = 8 * from;
    return kernels.countEqualPairs(
      high.byteOffset + at,
      low.byteOffset + at,
      open.byteOffset + at,
      close.byteOffset + at,
      to - from,
    );
  }
  let count = 0;
  for (let row = from; row < to; row++) if (high[row] === low[row] && open[row] === close[row]) count++;
  return count;
}

function outliersBetween(bars: Bars, start: number, end: number): readonly Outlier[] {
  const found = outliersOf.get(bars)!;
  if (end <= start) return [];
  const [first, last] = [bars.time[start], bars.time[end - 1]];
  return found.filter(({ time }) => time >= first && time <= last);
}
