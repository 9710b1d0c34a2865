// Outliers: prices that the bars around them contradict. They are listed, never changed: some of them did happen.
import { Accelerator } from '../kernels/accelerator.ts';
import type { Bars } from './bars.ts';

export interface Outlier {
  /** Open of the bar, ms UTC. */
  readonly time: number;
  /**
   * spike: one bar leaves its neighbors and the next is back. jump: the price moved between two bars and stayed, as
   * after a split.
   */
  readonly kind: 'spike' | 'jump';
  readonly column: 'open' | 'high' | 'low' | 'close';
  readonly price: number;
  /** What it is compared with: the nearest price of the bars beside it (spike), or the close before it (jump). */
  readonly neighbor: number;
}

export type TimedPrices = Pick<Bars, 'time' | 'open' | 'high' | 'low' | 'close'>;

/**
 * A spike lies beyond both neighboring bars by 6 times the usual range of a bar and 5 %, or by 25 times and 1 %. In 22
 * real series (585,141 bars of coins, stocks and currencies, 1m to 1d) that lists 31 bars: 20 bad ticks, 19 of them
 * SPY's of 2000 to 2007, 10 flash crashes and squeezes that happened, and a jump that was news.
 */
export const SPIKES = [
  { fraction: 0.05, ranges: 6 },
  { fraction: 0.01, ranges: 25 },
] as const;
/** The smallest fraction of a spike. */
const NEAREST_SPIKE = 0.01;
/** Less than the fraction of a jump, so that rounding cannot hide one from `nextCandidate`. */
const NEAREST_JUMP = 0.1;
/** Unadjusted splits are 33 % and more. News moved AAPL by 47 % overnight in 2000: the only jump in the same series. */
export const JUMP = { fraction: 0.2, ranges: 10 };
/** Bars on either side whose median range, as a log of high over low, is the usual one. */
export const WINDOW = 100;

/**
 * Rows per call; the second cache holds six columns of this length. V8 compiles a function that is called often. A long
 * loop that runs once is compiled while it runs, and then allocates an object for every number that it carries.
 */
export const BLOCK_ROWS = 4096;

/** All outliers, oldest first, at most one per bar. The first and the last bar have one neighbor: only jumps show. */
export function findOutliers(bars: TimedPrices): Outlier[] {
  const search = new OutlierSearch(bars);
  search.readTo(bars.time.length);
  return search.found;
}

/** The search for outliers, some rows at a time, so that others can read the rows while they are in the cache. */
export class OutlierSearch {
  readonly found: Outlier[] = [];
  readonly #bars: TimedPrices;
  #row = 1;
  #spikeRow = -2;

  constructor(bars: TimedPrices) {
    this.#bars = bars;
  }

  /** Examines the rows before `end` that have not been examined yet. */
  readTo(end: number): void {
    const last = this.#bars.time.length - 1;
    const stop = Math.min(end, last);
    while (this.#row < stop) {
      const blockEnd = Math.min(this.#row + BLOCK_ROWS, stop);
      const input = [this.#bars, this.#row, blockEnd, 1 + NEAREST_SPIKE, 1 + NEAREST_JUMP] as const;
      this.#row = CANDIDATES.current?.(...input) ?? nextCandidate(...input);
      if (this.#row < blockEnd) this.#examine(this.#row++);
    }
    if (this.#row === last && last < end) this.#examine(this.#row++);
  }

  #examine(row: number): void {
    const { time, close, open } = this.#bars;
    const spike = row + 1 < time.length ? spikeAt(this.#bars, row) : null;
    if (spike !== null) {
      this.found.push(spike);
      this.#spikeRow = row;
    } else if (row - 1 !== this.#spikeRow && isBeyond(this.#bars, row, open[row], close[row - 1], JUMP)) {
      this.found.push({ time: time[row], kind: 'jump', column: 'open', price: open[row], neighbor: close[row - 1] });
    }
  }
}

/** What computes `nextCandidate` faster; null: it cannot read these prices. */
export const CANDIDATES = new Accelerator<(...input: Parameters<typeof nextCandidate>) => number | null>();

/**
 * The first row of [row, end) that can be an outlier: beyond both neighbors by NEAREST_SPIKE, or opened further than
 * NEAREST_JUMP from the close before. Without a branch or a maximum, which real prices mispredict, because almost no
 * bar is one: it replaces `spikeAt` and `isBeyond` on every row and takes a fifth of their time (bench/report.ts).
 */
function nextCandidate(
  { open, high, low, close }: TimedPrices,
  first: number,
  end: number,
  spike: number,
  jump: number,
): number {
  let row = first;
  let before = high[row - 1] * spike;
  let top = high[row];
  let floor = low[row - 1];
  let bottom = low[row];
  let closed = close[row - 1];
  for (; row < end; row++) {
    const scaled = top * spike;
    const nextTop = high[row + 1];
    const nextBottom = low[row + 1];
    const raised = bottom * spike;
    const opened = open[row];
    const isHigh = +(top > before) & +(top > nextTop * spike);
    const isLow = +(raised < floor) & +(raised < nextBottom);
    if (isHigh | isLow | +(opened > closed * jump) | +(closed > opened * jump)) return row;
    before = scaled;
    top = nextTop;
    floor = bottom;
    bottom = nextBottom;
    closed = close[row];
  }
  return row;
}

function spikeAt(bars: TimedPrices, row: number): Outlier | null {
  const { time, open, high, low, close } = bars;
  const top = Math.max(high[row - 1], high[row + 1]);
  const bottom = Math.min(low[row - 1], low[row + 1]);
  // Almost every bar ends here.
  if (high[row] <= top * (1 + NEAREST_SPIKE) && low[row] * (1 + NEAREST_SPIKE) >= bottom) return null;
  for (const spike of SPIKES) {
    const isHigh = isBeyond(bars, row, Math.max(high[row], top), top, spike);
    if (!isHigh && !isBeyond(bars, row, Math.min(low[row], bottom), bottom, spike)) continue;
    const price = isHigh ? high[row] : low[row];
    const column = open[row] === price ? 'open' : close[row] === price ? 'close' : isHigh ? 'high' : 'low';
    return { time: time[row], kind: 'spike', column, price, neighbor: isHigh ? top : bottom };
  }
  return null;
}

/**
 * Whether two prices are further apart than a fraction and than a number of usual ranges. In a market without any range
 * only the fraction counts.
 */
function isBeyond(
  bars: TimedPrices,
  row: number,
  price: number,
  neighbor: number,
  limit: { readonly fraction: number; readonly ranges: number },
): boolean {
  const ratio = price > neighbor ? price / neighbor : neighbor / price;
  if (!(ratio > 1 + limit.fraction)) return false;
  return Math.log(ratio) > limit.ranges * usualRange(bars, row);
}

function usualRange({ high, low }: TimedPrices, row: number): number {
  const first = Math.max(0, row - WINDOW);
  const end = Math.min(high.length, row + WINDOW + 1);
  const ranges = new Float64Array(end - first - 1);
  for (let other = first, at = 0; other < end; other++)
    if (other !== row) ranges[at++] = Math.log(high[other] / low[other]);
  ranges.sort();
  return ranges[ranges.length >> 1];
}
