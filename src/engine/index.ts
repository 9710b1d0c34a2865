// The engine's one door: outsiders import from here.
export * from './bars/bars.ts';
export * from './bars/arrow.ts';
export { encodeColumns } from './bars/arrowTable.ts';
export { periodsPerYear, periodsPerYearReason } from './bars/periodsPerYear.ts';
export { createMarket, sourceTimeframe } from './bars/market.ts';
export { type Outlier } from './bars/outliers.ts';
export * from './language/index.ts';
export { findIndicator, findTalib, INDICATORS } from './indicators/registry.ts';
export { resolveArgs, resolveTalibArgs } from './indicators/arguments.ts';
export { type Computable, computeIndicator } from './indicators/compute.ts';
export type { Args, IndicatorDefinition } from './indicators/definition.ts';
export { findPattern, PATTERNS, type PatternDefinition } from './patterns/patternRegistry.ts';
export { foreignSeries, placeOfSeries, type SeriesName } from './language/canonical/foreignSeries.ts';
export * from './config.ts';
export { configIssues } from './configChecks.ts';
export { checkConfigForm, CONFIG_EXAMPLE, isCovered } from './configForm.ts';
export { type RunControl } from './task.ts';
export { compilePlan } from './plan/compile.ts';
export { explainPlan } from './plan/explain.ts';
export { encodeStoredTrades } from './artifacts.ts';
export { buildArtifact } from './pool/engineRunner.ts';
export { runBacktest } from './backtest.ts';
export type { Summary } from './report/summary.ts';
export { TRADE_COLUMNS } from './report/tradeColumns.ts';
export type { TradeRow } from './report/tradeTable.ts';
export { DIAGNOSIS_CODES } from './report/diagnosis.ts';
export { FLAT_KEYS, type FlatKey } from './report/flatSummary.ts';
export { INSTANT_KEY, shownSummary } from './report/shownSummary.ts';
export { FLAT_DESCRIPTIONS } from './report/summaryDescriptions.ts';
export { marketsOf } from './sweep/calendar.ts';
export { heatmapOf } from './sweep/landscape.ts';
export { historyOf, shardsOf } from './sweep/rounds.ts';
export type { ShardRange } from './sweep/shard.ts';
export { configOf, type Space } from './sweep/space.ts';
export { variantAt } from './sweep/samplers.ts';
export { metricsOf, objectiveOf, planSweep, spaceOf, type SweepJob, type SweepStrategy } from './sweep/sweepJob.ts';
export { SWEEP_METHODS, SweepSpec } from './sweep/sweepRequest.ts';
export type { SweepResult } from './sweep/sweepResult.ts';
export { joinRankingRows, rankingRows, type RankingRows } from './sweep/rankingRows.ts';
export { metricOf, type SweepRows } from './sweep/sweepRows.ts';
export { encodeSweepRows, SWEEP_FORMATS } from './sweep/sweepTable.ts';
export { RobustnessSpec, ROBUSTNESS_ANALYSES } from './robustness/robustnessRequest.ts';
export { robustnessResult, type RobustnessResult } from './robustness/robustnessResult.ts';
export { runCountOf, stepsOf, type StepOutcome } from './robustness/robustnessSteps.ts';
export type { RobustnessJob } from './robustness/scene.ts';
export { canonicalJson } from './report/canonicalJson.ts';
export { hashWithParams } from './report/reproducibility.ts';
export { ENGINE_VERSION } from './version.ts';
export {
  createPool,
  QUICK_THREADS,
  reliefThreads,
  type Pool,
  type PoolJob,
  type PartRun,
  type PoolOptions,
} from './pool/pool.ts';
export { decodeDetail, decodeTrades, type EncodedResult, type ResultDetail } from './pool/detail.ts';
export { runBytes } from './pool/memory.ts';
export { RunEstimates, type EstimatedRun } from './estimateBacktest.ts';
export { estimateRun, type PlanEstimate } from './plan/estimate.ts';
export { decodeRows } from './pool/sweepBytes.ts';
export { LruMap } from './pool/lruMap.ts';
export { lowerProcessPriority, lowerThreadPriority } from './pool/priority.ts';
export type { RunProgress } from './pool/control.ts';
export * from './task.ts';
export * from './pool/messages.ts';
export { explainStrategy } from './explainStrategy.ts';
