// The cost of a backtest, known at acceptance: what its workspace's turn is charged, and the memory that it may need;
// and how much of it a shard of a sweep or robustness check may hold.
import { estimateRun, runBytes, shortestMs, symbolsOf } from '../../engine/index.ts';
import type { PlanEstimate, ResolvedConfig, SeriesName } from '../../engine/index.ts';
import type { CatalogEntry } from '../../market/catalog.ts';

/** Handing over a small backtest costs about as much as running a thousand bars. */
const COST_OF_A_RUN = 1_000;
/** A bar of work: what the loop and a handful of columns take for one bar. */
const NS_PER_BAR_OF_WORK = 50;

/** The stored series that a run may read. */
export interface RunSeries {
  /** Bars of each series that the strategy names, by `seriesKey`. */
  readonly rows: ReadonlyMap<string, number>;
  /** Bars of all snapshots that the run may read. */
  readonly openedBars: number;
}

/**
 * @param bases the bars of each instrument
 * @returns `cost` in bars of work, `memoryBytes` of all that the run opens and computes
 */
export function costOf(
  estimated: PlanEstimate,
  config: ResolvedConfig,
  bases: readonly CatalogEntry[],
  { rows, openedBars }: RunSeries,
): { readonly cost: number; readonly memoryBytes: number } {
  const estimate = estimateRun(estimated, symbolsOf(config), (series) => rows.get(seriesKey(series)) ?? 0);
  return {
    cost: bases.reduce((sum, base) => sum + barsToEnd(config, base), 0) + barsOfWork(estimate.ns) + COST_OF_A_RUN,
    memoryBytes: Math.ceil(runBytes(estimate.bytes, openedBars)),
  };
}

/** What computing for this long costs. */
export const barsOfWork = (ns: number): number => Math.ceil(ns / NS_PER_BAR_OF_WORK);

/** The key of a series in `RunSeries.rows`. */
export const seriesKey = ({ symbol, timeframe }: SeriesName): string => `${timeframe} ${symbol}`;

/** How many bars of `timeframe` a series gives at most: as many as fit into its span, and no more than are stored. */
export function barsOf({ bars, start, end }: CatalogEntry, timeframe: SeriesName['timeframe']): number {
  return Math.min(bars, Math.ceil((end - start) / shortestMs(timeframe)));
}

/** Columns are computed from the first bar of the data to the end of the range, so all those bars count. */
function barsToEnd({ timeframe, range }: ResolvedConfig, base: CatalogEntry): number {
  const end = Math.min(range.end ?? base.end, base.end);
  return Math.ceil((end - base.start) / shortestMs(timeframe));
}

/**
 * Some tenths of a second of work on one thread: when shards hold all threads, another workspace waits that long for
 * its turn.
 */
export const COST_PER_SHARD = 30_000_000;
/** What a run of a shard costs however few its bars are. */
export const COST_PER_RUN = 50_000;
