// A backtest, from a checked strategy and market columns to a result: the whole pipeline, stage by stage.
import type { Bars, Market } from './bars/bars.ts';
import { daysOf } from './bars/days.ts';
import { flawSearch, type FlawSearch } from './bars/flaws.ts';
import { rowsInRange } from './bars/rowRange.ts';
import './fast/index.ts';
import { EvaluatedPlan, RunStopped } from './evaluate/evaluatePlan.ts';
import { SharedSpan } from './kernels/sharedBuffer.ts';
import { missingSeries } from './evaluate/frames.ts';
import { ColumnStore } from './evaluate/columnStore.ts';
import { placeOfSeries } from './language/canonical/foreignSeries.ts';
import type { ValidationIssue } from './language/issues/issues.ts';
import { inferLookback } from './language/canonical/lookback.ts';
import type { RunnableStrategy, Settings, StrategyAst } from './language/grammar/ast.ts';
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
import { configWarnings } from './report/warnings.ts';
import { simulateBand } from './simulate/band.ts';
import { resolveConfig, type ResolvedConfig } from './config.ts';
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
 * Runs a task on a market. Pure: the same task and bars give the same bytes, on any thread of any host. The report of a
 * completed run is valid until the next run of this thread.
 */
export function runBacktest(task: BacktestTask, market: Market, control: RunControl | null): SimulatedRun {
  return runTask(task, market, control, { keepOrders: false, memory: lentMemory });
}

/** Runs a task on memory of its own, for an artifact. */
export function simulateTask(
  task: BacktestTask,
  market: Market,
  control: RunControl | null,
  keepOrders: boolean,
): SimulatedRun {
  return runTask(task, market, control, { keepOrders, memory: null });
}

/** @param memory lent to the run; null: it has memory of its own */
function runTask(
  task: BacktestTask,
  market: Market,
  control: RunControl | null,
  { keepOrders, memory }: { readonly keepOrders: boolean; readonly memory: LentMemory | null },
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
    if (error instanceof RunStopped) return stopped();
    if (error instanceof MemoryRefused) return { ok: false, error: error.runError };
    throw error;
  } finally {
    columnStore.trim();
    memory?.trim();
  }
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
  const config = resolveConfig(task.config);
  const planned = planTask(task, config, recordsConditions);
  if (!planned.ok) {
    const [first] = planned.issues;
    return failure('STRATEGY_INVALID', first?.path ?? '', first?.message ?? 'The strategy is invalid.', planned.issues);
  }
  const { strategy, plan } = planned;
  const [missing] = missingSeries(plan, market);
  if (missing) {
    const message =
      `There are no ${missing.timeframe} bars of ${missing.symbol}; import them, or take that instrument out of the ` +
      'strategy.';
    return failure('SYMBOL_NOT_AVAILABLE', placeOfSeries(task.strategyAst, task.signalGraph, missing), message);
  }
  const evaluated = new EvaluatedPlan(plan, market, store, control, task.owner);
  const boundRules = bindRules(strategy, evaluated, recordsConditions);
  const { firstRow, endRow, start, warmup } = evaluationRows(
    strategy,
    task.settings,
    task.strategyAst,
    config,
    market.base,
  );
  if (firstRow === endRow) return failure('RANGE_NO_DATA', '/config/range', emptyRange(market.base));
  // Every member by its name: a spread makes an object that grows with each member after it.
  const input: SimulationInput = {
    bars: market.base,
    instrument: market.instrument,
    start,
    end: endRow,
    fine: market.fine ?? null,
    config,
    maxConcurrentPositions: strategy.maxConcurrentPositions,
    entries: boundRules.entries,
    exits: boundRules.exits,
    risk: boundRules.risk,
    slippageAtr: boundRules.slippageAtr,
    control: null,
    keepOrders: false,
    scratch: undefined,
  };
  return { ok: true, strategy, evaluated, boundRules, input, firstRow, endRow, warmup };
}

/** The prepared run over the range that `task.config` names. Its columns do not depend on the range and are reused. */
export function narrowRun(run: PreparedRun, task: BacktestTask): PreparedRun {
  const config = resolveConfig(task.config);
  const rows = evaluationRows(run.strategy, task.settings, task.strategyAst, config, run.input.bars);
  const { firstRow, endRow, start, warmup } = rows;
  return { ...run, firstRow, endRow, warmup, input: { ...run.input, config, start, end: endRow } };
}

/** null: the run was stopped. */
function simulateRun(prepared: PreparedRun, input: SimulationInput): ReportInput | null {
  const simulation = simulate(input);
  const band = simulateBand(input, simulation);
  if (band === null) return null;
  const { strategy, evaluated, boundRules, firstRow, endRow, warmup } = prepared;
  return { strategy, evaluated, boundRules, simulation, input, firstRow, endRow, warmup, band };
}

/** @param arrays the memory of all small arrays of the run */
function completedRun(task: BacktestTask, market: Market, report: ReportInput, arrays: SharedSpan): CompletedRun {
  const { simulation, input, firstRow, boundRules } = report;
  const written = summarize(report);
  const table = tradeTable(simulation.tradeLog, { time: input.bars.time, firstRow, boundRules });
  const configJson = JSON.stringify(input.config);
  const reproducibility = reproducibilityOf(task, market, report, resultHash(written, table), configJson);
  const warnings = configWarnings(task.strategyAst, report);
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

interface EvaluationRows {
  readonly firstRow: number;
  /** One past the last row of the range. */
  readonly endRow: number;
  /** First row whose close may signal; not below firstRow. */
  readonly start: number;
  readonly warmup: ReportInput['warmup'];
}

/**
 * The rows of the range (semantics §1.12), and the first that may signal (semantics §1.2): row w of the data, or the
 * first bar of the range when it has w bars before it.
 */
function evaluationRows(
  strategy: RunnableStrategy,
  settings: Settings,
  ast: StrategyAst,
  config: ResolvedConfig,
  bars: Bars,
): EvaluationRows {
  const { first: firstRow, end: endRow } = rowsInRange(bars, config.range);
  const source =
    settings.warmupPeriod !== undefined
      ? 'settings'
      : ast.strategy.defaults?.warmupBars !== undefined
        ? 'defaults'
        : 'inferred';
  const warmupBars = strategy.warmupBars ?? inferLookback(strategy, bars.timeframe);
  const start = Math.min(Math.max(firstRow, warmupBars), endRow);
  return { firstRow, endRow, start, warmup: { bars: warmupBars, source } };
}

/** The message of an empty range, which names the data there is: the range lies outside of it or in a gap. */
function emptyRange({ symbol, timeframe, time, length }: Bars): string {
  if (length === 0) return `There are no ${timeframe} bars of ${symbol}.`;
  const [first, last] = [time[0], time[length - 1]].map((ms) => new Date(ms).toISOString());
  return `The range holds no ${timeframe} bars of ${symbol}. The first opens at ${first}, the last at ${last}.`;
}

const stopped = () => failure('CANCELLED', '', 'The run was stopped.');

function failure(code: string, path: string, message: string, issues?: readonly ValidationIssue[]): FailedRun {
  return { ok: false, error: { code, path, message }, ...(issues && { issues }) };
}
