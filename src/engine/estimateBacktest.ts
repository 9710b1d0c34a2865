// The estimate of a backtest: what its plan takes on the bars it reads, before it is queued or run.
import { prepareStrategy } from './language/canonical/prepare.ts';
import type { RunnableStrategy } from './language/grammar/ast.ts';
import { compilePlan } from './plan/compile.ts';
import { estimatePlan, estimateRun, type PlanEstimate } from './plan/estimate.ts';
import type { Frame } from './plan/plan.ts';
import type { PointerOf } from './language/check/sectionChecks.ts';
import type { BacktestTask } from './task.ts';

export interface BacktestEstimate {
  /** Nanoseconds on one thread. */
  readonly ns: number;
  /** At the peak, besides the snapshots and the thread itself. */
  readonly bytes: number;
}

/** Of a prepared strategy on a base frame. */
export function planEstimateOf(strategy: RunnableStrategy, pointerOf: PointerOf, base: Frame): PlanEstimate {
  const plan = compilePlan(strategy, base, { pointerOf, slippageAtrPeriod: null, recordsConditions: true });
  return estimatePlan(plan, strategy.maxConcurrentPositions);
}

/**
 * @param rowsOf bars of a series
 * @returns undefined when the strategy cannot be run with this config
 */
export function estimateBacktest(
  { strategyAst, signalGraph, settings, config }: Omit<BacktestTask, 'id' | 'strategyHash'>,
  rowsOf: (frame: Frame) => number,
): BacktestEstimate | undefined {
  const { timeframe, signalInstrument } = config;
  const context = { timeframe, ...(signalGraph && { signalGraph }) };
  const { params = {}, overrides = {} } = config;
  const prepared = prepareStrategy(strategyAst, settings, { params, overrides }, context);
  if (!prepared.ok) return undefined;
  const base = { symbol: signalInstrument.symbol, timeframe };
  return estimateRun(planEstimateOf(prepared.strategy, prepared.pointerOf, base), rowsOf);
}
