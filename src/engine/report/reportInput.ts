// What a report is made of: the strategy, its evaluated columns, and what the simulation did with them.
import type { Bars } from '../bars/bars.ts';
import type { TimeAxis } from '../bars/timeAxis.ts';
import type { Band } from '../simulate/band.ts';
import type { EvaluatedPlan } from '../evaluate/evaluatePlan.ts';
import type { RunnableStrategy } from '../language/grammar/ast.ts';
import type { BoundRules } from '../evaluate/bindRules.ts';
import type { PortfolioResult } from '../simulate/portfolio/portfolioSimulation.ts';
import type { SimulationInput, SimulationResult } from '../simulate/simulation.ts';

export interface ReportInput {
  readonly strategy: RunnableStrategy;
  readonly evaluated: EvaluatedPlan;
  readonly boundRules: BoundRules;
  readonly simulation: SimulationResult;
  readonly input: SimulationInput;
  /** First row of the range (0 without one): trade rows count bars from it. */
  readonly firstRow: number;
  /** One past the last row of the range. */
  readonly endRow: number;
  readonly warmup: { readonly bars: number; readonly source: 'settings' | 'defaults' | 'inferred' };
  readonly band: Band;
  /** What the run is compared with; absent: the bars of `input`. */
  readonly benchmark?: Benchmark;
  /**
   * Present in runs of several instruments. Rows of `input` are then the instants of the axis, its bars are those of
   * the benchmark, and rules and columns are those of the first instrument.
   */
  readonly portfolio?: PortfolioRun;
}

/** Prices of the benchmark, one for each row of the bars of a run. */
interface Benchmark extends Pick<Bars, 'open' | 'close'> {
  /** The series that they are of. */
  readonly source: Bars;
}

/** The instruments of a run and what the account did with them. */
export interface PortfolioRun {
  /** In the order of the list. */
  readonly instruments: readonly InstrumentRun[];
  /** Indexes into `instruments`, ascending by symbol: the order of all sums over instruments. */
  readonly bySymbol: readonly number[];
  readonly axis: TimeAxis;
  readonly simulation: PortfolioResult;
  /**
   * Whether results name their instruments; false: one instrument without an allocation, whose result is that of the
   * single run.
   */
  readonly isNamed: boolean;
}

/** One instrument of a portfolio run, with rows and columns of its own. */
export interface InstrumentRun extends Pick<ReportInput, 'evaluated' | 'boundRules' | 'input' | 'firstRow' | 'endRow'> {
  readonly symbol: string;
}

/** A simulation and what it was given: all that the flat summary is computed from. */
export type ReportedSimulation = Pick<ReportInput, 'simulation' | 'input' | 'benchmark' | 'portfolio'>;
