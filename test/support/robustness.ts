// Robustness checks for tests: a context of a strategy on bars, its baseline, and a whole check in this thread.
import type { Market, Universe } from '../../src/engine/bars/bars.ts';
import { ColumnStore } from '../../src/engine/evaluate/columnStore.ts';
import type { BacktestConfig, Settings, StrategyAst } from '../../src/engine/index.ts';
import type { Lineage } from '../../src/engine/robustness/lineage.ts';
import { RobustnessSpec, type RobustnessJob } from '../../src/engine/robustness/robustnessRequest.ts';
import { robustnessResult, type RobustnessResult } from '../../src/engine/robustness/robustnessResult.ts';
import { runSteps, stepsOf, type StepOutcome } from '../../src/engine/robustness/robustnessSteps.ts';
import { simulateRun, type RobustnessContext, type CheckRun } from '../../src/engine/robustness/checkRuns.ts';
import { CONFIG } from './sweeps.ts';

interface Given {
  readonly config?: BacktestConfig;
  readonly settings?: Settings;
  readonly spec?: Partial<RobustnessSpec>;
}

export function robustnessContext(
  strategyAst: StrategyAst,
  market: Market | Universe,
  given: Given = {},
): RobustnessContext & RobustnessJob {
  const { config = CONFIG, settings = {}, spec = {} } = given;
  return {
    task: { id: 'test', strategyAst, settings, config, strategyHash: '' },
    spec: RobustnessSpec.parse(spec),
    market,
    store: new ColumnStore(64 << 20),
    control: null,
  };
}

export function baselineOf(context: RobustnessContext): CheckRun {
  const made = simulateRun(context, context.task);
  if ('code' in made) throw new Error(made.message);
  return made;
}

/** Opens the market of a run of one instrument, whatever its symbol, or those of a portfolio by their symbols. */
const marketsOf =
  (market: Market | Universe) =>
  (symbol: string): Market | undefined =>
    'instruments' in market ? market.instruments.find(({ base }) => base.symbol === symbol) : market;

/** The outcomes of all steps of a check, run in so many parts, the last part first. */
export function outcomesOf({ task, spec, market }: RobustnessContext & RobustnessJob, parts = 1): StepOutcome[] {
  const job = { task, spec };
  const count = stepsOf(job).length;
  const made: StepOutcome[][] = [];
  for (let part = parts - 1; part >= 0; part--) {
    const range = { first: Math.floor((part * count) / parts), last: Math.floor(((part + 1) * count) / parts) };
    made[part] = runSteps(job, range, marketsOf(market), new ColumnStore(64 << 20), null)!;
  }
  return made.flat();
}

/** The whole check. @param lineage default: nothing else was tried */
export function checked(
  context: RobustnessContext & RobustnessJob,
  outcomes: readonly StepOutcome[] = outcomesOf(context),
  lineage: Lineage = { trials: 1, sweeps: [] },
): RobustnessResult {
  const { task, spec } = context;
  const result = robustnessResult({ task, spec }, outcomes, lineage);
  if ('code' in result) throw new Error(result.message);
  return result;
}
