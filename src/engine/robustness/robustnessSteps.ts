// The steps of a robustness check, and the outcome of each. The job alone determines the list, so that threads and
// hosts can share the work.
import { prepareRun, type PreparedRun } from '../backtest.ts';
import type { MarketOf } from '../sweep/sweepJob.ts';
import type { ColumnStore } from '../evaluate/columnStore.ts';
import { RunStopped } from '../evaluate/evaluatePlan.ts';
import type { BacktestTask, RunControl, RunError } from '../task.ts';
import { bootstrapMarket, defaultBlockBars } from './bootstrapMarket.ts';
import { evidenceOf, firstSignalBars, type Evidence } from './evidence.ts';
import { lookAheadAudit, type LookAheadAudit } from './lookAheadAudit.ts';
import { monteCarlo, type MonteCarlo } from './monteCarlo.ts';
import { jitteredNumbers, jitteredTask } from './parameterJitter.ts';
import type { RobustnessAnalysis } from './robustnessRequest.ts';
import {
  numbersOf,
  runOutcome,
  simulateRun,
  type CheckRun,
  type RobustnessJob,
  type RobustnessContext,
  type RunNumbers,
  type RunOutcome,
} from './checkRuns.ts';
import {
  feeLevels,
  removables,
  slippageLevels,
  START_SHIFTS,
  startingAt,
  withFees,
  without,
  withSlippage,
} from './stress.ts';
import { warmUpAudit, type WarmUpAudit } from './warmUpAudit.ts';

/** One part of an analysis; `baseline` is the backtest itself. */
interface RobustnessStep {
  readonly analysis: 'baseline' | RobustnessAnalysis;
  /** The index of the part within the analysis. */
  readonly part: number;
}

/** The outcome of a step: numbers of a run, or all of an analysis that has one part. Plain JSON. */
export type StepOutcome =
  /** `bars` counts those of the data up to the end of the range. */
  | { readonly kind: 'baseline'; readonly run: RunNumbers; readonly bars: number; readonly evidence: Evidence }
  /** `bars`: by how many a start was shifted. */
  | { readonly kind: 'run'; readonly outcome: RunOutcome; readonly bars?: number }
  /** There are no bars to run it on. */
  | { readonly kind: 'skipped' }
  | { readonly kind: 'failed'; readonly error: RunError }
  | { readonly kind: 'monteCarlo'; readonly value: MonteCarlo | null }
  | { readonly kind: 'lookAheadAudit'; readonly value: LookAheadAudit }
  | { readonly kind: 'warmUpAudit'; readonly value: WarmUpAudit };

/** How many parts an analysis has. */
function partsOf(job: RobustnessJob, analysis: RobustnessAnalysis): number {
  const { task, spec } = job;
  switch (analysis) {
    case 'lookAheadAudit':
    case 'warmUpAudit':
    case 'monteCarlo':
      return 1;
    case 'blockBootstrap':
      return 1 + spec.samples;
    case 'feeStress':
      return feeLevels(task).length;
    case 'slippageStress':
      return slippageLevels(task).length;
    case 'startShift':
      return START_SHIFTS.length;
    case 'parameterJitter':
      return jitteredNumbers(task, spec.jitterPercent).length === 0 ? 0 : spec.samples;
    case 'counterfactuals':
      return removables(task).length;
  }
}

/** The baseline first, then the parts of every analysis in order. */
export function stepsOf(job: RobustnessJob): RobustnessStep[] {
  const analyses = [...new Set(job.spec.analyses)];
  return [
    { analysis: 'baseline', part: 0 },
    ...analyses.flatMap((analysis) =>
      Array.from({ length: partsOf(job, analysis) }, (_, part): RobustnessStep => ({ analysis, part })),
    ),
  ];
}

/** About how many runs of the backtest a check or some of its steps take; an audit runs it on parts of the bars. */
export const runCountOf = (job: RobustnessJob, { first, last } = { first: 0, last: Infinity }): number =>
  stepsOf(job)
    .slice(first, last)
    .reduce((sum, { analysis }) => sum + (AUDIT_RUNS[analysis] ?? 1), 0);
const AUDIT_RUNS: Partial<Record<RobustnessStep['analysis'], number>> = { lookAheadAudit: 9, warmUpAudit: 8 };

/** Runs the steps [first, last); null if it was stopped. The outcomes do not depend on other steps or on the thread. */
export function runSteps(
  job: RobustnessJob,
  { first, last }: { readonly first: number; readonly last: number },
  marketOf: MarketOf,
  store: ColumnStore,
  control: RunControl | null,
): StepOutcome[] | null {
  const { symbol } = job.task.config.signalInstrument;
  const market = marketOf(symbol, job.task.config.timeframe);
  const steps = stepsOf(job).slice(first, last);
  if (market === undefined) {
    const message = `There are no ${job.task.config.timeframe} bars of ${symbol}.`;
    return steps.map(() => ({ kind: 'failed', error: { code: 'SYMBOL_NOT_AVAILABLE', path: '', message } }));
  }
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

/** Runs steps of one check, and keeps the baseline for those that compare with it. */
class StepRunner {
  readonly #context: RobustnessContext;
  #baseline: CheckRun | RunError | undefined;
  #prepared: PreparedRun | RunError | undefined;

  constructor(context: RobustnessContext) {
    this.#context = context;
  }

  run(step: RobustnessStep): StepOutcome {
    const { task, spec } = this.#context;
    switch (step.analysis) {
      case 'baseline':
        return this.#withBaseline((baseline) => {
          const run = numbersOf(baseline);
          return { kind: 'baseline', run, bars: baseline.prepared.input.end, evidence: evidenceOf(baseline, run) };
        });
      case 'lookAheadAudit':
        return this.#withBaseline((baseline) => ({
          kind: 'lookAheadAudit',
          value: lookAheadAudit(this.#context, baseline),
        }));
      case 'warmUpAudit':
        return this.#withBaseline((baseline) => ({ kind: 'warmUpAudit', value: warmUpAudit(this.#context, baseline) }));
      case 'monteCarlo':
        return this.#withBaseline((baseline) => ({ kind: 'monteCarlo', value: monteCarlo(baseline, spec.seed) }));
      case 'blockBootstrap':
        return step.part === 0 ? this.#onBaseBars() : this.#bootstrap(step.part - 1);
      case 'feeStress':
        return this.#runTask(withFees(task, feeLevels(task)[step.part]));
      case 'slippageStress':
        return this.#runTask(withSlippage(task, slippageLevels(task)[step.part]));
      case 'startShift':
        return this.#shifted(START_SHIFTS[step.part]);
      case 'parameterJitter':
        return this.#runTask(
          jitteredTask(task, jitteredNumbers(task, spec.jitterPercent), { seed: spec.seed, sample: step.part }),
        );
      case 'counterfactuals': {
        const changed = without(task, removables(task)[step.part]);
        return 'code' in changed ? failed(changed) : this.#runTask(changed);
      }
    }
  }

  #runTask(task: BacktestTask): StepOutcome {
    return { kind: 'run', outcome: runOutcome(this.#context, task) };
  }

  #withBaseline(then: (baseline: CheckRun) => StepOutcome): StepOutcome {
    this.#baseline ??= simulateRun(this.#context, this.#context.task);
    return 'code' in this.#baseline ? { kind: 'failed', error: this.#baseline } : then(this.#baseline);
  }

  /** The backtest before its simulation, with the rows that it evaluates. */
  #prepare(): PreparedRun | RunError {
    if (this.#prepared === undefined) {
      const prepared = prepareRun(this.#context.task, this.#context.market, this.#context.store, false);
      this.#prepared = prepared.ok ? prepared : prepared.error;
    }
    return this.#prepared;
  }

  #bootstrap(sample: number): StepOutcome {
    const prepared = this.#prepare();
    if ('code' in prepared) return { kind: 'failed', error: prepared };
    const { spec, market } = this.#context;
    const { end } = prepared.input;
    if (end < 2) return { kind: 'skipped' };
    const blockBars = spec.blockBars ?? defaultBlockBars(end);
    const made = bootstrapMarket(market, { end, blockBars, seed: spec.seed, sample });
    return { kind: 'run', outcome: runOutcome(this.#context, this.#context.task, made) };
  }

  /** The backtest without finer bars: drawn histories have none either. */
  #onBaseBars(): StepOutcome {
    const { task, market } = this.#context;
    const made = market.fine === undefined ? market : { ...market, fine: undefined };
    return { kind: 'run', outcome: runOutcome(this.#context, task, made) };
  }

  /** Starts that many bars after the first signal that was traded: an earlier start changes nothing. */
  #shifted(shift: number): StepOutcome {
    return this.#withBaseline((baseline) => {
      const { start, end, bars: base } = baseline.prepared.input;
      const first = firstSignalBars(baseline) ?? 0;
      // A shift that leaves out a fifth of the bars is another backtest.
      if (shift * 5 > end - start - first) return { kind: 'skipped' };
      const bars = first + shift;
      const outcome = runOutcome(this.#context, startingAt(this.#context.task, base.time[start + bars]));
      return { kind: 'run', outcome, bars };
    });
  }
}

const failed = (error: RunError): StepOutcome => ({ kind: 'run', outcome: { ok: false, error } });
