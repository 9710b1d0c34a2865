// A backtest, from a checked strategy and market columns to a result: the whole pipeline, stage by stage.
import type { Bars, Market, Universe } from './bars/bars.ts';
import { daysOf } from './bars/days.ts';
import { flawSearch, type FlawSearch } from './bars/flaws.ts';
import './fast/index.ts';
import { EvaluatedPlan, RunStopped } from './evaluate/evaluatePlan.ts';
import { SharedSpan } from './kernels/sharedBuffer.ts';
import { missingSeries } from './evaluate/frames.ts';
import { ColumnStore } from './evaluate/columnStore.ts';
import { boundInput } from './boundInput.ts';
import { emptyRange, evaluationRows, warmupOf } from './boundInput.ts';
import { benchmarkBars, failure, invalidStrategy, missingBars, severalInstruments, stopped } from './failedRun.ts';
import { preparePortfolio, simulatePrepared, type KeptRecords } from './portfolioBacktest.ts';
import { alignedBenchmark, withDividends } from './report/portfolio/benchmark.ts';
import { completedPortfolio } from './report/portfolio/completedPortfolio.ts';
import { planTask } from './plan/planTask.ts';
import { bindRules } from './evaluate/bindRules.ts';
import type { BacktestTask } from './task.ts';
import { previewRows } from './report/equityPreview.ts';
import { reproducibilityOf } from './report/reproducibility.ts';
import { resultHash } from './report/resultHash.ts';
import type { ReportInput } from './report/reportInput.ts';
import { CompletedRun, type FailedRun, type SimulatedRun } from './report/simulatedRun.ts';
import { summarize } from './report/summary.ts';
import { tradeTable } from './report/tradeTable.ts';
import { tradingDayWarnings } from './report/tradingDayWarnings.ts';
import { configWarnings } from './report/warnings.ts';
import { simulateBand } from './simulate/band.ts';
import { hasDividends, isPortfolio, resolveConfig, type ResolvedConfig } from './config.ts';
import type { Scratch, SimulationInput } from './simulate/simulation.ts';
import type { RunControl } from './task.ts';
import { LentMemory } from './simulate/lentMemory.ts';
import { simulate } from './simulate/simulate.ts';
import type { StreamedRows } from './simulate/streamedMarks.ts';
import { MemoryRefused } from './simulate/tradeBudget.ts';

/**
 * Columns that a thread keeps between runs (semantics §1.1: a value never depends on the range, so runs can share
 * them).
 */
const COLUMN_STORE_BYTES = 64 * 1024 * 1024;
const columnStore = new ColumnStore(COLUMN_STORE_BYTES);

/** Longer runs stream their equity, which takes as long as a column at a million bars and 5 ns per bar less at ten. */
const MOST_COLUMN_ROWS = 1024 * 1024;
/** The memory that the runs of a thread write their results to, with at most 8 MiB of equity. */
const lentMemory = new LentMemory(MOST_COLUMN_ROWS);

/** Bounds what this thread keeps between runs: columns, with as much again in buffers to be reused, and a trade log. */
export function limitKept(bytes: { readonly columns: number; readonly trades: number }): void {
  columnStore.limit(Math.min(bytes.columns, COLUMN_STORE_BYTES));
  lentMemory.limit(bytes.trades);
}

/**
 * Runs a task on a market, or on the universe of its instruments. Pure: the same task and bars give the same bytes, on
 * any thread of any host. The report of a completed run is valid until the next run of this thread.
 */
export function runBacktest(task: BacktestTask, market: Market | Universe, control: RunControl | null): SimulatedRun {
  return run(task, market, control, { orders: false, weights: false, conditions: true }, lentMemory);
}

/** Runs a task on memory of its own, for an artifact. */
export function simulateTask(
  task: BacktestTask,
  market: Market | Universe,
  control: RunControl | null,
  keepOrders: boolean,
  keepWeights = false,
): SimulatedRun {
  return run(task, market, control, { orders: keepOrders, weights: keepWeights, conditions: true }, null);
}

/** @param memory lent to a run of one instrument; null: it has memory of its own */
function run(
  task: BacktestTask,
  market: Market | Universe,
  control: RunControl | null,
  keeps: KeptRecords,
  memory: LentMemory | null,
): SimulatedRun {
  if (!('instruments' in market)) return runTask(task, market, control, keeps.orders, memory);
  const config = resolveConfig(task.config, hasAllocation(task));
  if (isPortfolio(config)) return runPortfolio(task, config, market, control, keeps);
  return runTask(task, market.instruments[0], control, keeps.orders, memory);
}

const hasAllocation = ({ strategyAst }: BacktestTask): boolean => strategyAst.strategy.allocation !== undefined;

/** @param memory lent to the run; null: it has memory of its own */
function runTask(
  task: BacktestTask,
  market: Market,
  control: RunControl | null,
  keepOrders: boolean,
  memory: LentMemory | null,
): SimulatedRun {
  const arrays = new SharedSpan();
  try {
    const prepared = prepareRun(task, market, columnStore, true, control);
    if (!prepared.ok) return prepared;
    const { firstRow, endRow, input } = prepared;
    const scratch = memory?.lend(input.end - input.start, streamedRows(input));
    const flaws = flawSearch(input.bars, firstRow, endRow);
    const report = simulateRun(prepared, inputOfRun(input, control, keepOrders, flaws, scratch));
    return report === null ? stopped() : completedRun(task, market, report, arrays);
  } catch (error) {
    return endedBy(error);
  } finally {
    columnStore.trim();
    memory?.trim();
  }
}

function runPortfolio(
  task: BacktestTask,
  config: ResolvedConfig,
  universe: Universe,
  control: RunControl | null,
  keeps: KeptRecords,
): SimulatedRun {
  const arrays = new SharedSpan();
  try {
    const prepared = preparePortfolio(task, config, universe, columnStore, control, keeps);
    if (!prepared.ok) return prepared;
    const simulated = simulatePrepared(prepared);
    if (simulated === null) return stopped();
    const { strategy, warmup, instruments, benchmark, input } = prepared;
    const { axis, start, end } = input;
    const parts = { strategy, warmup, instruments, benchmark, axis, start, end, ...simulated };
    return completedPortfolio(task, universe, parts, arrays);
  } catch (error) {
    return endedBy(error);
  } finally {
    columnStore.trim();
  }
}

/** @throws the error, if it is none that ends a run */
function endedBy(error: unknown): FailedRun {
  if (error instanceof RunStopped) return stopped();
  if (error instanceof MemoryRefused) return { ok: false, error: error.runError };
  throw error;
}

/**
 * The input with what this run alone has. Every member by its name: whenever V8 collects garbage, it forgets the
 * hidden class of an object that begins with a spread, and with it the code of the functions that read one.
 */
const inputOfRun = (
  input: SimulationInput,
  control: RunControl | null,
  keepOrders: boolean,
  flaws: FlawSearch,
  scratch: Scratch | undefined,
): SimulationInput => ({
  bars: input.bars,
  instrument: input.instrument,
  start: input.start,
  end: input.end,
  fine: input.fine,
  config: input.config,
  maxConcurrentPositions: input.maxConcurrentPositions,
  entries: input.entries,
  exits: input.exits,
  risk: input.risk,
  slippageAtr: input.slippageAtr,
  control,
  keepOrders,
  flaws,
  scratch,
});

/** The rows whose marks a report reads of a long run, which writes no column of equity; null: a shorter run. */
function streamedRows(input: SimulationInput): StreamedRows | null {
  const { start, end, bars } = input;
  if (end - start <= MOST_COLUMN_ROWS) return null;
  return { days: daysOf(bars.time, start, end).lastRows, preview: previewRows(input) };
}

/** Everything that is known before the first bar is simulated. */
export type PreparedRun = Omit<ReportInput, 'simulation' | 'band'> & { readonly ok: true };

/**
 * Prepares, plans, evaluates and binds a run. A caller that keeps several runs passes the same store to each and trims
 * it between them.
 * @param recordsConditions also plan and keep what rule statistics and samples read; a sweep needs neither.
 * @throws RunStopped when `control` says so
 */
export function prepareRun(
  task: BacktestTask,
  market: Market,
  store: ColumnStore,
  recordsConditions: boolean,
  control: RunControl | null = null,
): PreparedRun | FailedRun {
  const config = resolveConfig(task.config, hasAllocation(task));
  if (isPortfolio(config)) return severalInstruments();
  const planned = planTask(task, config, recordsConditions);
  if (!planned.ok) return invalidStrategy(planned.issues);
  const { strategy, plan } = planned;
  const [missing] = missingSeries(plan, market);
  if (missing) return missingBars(task, missing);
  const evaluated = new EvaluatedPlan(plan, market, store, control, task.owner);
  const boundRules = bindRules(strategy, evaluated, recordsConditions);
  const warmup = warmupOf(strategy, task.settings, task.strategyAst, market.base.timeframe);
  const rows = evaluationRows(market.base, config.range, warmup);
  const { firstRow, endRow } = rows;
  if (firstRow === endRow) return failure('RANGE_NO_DATA', '/config/range', emptyRange(market.base));
  const input = boundInput({ market, rows, config, strategy, boundRules, control: null, keepOrders: false });
  const prepared: PreparedRun = { ok: true, strategy, evaluated, boundRules, input, firstRow, endRow, warmup };
  if (config.benchmark === undefined) return hasDividends(config) ? comparedWith(input.bars, prepared) : prepared;
  const benchmark = benchmarkBars(config.benchmark, market);
  return 'ok' in benchmark ? benchmark : comparedWith(benchmark, prepared);
}

/** The prepared run with a benchmark of its own. */
function comparedWith(source: Bars, run: PreparedRun): PreparedRun {
  const { bars, start, config } = run.input;
  const prices = alignedBenchmark(source, bars.time, start);
  return {
    ...run,
    benchmark: { source, ...withDividends(prices, config, source, bars.time, start) },
  };
}

/** The prepared run over the range that `task.config` names. Its columns do not depend on the range and are reused. */
export function narrowRun(run: PreparedRun, task: BacktestTask): PreparedRun {
  const config = resolveConfig(task.config);
  const { firstRow, endRow, start } = evaluationRows(run.input.bars, config.range, run.warmup);
  const narrowed: PreparedRun = { ...run, firstRow, endRow, input: { ...run.input, config, start, end: endRow } };
  return run.benchmark === undefined ? narrowed : comparedWith(run.benchmark.source, narrowed);
}

/** null: the run was stopped. */
function simulateRun(prepared: PreparedRun, input: SimulationInput): ReportInput | null {
  const simulation = simulate(input);
  const band = simulateBand(input, simulation);
  if (band === null) return null;
  const { strategy, evaluated, boundRules, firstRow, endRow, warmup, benchmark } = prepared;
  const report: ReportInput = {
    strategy,
    evaluated,
    boundRules,
    simulation,
    input,
    firstRow,
    endRow,
    warmup,
    band,
  };
  return benchmark === undefined ? report : { ...report, benchmark };
}

/** @param arrays the memory of all small arrays of the run */
function completedRun(task: BacktestTask, market: Market, report: ReportInput, arrays: SharedSpan): CompletedRun {
  const { simulation, input, firstRow, boundRules } = report;
  const written = summarize(report);
  const table = tradeTable(simulation.tradeLog, { time: input.bars.time, firstRow, boundRules });
  const configJson = JSON.stringify(input.config);
  const reproducibility = reproducibilityOf(task, market, report, resultHash(written, table), configJson);
  const warnings = [...configWarnings(task.strategyAst, report), ...tradingDayWarnings(report)];
  return new CompletedRun({
    report,
    written,
    tradeTable: table,
    configJson,
    reproducibility,
    warnings,
    memory: arrays.close(),
  });
}
