// Flaws of bars: gaps, bars without volume, flat bars and outliers, counted once per series and range.
import { Accelerator } from '../kernels/accelerator.ts';
import type { Bars } from './bars.ts';
import { KeptByRange } from './keptByRange.ts';
import { BLOCK_ROWS, OutlierSearch, type Outlier } from './outliers.ts';
import { barsBetween, shortestMs } from './timeframes.ts';

/** The flaws of the bars of a range. */
export interface Flaws {
  readonly gaps: number;
  readonly longestGapBars: number;
  readonly zeroVolumeBars: number;
  readonly flatBars: number;
  readonly outliers: readonly Outlier[];
}

const searches = new KeptByRange<Bars, FlawSearch>();
/** Outliers are searched for in all bars of a series: whether a price is one does not depend on the range. */
const outlierSearches = new WeakMap<Bars, OutlierSearch>();

/** Returns the search in rows `start` … `end`-1, as far as it has come. */
export const flawSearch = (bars: Bars, start: number, end: number): FlawSearch =>
  searches.get(bars, start, end, () => new FlawSearch(bars, start, end));

function outlierSearch(bars: Bars): OutlierSearch {
  let search = outlierSearches.get(bars);
  if (search === undefined) outlierSearches.set(bars, (search = new OutlierSearch(bars)));
  return search;
}

/** The search for flaws in a range, some rows at a time, so that the fill loop plays the same rows from the cache. */
export class FlawSearch {
  readonly #bars: Bars;
  readonly #start: number;
  readonly #end: number;
  readonly #outliers: OutlierSearch;
  /** The first row that has not been examined. */
  #row: number;
  #gaps = 0;
  /** Bars from the one before the longest gap to the one after it. */
  #longestBars = 0;
  #zeroVolumeBars = 0;
  #flatBars = 0;
  #flaws: Flaws | null = null;

  constructor(bars: Bars, start: number, end: number) {
    this.#bars = bars;
    this.#start = start;
    this.#end = end;
    this.#outliers = outlierSearch(bars);
    this.#row = start;
  }

  /** Examines the rows before `end`. Returns false when all of them have been examined before. */
  readTo(end: number): boolean {
    const stop = Math.min(end, this.#end);
    if (stop <= this.#row) return false;
    while (this.#row < stop) {
      const to = Math.min(this.#row + BLOCK_ROWS, stop);
      this.#count(this.#row, to);
      this.#outliers.readTo(to);
      this.#row = to;
    }
    return true;
  }

  /** Returns the flaws of all rows of the range. */
  flaws(): Flaws {
    return (this.#flaws ??= this.#finish());
  }

  #finish(): Flaws {
    this.readTo(this.#end);
    this.#outliers.readTo(this.#bars.length);
    return {
      gaps: this.#gaps,
      longestGapBars: this.#gaps === 0 ? 0 : Math.round(this.#longestBars) - 1,
      zeroVolumeBars: this.#zeroVolumeBars,
      flatBars: this.#flatBars,
      outliers: outliersBetween(this.#outliers.found, this.#bars.time, this.#start, this.#end),
    };
  }

  #count(from: number, to: number): void {
    const { time, timeframe } = this.#bars;
    const stepMs = shortestMs(timeframe);
    const end = to - 1;
    for (let row = Math.max(from - 1, this.#start); row < end;) {
      const next = Math.min(row + ROWS_BETWEEN_TIMES, end);
      // Bars are at least one step apart: when n rows take no longer than n steps, there is no gap between them.
      if (time[next] - time[row] > (next - row) * stepMs) this.#addGaps(row, next);
      row = next;
    }
    this.#zeroVolumeBars += countZeroVolume(this.#bars, from, to);
    this.#flatBars += countFlat(this.#bars, from, to);
  }

  /** Adds the gaps between the bars of rows `first` to `last`. */
  #addGaps(first: number, last: number): void {
    const { time, timeframe } = this.#bars;
    for (let row = first + 1; row <= last; row++) {
      const bars = barsBetween(timeframe, time[row - 1], time[row]);
      if (bars <= 1) continue;
      this.#gaps++;
      if (bars > this.#longestBars) this.#longestBars = bars;
    }
  }
}

/** Only every 64th time is read to see whether there is a gap in between: reading all takes 1.5 ns per bar. */
const ROWS_BETWEEN_TIMES = 64;

type Count = (bars: Bars, from: number, to: number) => number | null;

/** What counts faster. */
export const FLAW_COUNTS = new Accelerator<{ readonly zeroVolume: Count; readonly flat: Count }>();

function countZeroVolume(bars: Bars, from: number, to: number): number {
  const found = FLAW_COUNTS.current?.zeroVolume(bars, from, to) ?? null;
  if (found !== null) return found;
  const { volume } = bars;
  let count = 0;
  for (let row = from; row < to; row++) if (volume[row] === 0) count++;
  return count;
}

function countFlat(bars: Bars, from: number, to: number): number {
  const found = FLAW_COUNTS.current?.flat(bars, from, to) ?? null;
  if (found !== null) return found;
  const { open, high, low, close } = bars;
  let count = 0;
  for (let row = from; row < to; row++) if (high[row] === low[row] && open[row] === close[row]) count++;
  return count;
}

function outliersBetween(found: readonly Outlier[], times: Float64Array, start: number, end: number): Outlier[] {
  return found.filter(({ time }) => time >= times[start] && time <= times[end - 1]);
}
