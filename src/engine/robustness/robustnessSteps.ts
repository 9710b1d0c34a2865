// The steps of a robustness check, and the outcome of each. The job alone determines the list, so that threads and
// hosts can share the work.
import type { Market, Universe } from '../bars/bars.ts';
import { openedMarkets, prepareComparedRun, type ComparedRun, type MarketOf } from '../comparedRun.ts';
import { isPortfolio, resolveConfig } from '../config.ts';
import type { ColumnStore } from '../evaluate/columnStore.ts';
import { RunStopped } from '../evaluate/evaluatePlan.ts';
import type { BacktestTask, RunControl, RunError } from '../task.ts';
import type { Check, PartOutcome } from './analyses/analysis.ts';
import { unexpected } from './analyses/partOutcomes.ts';
import { ANALYSES, type RobustnessAnalysis } from './analyses/registeredAnalyses.ts';
import {
  numbersOf,
  runOutcome,
  simulateRun,
  type CheckRun,
  type RobustnessContext,
  type RunNumbers,
} from './checkRuns.ts';
import { evidenceOf, type Evidence } from './evidence.ts';
import type { RobustnessJob } from './robustnessRequest.ts';

/** One part of an analysis; `baseline` is the backtest itself. */
interface RobustnessStep {
  readonly analysis: 'baseline' | RobustnessAnalysis;
  /** The index of the part within the analysis. */
  readonly part: number;
}

/** The outcome of a step. Plain JSON. */
export type StepOutcome =
  /** `bars` counts those of the data up to the end of the range. */
  | { readonly kind: 'baseline'; readonly run: RunNumbers; readonly bars: number; readonly evidence: Evidence }
  | Exclude<PartOutcome, { readonly kind: 'whole' }>
  /** All of an analysis that has one part, under its name. */
  | { readonly kind: RobustnessAnalysis; readonly value: unknown };

/** The outcome of a part of an analysis. */
export function partOf(outcome: StepOutcome, analysis: RobustnessAnalysis): PartOutcome {
  if (outcome.kind === 'run' || outcome.kind === 'skipped' || outcome.kind === 'failed') return outcome;
  return outcome.kind === analysis && 'value' in outcome
    ? { kind: 'whole', value: outcome.value }
    : unexpected(outcome);
}

const analysisOf = (name: RobustnessAnalysis): (typeof ANALYSES)[number] =>
  ANALYSES.find((each) => each.name === name)!;

/** The baseline first, then the parts of every analysis in order. */
export function stepsOf(job: RobustnessJob): RobustnessStep[] {
  const analyses = [...new Set(job.spec.analyses)];
  return [
    { analysis: 'baseline', part: 0 },
    ...analyses.flatMap((analysis) =>
      Array.from({ length: analysisOf(analysis).partsOf(job) }, (_, part): RobustnessStep => ({ analysis, part })),
    ),
  ];
}

/** About how many runs of the backtest a check or some of its steps take. */
export const runCountOf = (job: RobustnessJob, { first, last } = { first: 0, last: Infinity }): number =>
  stepsOf(job)
    .slice(first, last)
    .reduce((sum, { analysis }) => sum + (analysis === 'baseline' ? 1 : analysisOf(analysis).runsPerPart), 0);

/** Runs the steps [first, last); null if it was stopped. The outcomes do not depend on other steps or on the thread. */
export function runSteps(
  job: RobustnessJob,
  { first, last }: { readonly first: number; readonly last: number },
  marketOf: MarketOf,
  store: ColumnStore,
  control: RunControl | null,
): StepOutcome[] | null {
  const market = openedFor(job.task, marketOf);
  const steps = stepsOf(job).slice(first, last);
  if ('code' in market) return steps.map(() => ({ kind: 'failed', error: market }));
  const runner = new StepRunner({ ...job, market, store, control });
  const outcomes: StepOutcome[] = [];
  try {
    for (const step of steps) {
      if (control?.isCancelled()) return null;
      outcomes.push(runner.run(step));
      control?.report(outcomes.length, steps.length);
    }
  } catch (error) {
    if (error instanceof RunStopped) return null;
    throw error;
  }
  return outcomes;
}

/** The universe of a portfolio, or the market of a run of one instrument, which a list of one may be. */
function openedFor({ config, strategyAst }: BacktestTask, marketOf: MarketOf): Market | Universe | RunError {
  const market = openedMarkets(config, marketOf);
  if (!('instruments' in market)) return market;
  const hasAllocation = strategyAst.strategy.allocation !== undefined;
  return isPortfolio(resolveConfig(config, hasAllocation)) ? market : market.instruments[0];
}

/** Runs steps of one check, and keeps the baseline for those that compare with it. */
class StepRunner implements Check {
  readonly context: RobustnessContext;
  #baseline: CheckRun | RunError | undefined;
  #prepared: ComparedRun | RunError | undefined;

  constructor(context: RobustnessContext) {
    this.context = context;
  }

  run({ analysis, part }: RobustnessStep): StepOutcome {
    if (analysis === 'baseline') {
      const baseline = this.#runBaseline();
      if ('code' in baseline) return { kind: 'failed', error: baseline };
      const run = numbersOf(baseline);
      return { kind: 'baseline', run, bars: baseline.prepared.rows.end, evidence: evidenceOf(baseline, run) };
    }
    const outcome = analysisOf(analysis).runPart(this, part);
    return outcome.kind === 'whole' ? { kind: analysis, value: outcome.value } : outcome;
  }

  runTask(task: BacktestTask, market?: Market | Universe) {
    return { kind: 'run', outcome: runOutcome(this.context, task, market) } as const;
  }

  withBaseline(then: (baseline: CheckRun) => PartOutcome): PartOutcome {
    const baseline = this.#runBaseline();
    return 'code' in baseline ? { kind: 'failed', error: baseline } : then(baseline);
  }

  #runBaseline(): CheckRun | RunError {
    return (this.#baseline ??= simulateRun(this.context, this.context.task));
  }

  prepared(): ComparedRun | RunError {
    const { task, market, store, control } = this.context;
    return (this.#prepared ??= prepareComparedRun(task, market, store, control));
  }
}
