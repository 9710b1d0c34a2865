// Price blocks: the highest high and the lowest low of every 32 bars, so that a search for a price and the extremes of
// many bars skip what is inside. Computed once per snapshot, for callers that run over the same bars many times.
import type { Bars } from './bars.ts';

const BITS = 5;
const SIZE = 1 << BITS;

export interface PriceBlocks {
  readonly high: Float64Array;
  readonly low: Float64Array;
  readonly highest: Float64Array;
  readonly lowest: Float64Array;
}

/** Keyed by the high column, which has the lifetime of its snapshot and is never written to. */
const known = new WeakMap<Float64Array, PriceBlocks>();

/** The blocks of a series, computed when they are first asked for and kept as long as the series. */
export function priceBlocksOf({ high, low }: Bars): PriceBlocks {
  let blocks = known.get(high);
  if (blocks === undefined || blocks.low !== low) known.set(high, (blocks = summarize(high, low)));
  return blocks;
}

function summarize(high: Float64Array, low: Float64Array): PriceBlocks {
  const count = Math.ceil(high.length / SIZE);
  const highest = new Float64Array(count).fill(-Infinity);
  const lowest = new Float64Array(count).fill(Infinity);
  for (let row = 0; row < high.length; row++) {
    const block = row >>> BITS;
    if (high[row] > highest[block]) highest[block] = high[row];
    if (low[row] < lowest[block]) lowest[block] = low[row];
  }
  return { high, low, highest, lowest };
}

/** The first row of [from, to) whose high is at least `above` or whose low is at most `below`; `to` without one. */
export function firstOutside(
  { high, low, highest, lowest }: PriceBlocks,
  from: number,
  to: number,
  above: number,
  below: number,
): number {
  let row = from;
  while (row < to) {
    const block = row >>> BITS;
    const end = Math.min((block + 1) << BITS, to);
    if (highest[block] >= above || lowest[block] <= below) {
      for (; row < end; row++) if (high[row] >= above || low[row] <= below) return row;
    }
    row = end;
  }
  return to;
}

/** The highest high of rows [from, to), or `least` if that is higher. */
export function highestOf({ high, highest }: PriceBlocks, from: number, to: number, least: number): number {
  let top = least;
  let row = from;
  while (row < to) {
    const block = row >>> BITS;
    const end = Math.min((block + 1) << BITS, to);
    if (highest[block] > top) {
      if (row === block << BITS && end === (block + 1) << BITS) top = highest[block];
      else for (let at = row; at < end; at++) if (high[at] > top) top = high[at];
    }
    row = end;
  }
  return top;
}

/** The lowest low of rows [from, to), or `greatest` if that is lower. */
export function lowestOf({ low, lowest }: PriceBlocks, from: number, to: number, greatest: number): number {
  let bottom = greatest;
  let row = from;
  while (row < to) {
    const block = row >>> BITS;
    const end = Math.min((block + 1) << BITS, to);
    if (lowest[block] < bottom) {
      if (row === block << BITS && end === (block + 1) << BITS) bottom = lowest[block];
      else for (let at = row; at < end; at++) if (low[at] < bottom) bottom = low[at];
    }
    row = end;
  }
  return bottom;
}
