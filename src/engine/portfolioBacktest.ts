// A portfolio run, from a checked strategy and the columns of several instruments to a simulation of one account.
import type { Bars, Market, Universe } from './bars/bars.ts';
import { timeAxisOf, type TimeAxis } from './bars/timeAxis.ts';
import { resolveConfig, symbolsOf, type ResolvedConfig } from './config.ts';
import { boundInput } from './boundInput.ts';
import { quoteIssues } from './configChecks.ts';
import { bindRules, type BoundRules } from './evaluate/bindRules.ts';
import type { ColumnStore } from './evaluate/columnStore.ts';
import { evaluateUniverse } from './evaluate/evaluatedUniverse.ts';
import type { EvaluatedPlan } from './evaluate/evaluatePlan.ts';
import { missingSeries } from './evaluate/frames.ts';
import { emptyRange, evaluationRows, warmupOf, type EvaluationRows, type Warmup } from './boundInput.ts';
import { benchmarkBars, failure, invalidStrategy, missingBars } from './failedRun.ts';
import type { RunnableStrategy } from './language/grammar/ast.ts';
import { planTask } from './plan/planTask.ts';
import type { FailedRun } from './report/simulatedRun.ts';
import { bandOf, type Band } from './simulate/band.ts';
import type { PortfolioInput, PortfolioResult } from './simulate/portfolio/portfolioSimulation.ts';
import { simulatePortfolio } from './simulate/portfolio/simulatePortfolio.ts';
import type { SimulationInput } from './simulate/simulation.ts';
import type { BacktestTask, RunControl } from './task.ts';

/** One instrument of a portfolio, with rows and columns of its own. */
interface PreparedInstrument extends Pick<EvaluationRows, 'firstRow' | 'endRow'> {
  readonly symbol: string;
  readonly evaluated: EvaluatedPlan;
  readonly boundRules: BoundRules;
  readonly input: SimulationInput;
}

/** Everything that is known before the first instant is simulated. */
export interface PreparedPortfolio {
  readonly ok: true;
  readonly strategy: RunnableStrategy;
  readonly warmup: Warmup;
  /** In the order of the list. */
  readonly instruments: readonly PreparedInstrument[];
  /** The bars of `config.benchmark`; null: equal money in each instrument. */
  readonly benchmark: Bars | null;
  readonly input: PortfolioInput;
}

/** What a run keeps beside its result. */
export interface KeptRecords {
  readonly orders: boolean;
  readonly weights: boolean;
  /** Also what rule statistics and samples read of conditions; off in sweeps. */
  readonly conditions: boolean;
}

/**
 * Prepares and plans a portfolio once, and evaluates and binds it for each instrument.
 * @param universe the markets of the config's instruments, in the order of its list
 * @throws RunStopped when `control` says so
 */
export function preparePortfolio(
  task: BacktestTask,
  config: ResolvedConfig,
  universe: Universe,
  store: ColumnStore,
  control: RunControl | null,
  keeps: KeptRecords,
): PreparedPortfolio | FailedRun {
  const { instruments: markets } = universe;
  const symbols = symbolsOf(config);
  requireSameOrder(symbols, markets);
  const [mixed] = quoteIssues(markets.map(({ instrument }, at) => ({ ...instrument, symbol: symbols[at] })));
  if (mixed !== undefined) return failure(mixed.code, mixed.path, mixed.message);
  const planned = planTask(task, config, keeps.conditions);
  if (!planned.ok) return invalidStrategy(planned.issues);
  const { strategy, plan } = planned;
  const missing = markets.flatMap((market) => missingSeries(plan, market)).at(0);
  if (missing !== undefined) return missingBars(task, missing);
  const benchmark = config.benchmark === undefined ? null : benchmarkBars(config.benchmark, markets[0]);
  if (benchmark !== null && 'ok' in benchmark) return benchmark;
  const warmup = warmupOf(strategy, task.settings, task.strategyAst, config.timeframe);
  const rows = markets.map(({ base }) => evaluationRows(base, config.range, warmup));
  if (rows.every(({ firstRow, endRow }) => firstRow === endRow))
    return failure('RANGE_NO_DATA', '/config/range', emptyRange(markets[0].base));
  const plans = evaluateUniverse(plan, universe, store, control, task.owner);
  const instruments = markets.map((market, at): PreparedInstrument => {
    const evaluated = plans[at];
    const boundRules = bindRules(strategy, evaluated, keeps.conditions);
    const { firstRow, endRow } = rows[at];
    const input = boundInput({
      market,
      rows: rows[at],
      config,
      strategy,
      boundRules,
      control,
      keepOrders: keeps.orders,
    });
    return { symbol: symbols[at], evaluated, boundRules, input, firstRow, endRow };
  });
  const axis = timeAxisOf(markets.map(({ base }) => base));
  const input: PortfolioInput = {
    instruments: instruments.map((instrument) => instrument.input),
    axis,
    ...instantsOf(rows, axis),
    config,
    slots: config.portfolio?.slots ?? null,
    linked: (config.portfolio?.linked ?? []).map((group) => group.map((symbol) => symbols.indexOf(symbol))),
    control,
    keepOrders: keeps.orders,
    keepWeights: keeps.weights,
  };
  return { ok: true, strategy, warmup, instruments, benchmark, input };
}

/** The prepared run over the range that `task.config` names. Its columns do not depend on the range and are reused. */
export function narrowPortfolio(run: PreparedPortfolio, task: BacktestTask): PreparedPortfolio {
  const config = resolveConfig(task.config, run.strategy.allocation !== null);
  const rows = run.instruments.map(({ input }) => evaluationRows(input.bars, config.range, run.warmup));
  const instruments = run.instruments.map((instrument, at): PreparedInstrument => {
    const { firstRow, endRow, start } = rows[at];
    return { ...instrument, firstRow, endRow, input: { ...instrument.input, config, start, end: endRow } };
  });
  const input: PortfolioInput = {
    ...run.input,
    instruments: instruments.map((instrument) => instrument.input),
    ...instantsOf(rows, run.input.axis),
    config,
  };
  return { ...run, instruments, input };
}

/** The first instant at which any instrument may signal, and one past the last on which any has a bar of the range. */
function instantsOf(
  rows: readonly EvaluationRows[],
  { instants }: TimeAxis,
): { readonly start: number; readonly end: number } {
  let start = Infinity;
  let end = 0;
  rows.forEach(({ firstRow, endRow, start: first }, at) => {
    if (first < endRow) start = Math.min(start, instants[at][first]);
    if (firstRow < endRow) end = Math.max(end, instants[at][endRow - 1] + 1);
  });
  return { start: Math.min(start, end), end };
}

/** Simulates the account, and again for the band where bars stayed undecided; null: the run was stopped. */
export function simulatePrepared({ input }: PreparedPortfolio): {
  readonly simulation: PortfolioResult;
  readonly band: Band;
} | null {
  const simulation = simulatePortfolio(input);
  const band = bandOf(input.config, simulation, (config) =>
    simulatePortfolio({
      ...input,
      config,
      instruments: input.instruments.map((instrument) => ({ ...instrument, config, keepOrders: false })),
      keepOrders: false,
      keepWeights: false,
    }),
  );
  return band === null ? null : { simulation, band };
}

function requireSameOrder(symbols: readonly string[], markets: readonly Market[]): void {
  const given = markets.map(({ base }) => base.symbol).join();
  if (given !== symbols.join())
    throw new Error(`The markets (${given}) are not those of the config's instruments (${symbols.join()}).`);
}
