// From a task to a plan: its strategy is prepared for the run and compiled.
import type { ResolvedConfig } from '../config.ts';
import { slippageKindOf } from '../definitions/slippage/slippageKinds.ts';
import { Accelerator } from '../kernels/accelerator.ts';
import type { SeriesName } from '../language/canonical/foreignSeries.ts';
import type { RunnableStrategy } from '../language/grammar/ast.ts';
import { prepareStrategy, type Prepared, type PrepareContext, type RunInputs } from '../language/prepare/prepare.ts';
import type { BacktestTask } from '../task.ts';
import { compilePlan, type CompileOptions } from './compile.ts';
import type { Plan } from './plan.ts';

export interface PlannedStrategy {
  readonly strategy: RunnableStrategy;
  readonly plan: Plan;
}

export type Planned = ({ readonly ok: true } & PlannedStrategy) | Extract<Prepared, { readonly ok: false }>;

export type PlannedTask = Pick<BacktestTask, 'strategyAst' | 'signalGraph' | 'settings'>;
export type PlanOptions = Pick<CompileOptions, 'slippageAtrPeriod' | 'recordsConditions'>;
type PlanTask = (task: PlannedTask, config: ResolvedConfig, options: PlanOptions) => Planned;

/** What plans the variants of a strategy without compiling each. */
export const PLANS = new Accelerator<PlanTask>();

/** @param recordsConditions also plan what rule statistics and samples read */
export function planTask(task: PlannedTask, config: ResolvedConfig, recordsConditions: boolean): Planned {
  const options = { slippageAtrPeriod: slippageAtrPeriod(config), recordsConditions };
  return PLANS.current?.(task, config, options) ?? compileTask(config, task, config, options);
}

/** @param inputs the values of params and overrides */
export function compileTask(
  inputs: RunInputs,
  task: PlannedTask,
  config: ResolvedConfig,
  options: PlanOptions,
): Planned {
  const prepared = prepareStrategy(task.strategyAst, task.settings, inputs, contextOf(task, config));
  if (!prepared.ok) return prepared;
  const { strategy, pointerOf } = prepared;
  return { ok: true, strategy, plan: compilePlan(strategy, baseOf(config), { pointerOf, ...options }) };
}

/**
 * The symbol of a plan that runs on each instrument of a portfolio. No instrument has it, so that a node that names one
 * reads that instrument in the run of every other.
 */
const EACH_INSTRUMENT = '';

export const contextOf = (
  { signalGraph }: PlannedTask,
  { timeframe, signalInstrument }: ResolvedConfig,
): PrepareContext => ({
  timeframe,
  symbol: signalInstrument?.symbol ?? EACH_INSTRUMENT,
  ...(signalGraph && { signalGraph }),
});

export const baseOf = ({ signalInstrument, timeframe }: ResolvedConfig): SeriesName => ({
  symbol: signalInstrument?.symbol ?? EACH_INSTRUMENT,
  timeframe,
});

const slippageAtrPeriod = ({ execution: { slippage } }: ResolvedConfig): number | null =>
  slippageKindOf(slippage).atrPeriod(slippage);
