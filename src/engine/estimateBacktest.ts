// The estimate of a backtest: what its plan takes on the bars it reads, before it is queued or run.
import type { SeriesName } from './language/canonical/foreignSeries.ts';
import { prepareStrategy } from './language/prepare/prepare.ts';
import { resolveConfig } from './config.ts';
import type { ValidationIssue } from './language/issues/issues.ts';
import { compilePlan } from './plan/compile.ts';
import { estimatePlan, estimateRun, type PlanEstimate } from './plan/estimate.ts';
import { PlanCache } from './plan/planCache.ts';
import type { BacktestTask } from './task.ts';

interface BacktestEstimate {
  /** Nanoseconds on one thread. */
  readonly ns: number;
  /** Bytes at the peak, besides the snapshots and the thread itself. */
  readonly bytes: number;
}

/** What decides whether a strategy can be run, and its plan. */
type PlannedRun = Omit<BacktestTask, 'id' | 'strategyHash'>;

export type EstimatedRun =
  | { readonly ok: true; readonly estimate: PlanEstimate }
  | { readonly ok: false; readonly issues: readonly ValidationIssue[] };

/** Checks and estimates many runs; from its second run on, a strategy is compiled once for all values of its params. */
export class RunEstimates {
  readonly #plans = new PlanCache();

  of(run: PlannedRun): EstimatedRun {
    // What its orders cost is not estimated.
    const { execution: _, ...free } = run.config;
    const planned = this.#plans.plan(run, resolveConfig(free), true);
    if (!planned.ok) return planned;
    return { ok: true, estimate: estimatePlan(planned.plan, planned.strategy.maxConcurrentPositions) };
  }
}

function estimateOnce({ strategyAst, signalGraph, settings, config }: PlannedRun): EstimatedRun {
  const { timeframe, signalInstrument, params = {}, overrides = {} } = config;
  const context = { timeframe, symbol: signalInstrument.symbol, ...(signalGraph && { signalGraph }) };
  const prepared = prepareStrategy(strategyAst, settings, { params, overrides }, context);
  if (!prepared.ok) return prepared;
  const { strategy, pointerOf } = prepared;
  const base = { symbol: signalInstrument.symbol, timeframe };
  const plan = compilePlan(strategy, base, { pointerOf, slippageAtrPeriod: null, recordsConditions: true });
  return { ok: true, estimate: estimatePlan(plan, strategy.maxConcurrentPositions) };
}

/**
 * @param rowsOf bars of a series
 * @returns undefined when the strategy cannot be run with this config
 */
export function estimateBacktest(
  run: PlannedRun,
  rowsOf: (series: SeriesName) => number,
): BacktestEstimate | undefined {
  const estimated = estimateOnce(run);
  return estimated.ok ? estimateRun(estimated.estimate, run.config.signalInstrument.symbol, rowsOf) : undefined;
}
