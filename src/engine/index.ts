// The engine's one door: outsiders import from here, and market data also from bars/. Every name is one that they use.

// Bars
export { TIMEFRAMES, type Bars, type Instrument, type Market, type Timeframe, type Universe } from './bars/bars.ts';
export { openSnapshot, type SharedBytes, type Snapshot, type SnapshotMeta } from './bars/arrow.ts';
export { encodeColumns, encodeTable } from './bars/arrowTable.ts';
export { numberColumn, type Table } from './bars/table.ts';
export { csvFile, jsonFile } from './bars/tableText.ts';
export { rowsInRange } from './bars/rowRange.ts';
export { createMarket, createUniverse, sourceTimeframe } from './bars/market.ts';
export { divides, longestMs, mostBarsIn, shortestMs } from './bars/timeframes.ts';
export { type Outlier } from './bars/outliers.ts';
export { periodsPerYear, periodsPerYearReason } from './bars/periodsPerYear.ts';
export { exchangeOf } from './bars/runCalendar.ts';

// Indicators and patterns
export { resolveArgs, resolveTalibArgs } from './indicators/arguments.ts';
export { computeIndicator, type Computable } from './indicators/compute.ts';
export type { Args, IndicatorDefinition } from './indicators/definition.ts';
export { findIndicator, findTalib, INDICATORS } from './indicators/registry.ts';
export { findPattern, PATTERNS, type PatternDefinition } from './patterns/patternRegistry.ts';

// Definitions
export { SLIPPAGE_KINDS } from './definitions/slippage/slippageKinds.ts';
export { DISTANCE_LEVELS, STOP_LEVELS, TRIGGER_LEVELS } from './definitions/levels/levelModes.ts';
export { WEIGHT_MODES } from './definitions/weights/weightModes.ts';
export { EXIT_SIZES } from './definitions/sizing/exitSizes.ts';
export { SIZING_MODES } from './definitions/sizing/sizingModes.ts';

// Strategies: what they can say, checking, preparing, hashing
export { describeCapabilities } from './language/capabilities.ts';
export { checkStrategy, type CheckOutcome } from './language/check/checkStrategy.ts';
export { type ValidationIssue } from './language/issues/issues.ts';
export { ISSUE_CODES } from './definitions/issueCodes.ts';
export { nearestName } from './language/issues/nearest.ts';
export { type PatchOperation } from './language/issues/patch.ts';
export { strategyHash } from './language/canonical/content.ts';
export { foreignSeries, placeOfSeries, type SeriesName } from './language/canonical/foreignSeries.ts';
export { prepareStrategy } from './language/prepare/prepare.ts';
export { compileTokens } from './language/tokens/compileTokens.ts';
export { Settings, StrategyAst } from './language/grammar/ast.ts';
export { SignalGraph } from './language/grammar/graph.ts';
export { isMembers } from './language/grammar/payloadObjects.ts';
export { canonicalField } from './definitions/words.ts';
export { parsePointer, pointerTo, valueAtPointer } from './language/pointer.ts';

// Configs
export {
  AMBIGUITY_RESOLUTIONS,
  BacktestConfig,
  ConfigTime,
  FALLBACK_CHOICES,
  isPortfolio,
  resolveConfig,
  Slippage,
  symbolsOf,
  toMs,
  type ResolvedConfig,
} from './config.ts';
export { configIssues, quoteIssues } from './configChecks.ts';
export { checkConfigForm, CONFIG_EXAMPLE, configExampleFor, isCovered } from './configForm.ts';

// One backtest: estimated, explained, run, and its artifacts
export {
  ARTIFACT_FORMATS,
  ARTIFACT_NAMES,
  DAILY_EQUITY,
  FORMATS_OF,
  PORTFOLIO_ARTIFACT_NAMES,
  type ArtifactFormat,
  type ArtifactName,
  type ArtifactNotice,
  type ArtifactRequest,
  type BacktestTask,
  type ReportHeading,
  type RunControl,
  type RunError,
  type StoredResult,
} from './task.ts';
export { estimateBacktest, estimateTask, type EstimatedRun } from './estimateBacktest.ts';
export { estimateRun, type PlanEstimate } from './plan/estimate.ts';
export { explainStrategy } from './explainStrategy.ts';
export { computeColumns, estimateColumns, planColumns } from './computeColumns.ts';
export { RunStopped } from './evaluate/evaluatePlan.ts';
export { runBacktest } from './backtest.ts';
export { encodeStoredTrades } from './artifacts.ts';
export { ENGINE_VERSION } from './version.ts';

// Results
export { benchmarkName } from './report/buyAndHold.ts';
export { canonicalJson } from './report/canonicalJson.ts';
export {
  FLAT_DESCRIPTIONS,
  FLAT_KEYS,
  isFraction,
  STATISTIC_POSITIONS,
  statisticOf,
  type FlatKey,
} from './definitions/statistics/statistics.ts';
export { hashWithParams } from './report/reproducibility.ts';
export { shownSummary } from './report/shownSummary.ts';
export type { Summary } from './report/summary.ts';
export { escapeHtml } from './report/kit/html.ts';
export { SYMBOL_COLUMN, TRADE_COLUMNS } from './report/tradeColumns.ts';
export type { TradeRow } from './report/tradeTable.ts';

// Several results: compared, and combined as one account
export { combine, COMBINED_KEYS, REBALANCES } from './report/comparison/combination.ts';
export {
  comparableRun,
  COMPARED_METRICS,
  comparisonWarnings,
  type ComparableRun,
} from './report/comparison/comparability.ts';
export { correlationsOf } from './report/comparison/correlations.ts';
export {
  commonDays,
  dailyTable,
  equityBefore,
  marksOn,
  readDailyTable,
  unionOfDays,
  type DailyEquity,
  type DayRange,
} from './report/comparison/dailyEquity.ts';
export { matchPositions, PositionList } from './report/comparison/matchedPositions.ts';
export { settingDifferences } from './report/comparison/settingDifferences.ts';
export { canonicalize } from './language/canonical/canonical.ts';
export { previewIndexes } from './report/equityPreview.ts';

// Sweeps
export { heatmapOf } from './sweep/landscape.ts';
export { joinRankingRows, rankingRows, type RankingRows } from './sweep/rankingRows.ts';
export { historyOf, shardsOf } from './sweep/rounds.ts';
export type { ShardRange } from './sweep/shard.ts';
export { configOf, configOn, marketsOf, type Space } from './sweep/space.ts';
export {
  countSweep,
  metricsOf,
  objectiveOf,
  planSweep,
  sizeSweep,
  spaceOf,
  type SweepJob,
  type SweepStrategy,
} from './sweep/sweepJob.ts';
export {
  DEFAULT_METHOD,
  DRAWING_METHOD,
  either,
  EXHAUSTIVE_METHODS,
  methodOf,
  runsInRounds,
  SWEEP_METHODS,
  WALK_FORWARD_METHODS,
} from './sweep/methods/sweepMethods.ts';
export { SweepSpec } from './sweep/sweepRequest.ts';
export type { SweepResult } from './sweep/sweepResult.ts';
export { metricOf, type SweepRows } from './sweep/sweepRows.ts';
export { constraintAdvice } from './sweep/constraintForm.ts';
export { shownNames } from './sweep/shownNames.ts';
export { dimensionFaults, firstUniverse } from './sweep/spaceForm.ts';
export { encodeSweepRows, SWEEP_FORMATS } from './sweep/sweepTable.ts';

// Robustness checks
export { ANALYSES, ROBUSTNESS_ANALYSES } from './robustness/analyses/registeredAnalyses.ts';
export type { AnalysisRow } from './robustness/analyses/analysis.ts';
export { RobustnessSpec, type RobustnessJob } from './robustness/robustnessRequest.ts';
export type { Lineage, LineageSweep } from './robustness/lineage.ts';
export { robustnessResult, type RobustnessResult } from './robustness/robustnessResult.ts';
export { robustnessReport } from './pool/pageAssets.ts';
export { runCountOf, stepsOf, type StepOutcome } from './robustness/robustnessSteps.ts';

// The pool of threads, and what its messages carry
export {
  createPool,
  QUICK_SHARD_THREADS,
  QUICK_THREADS,
  reliefThreads,
  type PartRun,
  type Pool,
  type PoolJob,
  type PoolOptions,
} from './pool/pool.ts';
export { closeGate, closeGatesAtExit, compressed, createGate, decompressed, enterThrough } from './pool/nativeCalls.ts';
export type { RunProgress } from './pool/control.ts';
export { decodeDetail, decodeTrades, type Result, type ResultDetail } from './pool/result.ts';
export { buildArtifact } from './pool/engineRunner.ts';
export { LruMap } from './pool/lruMap.ts';
export { runBytes } from './pool/memory.ts';
export type { Outcome, PoolBatch, PoolRun, StopReason, SweepBatch, SweepOutcome, SweepWork } from './pool/messages.ts';
export { lowerProcessPriority, lowerThreadPriority } from './pool/priority.ts';
export { decodeRows } from './pool/sweepBytes.ts';
