// CSCV blocks: the days of a sweep in blocks of equal length. They divide the returns of every variant in the same way,
// whatever its warm-up or market (semantics §5.5).
import type { MarketOf } from '../comparedRun.ts';
import { resolveConfig } from '../config.ts';
import { rowsInRange } from '../bars/rowRange.ts';
import { lowerBound } from '../kernels/search.ts';
import type { Bars } from '../bars/bars.ts';
import { daysOf } from '../bars/days.ts';
import type { DailySeries } from '../report/returns.ts';
import { blockCount } from './overfitting.ts';
import { hash32 } from './seeded.ts';
import { marketsOf, type Space } from './space.ts';
import type { SweepJob } from './sweepJob.ts';

/**
 * The most variants whose returns are compared in all choices of blocks; of more, a seeded sample of this size is used
 * (semantics §5.5).
 */
export const MAX_SAMPLED = 2_000;
const SAMPLE_SEED = 0x5eed;

export interface CscvBlocks {
  /** Days on which any market of the space has bars in the range, ms UTC, ascending. */
  readonly days: Float64Array;
  readonly blocks: number;
  readonly daysPerBlock: number;
}

/** The days of all markets that variants run on, and how they are divided into blocks. */
export function cscvBlocksOf({ spec }: SweepJob, space: Space, marketOf: MarketOf): CscvBlocks {
  const { range } = resolveConfig(spec.config);
  const ofEach = new Map<Bars, Float64Array>();
  for (const { symbols, timeframe } of marketsOf(spec.config, space))
    for (const symbol of symbols) {
      const bars = marketOf(symbol, timeframe)?.base;
      if (bars === undefined || ofEach.has(bars)) continue;
      const { first, end } = rowsInRange(bars, range);
      ofEach.set(bars, daysOf(bars.time, first, end).day);
    }
  const ofMarkets = [...ofEach.values()];
  const days = ofMarkets.length === 1 ? ofMarkets[0] : union(ofMarkets);
  const blocks = blockCount(days.length);
  return { days, blocks, daysPerBlock: blocks === 0 ? 0 : Math.floor(days.length / blocks) };
}

function union(lists: readonly Float64Array[]): Float64Array {
  const days = new Set<number>();
  for (const list of lists) for (const day of list) days.add(day);
  return Float64Array.from(days).sort();
}

/**
 * Adds a variant's Σr and Σr² of every block at `at`. A day without a return, such as one in its warm-up, counts as a
 * return of 0.
 */
export function addBlockSums(
  { days, blocks, daysPerBlock }: CscvBlocks,
  daily: DailySeries,
  out: Float64Array,
  at: number,
): void {
  const dropped = days.length - blocks * daysPerBlock;
  const { day, returns } = daily;
  let position = lowerBound(days, Math.max(day[0] ?? Infinity, days[dropped] ?? Infinity));
  let index = position < days.length ? lowerBound(day, days[position]) : day.length;
  while (index < day.length) {
    while (position < days.length && days[position] < day[index]) position++;
    // Block by block: a division per day takes longer than its sums.
    const block = Math.floor((position - dropped) / daysPerBlock);
    const end = dropped + (block + 1) * daysPerBlock;
    const to = at + 2 * block;
    let sum = out[to];
    let squares = out[to + 1];
    for (; index < day.length; index++) {
      while (position < end && days[position] < day[index]) position++;
      if (position >= end) break;
      const value = returns[index];
      sum += value;
      squares += value * value;
    }
    out[to] = sum;
    out[to + 1] = squares;
  }
}

/** Whether a variant's block sums are kept. The index alone decides, so that shards need no coordination. */
export const isSampled = (variant: number, variants: number): boolean =>
  hash32(SAMPLE_SEED, variant) < (MAX_SAMPLED / variants) * 0x1_0000_0000;
