// A backtest, from a checked strategy and market columns to a result: the whole pipeline, stage by stage.
import type { Bars, Market } from './columns/bars.ts';
import { EvaluatedPlan, missingFrames } from './columns/evaluate.ts';
import { ColumnStore } from './columns/store.ts';
import { inferLookback } from './language/lookback.ts';
import { prepareStrategy } from './language/prepare.ts';
import type { RunnableStrategy, Settings, StrategyAst } from './language/ast.ts';
import { compilePlan } from './plan/compile.ts';
import { buildProgram, type Program } from './plan/program.ts';
import type { BacktestOutcome, BacktestTask, RunError } from './pool/messages.ts';
import { hashOf } from './report/canonicalJson.ts';
import { resultHash } from './report/resultHash.ts';
import { tradeRows, type ReportInput, type TradeRow } from './report/result.ts';
import { summarise, type Summary } from './report/summary.ts';
import { configWarnings } from './report/warnings.ts';
import { simulateBand } from './simulate/band.ts';
import { resolveConfig, type ResolvedConfig } from './simulate/config.ts';
import type { RunControl, SimulationInput } from './simulate/program.ts';
import { simulate } from './simulate/simulate.ts';
import { ENGINE_VERSION } from './version.ts';

/** Columns that a thread keeps from run to run (semantics §1.1: a value never depends on the range, so runs can share them). */
const COLUMN_STORE_BYTES = 256 * 1024 * 1024;
const columnStore = new ColumnStore(COLUMN_STORE_BYTES);

export type SimulatedRun =
  | {
      readonly ok: true;
      readonly report: ReportInput;
      readonly summary: Summary;
      readonly trades: readonly TradeRow[];
      readonly resultHash: string;
    }
  | { readonly ok: false; readonly error: RunError; readonly issues?: readonly object[] };

/** Runs a task on a market. Pure: the same task and bars give the same bytes, on any thread of any host. */
export function runBacktest(task: BacktestTask, market: Market, control: RunControl | null): BacktestOutcome {
  const run = simulateTask(task, market, control, false);
  if (!run.ok) return run;
  const { config, strategy } = run.report;
  const dataHash = hashOf(readSeries(market, run.report));
  const configHash = hashOf({ config, instrument: market.instrument, settings: task.settings });
  const runKey = hashOf({ engine: ENGINE_VERSION, strategy: task.strategyHash, data: dataHash, config: configHash });
  const { summary, trades, resultHash } = run;
  return {
    ok: true,
    summaryJson: summary,
    trades,
    reproducibility: {
      engineVersion: ENGINE_VERSION,
      strategyHash: task.strategyHash,
      dataHash,
      configHash,
      runKey,
      resultHash,
    },
    warnings: configWarnings(strategy, config, task.strategyAst, run.report),
    resolvedConfig: config,
  };
}

/** The stages, in order; also what artifacts are made from (`keepOrders`). */
export function simulateTask(
  task: BacktestTask,
  market: Market,
  control: RunControl | null,
  keepOrders: boolean,
): SimulatedRun {
  const config = resolveConfig(task.config);
  const prepared = prepareStrategy(task.strategyAst, task.settings, config, { timeframe: config.timeframe });
  if (!prepared.ok) {
    return failure(
      'STRATEGY_INVALID',
      prepared.issues[0]?.path ?? '',
      prepared.issues[0]?.message ?? 'The strategy is invalid.',
      prepared.issues,
    );
  }
  const { strategy } = prepared;
  const base = { symbol: config.signalInstrument.symbol, timeframe: config.timeframe };
  const { slippage } = config.execution;
  const slippageAtrPeriod =
    slippage.kind === 'volatility_scaled' && slippage.reference === 'atr_pct' ? (slippage.atrPeriod ?? 14) : null;
  const plan = compilePlan(strategy, base, { slippageAtrPeriod, keepRules: true });
  const [missing] = missingFrames(plan, market);
  if (missing) {
    const message = `There are no ${missing.timeframe} bars of ${missing.symbol}; import them, or take that instrument out of the strategy.`;
    return failure('SYMBOL_NOT_AVAILABLE', '/strategyAst', message);
  }
  const evaluated = new EvaluatedPlan(plan, market, columnStore);
  const program = buildProgram(strategy, evaluated, true);
  const window = evaluationRows(strategy, task.settings, task.strategyAst, config, market.base);
  const input: SimulationInput = {
    ...program,
    bars: market.base,
    instrument: market.instrument,
    start: window.start,
    end: window.end,
    fine: market.fine ?? null,
    config,
    maxConcurrentPositions: strategy.maxConcurrentPositions,
    control,
    keepOrders,
  };
  const run = reportOf({ strategy, evaluated, program, input, config, ...window });
  columnStore.trim();
  return run;
}

function reportOf(
  parts: Pick<
    ReportInput,
    'strategy' | 'evaluated' | 'program' | 'input' | 'config' | 'firstRow' | 'lastRow' | 'warmup'
  > & { program: Program },
): SimulatedRun {
  const simulation = simulate(parts.input);
  const band = simulateBand(parts.input, simulation);
  if (band === null) return failure('CANCELLED', '', 'The run was stopped.');
  const report: ReportInput = { ...parts, simulation, band };
  const { summary, json } = summarise(report);
  const trades = tradeRows(report);
  return { ok: true, report, summary, trades, resultHash: resultHash(json, trades) };
}

interface EvaluationRows {
  readonly firstRow: number;
  readonly lastRow: number;
  /** First row whose close may signal; not below firstRow. */
  readonly start: number;
  readonly end: number;
  readonly warmup: ReportInput['warmup'];
}

/** Semantics §1.2: row w of the data, or the first bar of the range when it has w bars before it. */
function evaluationRows(
  strategy: RunnableStrategy,
  settings: Settings,
  ast: StrategyAst,
  config: ResolvedConfig,
  bars: Bars,
): EvaluationRows {
  const { start: from, end: to } = config.range;
  const firstRow = from === null ? 0 : firstAtOrAfter(bars.time, from);
  const lastRow = Math.max(firstRow, to === null ? bars.length : firstAtOrAfter(bars.time, to));
  const source =
    settings.warmupPeriod !== undefined
      ? 'settings'
      : ast.strategy.defaults?.warmupBars !== undefined
        ? 'defaults'
        : 'inferred';
  const warmupBars = strategy.warmupBars ?? inferLookback(strategy, bars.timeframe);
  const start = Math.min(Math.max(firstRow, warmupBars), lastRow);
  return { firstRow, lastRow, start, end: lastRow, warmup: { bars: warmupBars, source } };
}

function firstAtOrAfter(time: Float64Array, wanted: number): number {
  let low = 0;
  let high = time.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (time[middle] < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Name and content of every series that the run read. */
function readSeries(market: Market, { evaluated, input }: ReportInput): object[] {
  const read = [
    market.base,
    ...evaluated.plan.frames.map((frame) => market.bars(frame.symbol, frame.timeframe)!),
    ...(input.fine ? [input.fine] : []),
  ];
  const named = read.map(({ symbol, timeframe, sha256 }) => ({ symbol, timeframe, sha256 }));
  return named.sort((a, b) => (`${a.symbol} ${a.timeframe}` < `${b.symbol} ${b.timeframe}` ? -1 : 1));
}

function failure(
  code: string,
  path: string,
  message: string,
  issues?: readonly object[],
): SimulatedRun & { ok: false } {
  return { ok: false, error: { code, path, message }, ...(issues && { issues }) };
}
