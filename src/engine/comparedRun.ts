// A run of which only some numbers are kept, of one instrument or of a portfolio: sweeps, walk-forward and robustness
// checks run it many times.
import { narrowRun, prepareRun, type PreparedRun } from './backtest.ts';
import type { Bars, Market, Timeframe, Universe } from './bars/bars.ts';
import { isPortfolio, resolveConfig, symbolsOf, type BacktestConfig } from './config.ts';
import type { FlatKey } from './definitions/statistics/statistics.ts';
import type { ColumnStore } from './evaluate/columnStore.ts';
import { RunStopped } from './evaluate/evaluatePlan.ts';
import { narrowPortfolio, preparePortfolio, type PreparedPortfolio } from './portfolioBacktest.ts';
import { readsOf } from './report/flatSummary.ts';
import { reportedPortfolio } from './report/portfolio/portfolioReport.ts';
import type { InstrumentRun, ReportedSimulation, ReportInput } from './report/reportInput.ts';
import type { LentMemory } from './simulate/lentMemory.ts';
import { simulatePortfolio } from './simulate/portfolio/simulatePortfolio.ts';
import { simulate } from './simulate/simulate.ts';
import type { BacktestTask, RunControl, RunError } from './task.ts';

/** A run with everything that is known before its first bar is simulated. */
export interface ComparedRun {
  /** The bars that the account is marked at, and its rows among them: in a portfolio the instants of the axis. */
  readonly rows: MeasuredRows;
  /** What each instrument is given, in the order of the list: one for a single run. */
  readonly instruments: readonly EvaluatedInstrument[];
  /** The run over the range, and with the balance, of another config of the same strategy, params and instruments. */
  narrow(task: BacktestTask): ComparedRun;
  /**
   * Simulates; `chosenSummary` and `dailyOf` read the numbers of either kind of run from the result.
   * @param kept absent: every number is read, from memory of its own; given: the next run overwrites the result
   * @throws RunStopped when the control says so; MemoryRefused
   */
  simulate(kept?: KeptNumbers): ReportedSimulation;
}

/** Rows [start, end) of some bars. */
export interface MeasuredRows {
  readonly bars: Pick<Bars, 'time' | 'timeframe'>;
  readonly start: number;
  readonly end: number;
}

type EvaluatedInstrument = InstrumentRun & Pick<ReportInput, 'strategy' | 'warmup'>;

/** The numbers that are read of a run, and the memory that it may write to. */
interface KeptNumbers {
  readonly wanted: ReadonlySet<FlatKey>;
  readonly memory: LentMemory;
}

/** The bars of an instrument; undefined if there are none. */
export type MarketOf = (symbol: string, timeframe: Timeframe) => Market | undefined;

/** The market of a config, or the universe of its list; the error names an instrument without bars. */
export function openedMarkets(config: BacktestConfig, marketOf: MarketOf): Market | Universe | RunError {
  const { timeframe } = config;
  const isList = isPortfolio(config);
  const instruments: Market[] = [];
  for (const [at, symbol] of symbolsOf(config).entries()) {
    const market = marketOf(symbol, timeframe);
    if (market === undefined)
      return {
        code: 'SYMBOL_NOT_AVAILABLE',
        path: isList ? `/config/instruments/${at}/symbol` : '/config/signalInstrument/symbol',
        message: `There are no ${timeframe} bars of ${symbol}.`,
      };
    instruments.push(market);
  }
  return isList ? { instruments } : instruments[0];
}

/**
 * Prepares a run. Its columns are kept in the store, for other runs on the same bars.
 * @param control says whether to stop; its progress is not reported, since a caller counts runs, not bars
 * @throws RunStopped when the control says so
 */
export function prepareComparedRun(
  task: BacktestTask,
  market: Market | Universe,
  store: ColumnStore,
  control: Pick<RunControl, 'isCancelled' | 'mayTake'> | null,
): ComparedRun | RunError {
  const silent = control && { ...control, report: () => {} };
  if ('instruments' in market) {
    const config = resolveConfig(task.config, task.strategyAst.strategy.allocation !== undefined);
    if (isPortfolio(config)) {
      const prepared = preparePortfolio(task, config, market, store, silent, KEEPS_NOTHING);
      return prepared.ok ? new PortfolioRun(prepared) : prepared.error;
    }
  }
  const prepared = prepareRun(task, 'instruments' in market ? market.instruments[0] : market, store, false, silent);
  return prepared.ok ? new SingleRun({ ...prepared, input: { ...prepared.input, control: silent } }) : prepared.error;
}

const KEEPS_NOTHING = { orders: false, weights: false, conditions: false };

/**
 * Classes: V8 puts the getters of an object literal into its old generation, where everything that they can reach would
 * outlive the run.
 */
class SingleRun implements ComparedRun {
  readonly #prepared: PreparedRun;

  constructor(prepared: PreparedRun) {
    this.#prepared = prepared;
  }

  get rows(): MeasuredRows {
    return this.#prepared.input;
  }

  get instruments(): readonly EvaluatedInstrument[] {
    return [{ ...this.#prepared, symbol: this.#prepared.input.bars.symbol }];
  }

  narrow(task: BacktestTask): ComparedRun {
    return new SingleRun(narrowRun(this.#prepared, task));
  }

  simulate(kept?: KeptNumbers): ReportedSimulation {
    const { input } = this.#prepared;
    const simulation = simulate(
      kept === undefined
        ? input
        : { ...input, scratch: kept.memory.lend(input.bars.length), reads: readsOf(kept.wanted, input) },
    );
    if (simulation.cancelled) throw new RunStopped('The run was stopped.');
    return { ...this.#prepared, simulation };
  }
}

/** A portfolio writes to memory of its own. */
class PortfolioRun implements ComparedRun {
  readonly #prepared: PreparedPortfolio;

  constructor(prepared: PreparedPortfolio) {
    this.#prepared = prepared;
  }

  get rows(): MeasuredRows {
    const { axis, config, start, end } = this.#prepared.input;
    return { bars: { time: axis.time, timeframe: config.timeframe }, start, end };
  }

  get instruments(): readonly EvaluatedInstrument[] {
    const { instruments, strategy, warmup } = this.#prepared;
    return instruments.map((instrument) => ({ ...instrument, strategy, warmup }));
  }

  narrow(task: BacktestTask): ComparedRun {
    return new PortfolioRun(narrowPortfolio(this.#prepared, task));
  }

  simulate(): ReportedSimulation {
    const { strategy, instruments, benchmark, input } = this.#prepared;
    const simulation = simulatePortfolio(input);
    if (simulation.cancelled) throw new RunStopped('The run was stopped.');
    const { axis, start, end } = input;
    return reportedPortfolio({ strategy, instruments, axis, start, end, simulation, benchmark });
  }
}
