// The cost of a backtest: what its workspace's turn is charged, and the memory it is admitted by; known at acceptance.
import { resolveConfig, runBytes, TIMEFRAME_MS, type BacktestConfig, type PlanEstimate } from '../../engine/index.ts';
import { estimateRun, planEstimateOf, type SeriesName } from '../../engine/index.ts';
import type { prepareStrategy } from '../../engine/index.ts';
import type { Catalogue, CatalogueEntry } from '../../market/catalogue.ts';

/** Handing over a small backtest costs about as much as running a thousand bars. */
const COST_OF_A_RUN = 1_000;
/** A bar of work: what the loop and a handful of columns take for one bar. */
const NS_PER_BAR_OF_WORK = 50;

export type Prepared = ReturnType<typeof prepareStrategy> & { readonly ok: true };

/** Of a strategy that was prepared for this config; equal plans of one call are estimated once. */
export class BacktestCost {
  readonly #catalogue: Catalogue;
  readonly #estimates = new WeakMap<Prepared, Map<string, PlanEstimate>>();

  constructor(catalogue: Catalogue) {
    this.#catalogue = catalogue;
  }

  /** @param opened the snapshots that the run may read */
  async of(
    prepared: Prepared,
    config: BacktestConfig,
    foreign: readonly SeriesName[],
    opened: readonly CatalogueEntry[],
  ): Promise<{ readonly cost: number; readonly memoryBytes: number }> {
    const base = { symbol: config.signalInstrument.symbol, timeframe: config.timeframe };
    const rows = new Map<string, number>();
    for (const series of [base, ...foreign]) {
      const entry = await this.#catalogue.find(series.symbol, series.timeframe);
      if (entry) rows.set(keyOf(series), barsOf(entry, series.timeframe));
    }
    const estimate = estimateRun(this.#estimateOf(prepared, base), (frame) => rows.get(keyOf(frame)) ?? 0);
    const openedBars = opened.reduce((sum, { bars }) => sum + bars, 0);
    const baseEntry = (await this.#catalogue.find(base.symbol, base.timeframe))!;
    return {
      cost: barsToEnd(config, baseEntry) + Math.ceil(estimate.ns / NS_PER_BAR_OF_WORK) + COST_OF_A_RUN,
      memoryBytes: Math.ceil(runBytes(estimate.bytes, openedBars)),
    };
  }

  #estimateOf(prepared: Prepared, base: SeriesName): PlanEstimate {
    const known = this.#estimates.get(prepared) ?? new Map<string, PlanEstimate>();
    this.#estimates.set(prepared, known);
    let estimate = known.get(base.symbol);
    if (!estimate) {
      estimate = planEstimateOf(prepared.strategy, prepared.pointerOf, base);
      known.set(base.symbol, estimate);
    }
    return estimate;
  }
}

const keyOf = ({ symbol, timeframe }: SeriesName): string => `${timeframe} ${symbol}`;

/** At most: the market may have been closed. */
function barsOf({ bars, start, end }: CatalogueEntry, timeframe: SeriesName['timeframe']): number {
  return Math.min(bars, Math.ceil((end - start) / TIMEFRAME_MS[timeframe]));
}

/** Columns are computed from the first bar of the data to the end of the range, so all those bars count. */
function barsToEnd(config: BacktestConfig, base: CatalogueEntry): number {
  const end = Math.min(resolveConfig(config).range.end ?? base.end, base.end);
  return Math.ceil((end - base.start) / TIMEFRAME_MS[config.timeframe]);
}
