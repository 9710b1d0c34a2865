// From a task to a plan: its strategy is prepared for the run and compiled.
import type { ResolvedConfig } from '../config.ts';
import { slippageKindOf } from '../definitions/slippage/slippageKinds.ts';
import { sizingModeOf } from '../definitions/sizing/sizingModes.ts';
import { Accelerator } from '../kernels/accelerator.ts';
import type { SeriesName } from '../language/canonical/foreignSeries.ts';
import type { RunnableStrategy } from '../language/grammar/ast.ts';
import { IssueLog } from '../language/issues/issues.ts';
import { EACH_INSTRUMENT } from '../language/check/nameChecks.ts';
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
  const planned = PLANS.current?.(task, config, options) ?? compileTask(config, task, config, options);
  if (!planned.ok) return planned;
  const issue = slotIssue(planned.strategy, config);
  if (issue === null) return planned;
  const log = new IssueLog();
  log.add(...issue);
  return { ok: false, issues: log.list() };
}

/** The issue of sizes that need slots which the config does not give, or of slots that an allocation does not use. */
function slotIssue(
  { entries, allocation }: RunnableStrategy,
  { portfolio }: ResolvedConfig,
): Parameters<IssueLog['add']> | null {
  if (allocation !== null)
    return portfolio === undefined ? null : ['ALLOCATION_INVALID', '/config/portfolio', SLOTS_UNUSED];
  const needing = entries.find(({ action }) => sizingModeOf(action.sizing.mode).needsSlots);
  if (needing === undefined || portfolio?.slots !== undefined) return null;
  const message = `The strategy sizes entries by ${needing.action.sizing.mode}, and the config has no portfolio.slots.`;
  const suggestion =
    'Give the config "instruments": [{"symbol": …}, …] and "portfolio": {"slots": 10}, or use another sizing mode.';
  return ['SIZING_INVALID', '/config/portfolio/slots', { message, suggestion }];
}

const SLOTS_UNUSED = {
  message: 'Slots and linked instruments bound the entries of rules, and the strategy has an allocation.',
  suggestion: 'Remove portfolio from the config; the legs of the allocation say how many instruments are held.',
};

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

export const contextOf = (
  { signalGraph }: PlannedTask,
  { timeframe, signalInstrument, instruments }: ResolvedConfig,
): PrepareContext => ({
  timeframe,
  instruments: instruments?.map(({ symbol }) => symbol) ?? null,
  symbol: signalInstrument?.symbol ?? EACH_INSTRUMENT,
  ...(signalGraph && { signalGraph }),
});

export const baseOf = ({ signalInstrument, timeframe }: ResolvedConfig): SeriesName => ({
  symbol: signalInstrument?.symbol ?? EACH_INSTRUMENT,
  timeframe,
});

const slippageAtrPeriod = ({ execution: { slippage } }: ResolvedConfig): number | null =>
  slippageKindOf(slippage).atrPeriod(slippage);
