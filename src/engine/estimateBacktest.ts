// The estimate of a backtest: what its plan takes on the bars it reads, before it is queued or run.
import type { SeriesName } from './language/canonical/foreignSeries.ts';
import { resolveConfig, symbolsOf } from './config.ts';
import type { ValidationIssue } from './language/issues/issues.ts';
import { estimatePlan, estimateRun, type PlanEstimate } from './plan/estimate.ts';
import { planTask } from './plan/planTask.ts';
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

/** Checks a run and estimates its plan. */
export function estimateTask(run: PlannedRun): EstimatedRun {
  // What its orders cost is not estimated.
  const { execution: _, ...free } = run.config;
  const planned = planTask(run, resolveConfig(free, run.strategyAst.strategy.allocation !== undefined), true);
  if (!planned.ok) return planned;
  return { ok: true, estimate: estimatePlan(planned.plan, planned.strategy.maxConcurrentPositions) };
}

/**
 * @param rowsOf bars of a series
 * @returns undefined when the strategy cannot be run with this config
 */
export function estimateBacktest(
  run: PlannedRun,
  rowsOf: (series: SeriesName) => number,
): BacktestEstimate | undefined {
  const estimated = estimateTask(run);
  return estimated.ok ? estimateRun(estimated.estimate, symbolsOf(run.config), rowsOf) : undefined;
}
