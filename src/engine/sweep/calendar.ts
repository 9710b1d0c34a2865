// The calendar of a sweep: the days that divide the returns of every variant into the same blocks, whatever its warm-up
// or market.
import type { BacktestConfig } from '../config.ts';
import { resolveConfig } from '../config.ts';
import { rowsInRange } from '../bars/rowRange.ts';
import { lowerBound } from '../kernels/search.ts';
import { daysOf } from '../report/days.ts';
import type { DailySeries } from '../report/returns.ts';
import { blockCount } from './overfitting.ts';
import { hash32 } from './seeded.ts';
import { levelCount, valueAt, type Space } from './space.ts';
import type { MarketOf, SweepJob } from './sweepJob.ts';

/**
 * The most variants whose returns are compared in all choices of blocks; of more, a seeded sample of this size is used
 * (semantics §5.5).
 */
export const MAX_SAMPLED = 2_000;
const SAMPLE_SEED = 0x5eed;

export interface Calendar {
  /** Days on which any market of the space has bars in the range, ms UTC, ascending. */
  readonly days: Float64Array;
  readonly blocks: number;
  readonly daysPerBlock: number;
}

/** The (symbol, timeframe) pairs that variants run on. */
export function marketsOf(
  base: BacktestConfig,
  space: Space,
): { symbol: string; timeframe: BacktestConfig['timeframe'] }[] {
  const valuesOf = (target: 'symbol' | 'timeframe', otherwise: string): string[] => {
    const dimension = space.dimensions.find((each) => each.target === target);
    if (dimension === undefined) return [otherwise];
    return Array.from({ length: levelCount(dimension) }, (_, at) => valueAt(dimension, at) as string);
  };
  const symbols = valuesOf('symbol', base.signalInstrument.symbol);
  const timeframes = valuesOf('timeframe', base.timeframe) as BacktestConfig['timeframe'][];
  return symbols.flatMap((symbol) => timeframes.map((timeframe) => ({ symbol, timeframe })));
}

export function calendarOf({ spec }: SweepJob, space: Space, marketOf: MarketOf): Calendar {
  const { range } = resolveConfig(spec.config);
  const days = new Set<number>();
  for (const { symbol, timeframe } of marketsOf(spec.config, space)) {
    const bars = marketOf(symbol, timeframe)?.base;
    if (bars === undefined) continue;
    const { first, end } = rowsInRange(bars, range);
    for (const day of daysOf(bars.time, first, end).day) days.add(day);
  }
  const blocks = blockCount(days.size);
  return {
    days: Float64Array.from(days).sort(),
    blocks,
    daysPerBlock: blocks === 0 ? 0 : Math.floor(days.size / blocks),
  };
}

/**
 * Adds a variant's Σr and Σr² of every block at `at`. A day without a return, such as one in its warm-up, counts as a
 * return of 0.
 */
export function addBlockSums(
  { days, blocks, daysPerBlock }: Calendar,
  daily: DailySeries,
  out: Float64Array,
  at: number,
): void {
  const dropped = days.length - blocks * daysPerBlock;
  let position = lowerBound(days, daily.day[0] ?? Infinity);
  for (let index = 0; index < daily.day.length; index++) {
    while (position < days.length && days[position] < daily.day[index]) position++;
    const kept = position - dropped;
    if (kept < 0) continue;
    const value = daily.returns[index];
    const to = at + 2 * Math.floor(kept / daysPerBlock);
    out[to] += value;
    out[to + 1] += value * value;
  }
}

/** Whether a variant's block sums are kept. The index alone decides, so that shards need no coordination. */
export function isSampled(variant: number, variants: number): boolean {
  if (variants <= MAX_SAMPLED) return true;
  return hash32(SAMPLE_SEED, variant) < (MAX_SAMPLED / variants) * 0x1_0000_0000;
}
