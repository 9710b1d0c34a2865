// The result of a robustness check: what each analysis found, and what it means in plain words.
import type { RunError } from '../task.ts';
import { defaultBlockBars } from './bootstrapMarket.ts';
import type { CostStress, RobustnessAnalyses, RunOrError, SampledRuns } from './analyses.ts';
import { distributionOf, shareOf } from './distribution.ts';
import { boundsOf, type Bound } from './robustBounds.ts';
import { findingsOf, type Finding } from './findings.ts';
import { deflationOf, type Lineage } from './lineage.ts';
import { jitteredNumbers } from './parameterJitter.ts';
import type { RobustnessAnalysis } from './robustnessRequest.ts';
import type { RobustnessJob, RunNumbers } from './checkRuns.ts';
import { stepsOf, type StepOutcome } from './robustnessSteps.ts';
import { verdictOf, type RobustnessVerdict } from './robustnessVerdict.ts';
import { feeLevels, removables, slippageLevels, type StressLevel } from './stress.ts';

export interface RobustnessResult extends RobustnessAnalyses {
  readonly verdict: RobustnessVerdict;
  /** The worst first. */
  readonly findings: readonly Finding[];
  /** What a robust result must keep, with its numbers. */
  readonly bounds: readonly Bound[];
}

/**
 * @param lineage what is known of earlier tries
 * @returns the error of the backtest itself when it could not be run. */
export function robustnessResult(
  job: RobustnessJob,
  outcomes: readonly StepOutcome[],
  lineage: Lineage,
): RobustnessResult | RunError {
  const steps = stepsOf(job);
  const [first] = outcomes;
  if (first.kind === 'failed') return first.error;
  if (first.kind !== 'baseline') return unexpected(first);
  const baseline = first.run;
  const { task, spec } = job;
  const of = (analysis: RobustnessAnalysis): StepOutcome[] =>
    outcomes.filter((_, at) => steps[at].analysis === analysis);
  const results: { readonly [Analysis in RobustnessAnalysis]: () => RobustnessAnalyses[Analysis] } = {
    lookAheadAudit: () => valueOf('lookAheadAudit', of('lookAheadAudit')[0]),
    warmUpAudit: () => valueOf('warmUpAudit', of('warmUpAudit')[0]),
    monteCarlo: () => valueOf('monteCarlo', of('monteCarlo')[0]),
    blockBootstrap: () => ({
      blockBars: spec.blockBars ?? defaultBlockBars(first.bars),
      ...sampledRuns(of('blockBootstrap').slice(1), runOf(of('blockBootstrap')[0])),
    }),
    feeStress: () => costStress(baseline, feeLevels(task), of('feeStress')),
    slippageStress: () => costStress(baseline, slippageLevels(task), of('slippageStress')),
    startShift: () => ({
      shifts: of('startShift').flatMap((outcome) => {
        const run = runOf(outcome);
        return run === null || outcome.kind !== 'run' ? [] : [{ bars: outcome.bars!, ...run }];
      }),
    }),
    parameterJitter: () => {
      const numbers = jitteredNumbers(task, spec.jitterPercent);
      if (numbers.length === 0) return null;
      return {
        ...sampledRuns(of('parameterJitter'), baseline),
        numbers: numbers.map(({ name, value, low, high }) => ({ name, value, low, high })),
      };
    },
    counterfactuals: () => {
      const parts = removables(task);
      return of('counterfactuals').map((outcome, at) => ({ without: parts[at], ...runOrError(outcome) }));
    },
  };
  const analyses = Object.fromEntries([...new Set(spec.analyses)].map((analysis) => [analysis, results[analysis]()]));
  const { sample: _sample, firstSignalBars: _first, ...evidence } = first.evidence;
  const luck = deflationOf(lineage, spec.trials, baseline, first.evidence);
  const found = { seed: spec.seed, baseline, evidence, luck, ...analyses };
  const bounds = boundsOf(found);
  const findings = findingsOf(found, bounds);
  return { verdict: verdictOf(found, findings, bounds), findings, bounds, ...found };
}

function unexpected({ kind }: StepOutcome): never {
  throw new Error(`A step gave ${kind}.`);
}

/** What the only step of an analysis found. */
function valueOf<Analysis extends 'lookAheadAudit' | 'warmUpAudit' | 'monteCarlo'>(
  analysis: Analysis,
  outcome: StepOutcome,
): RobustnessAnalyses[Analysis] {
  if (outcome.kind !== analysis || !('value' in outcome)) return unexpected(outcome);
  return outcome.value as RobustnessAnalyses[Analysis];
}

const runOf = (outcome: StepOutcome): RunNumbers | null =>
  outcome.kind === 'run' && outcome.outcome.ok ? outcome.outcome.run : null;

function runOrError(outcome: StepOutcome): RunOrError {
  if (outcome.kind === 'failed') return { error: outcome.error };
  if (outcome.kind !== 'run') return unexpected(outcome);
  return outcome.outcome.ok ? outcome.outcome.run : { error: outcome.outcome.error };
}

function sampledRuns(outcomes: readonly StepOutcome[], original: RunNumbers | null): SampledRuns {
  const runs = outcomes.map(runOf).filter((run) => run !== null);
  const column = (key: keyof RunNumbers): (number | null)[] => runs.map((run) => run[key]);
  return {
    original,
    runs: runs.length,
    failed: outcomes.length - runs.length,
    returnPct: distributionOf(column('returnPct')),
    excessReturnPct: distributionOf(column('excessReturnPct')),
    sharpeRatio: distributionOf(column('sharpeRatio')),
    maxDrawdown: distributionOf(column('maxDrawdown')),
    lossProbability: shareOf(column('returnPct'), (value) => value < 0),
  };
}

function costStress(
  baseline: RunNumbers,
  levels: readonly StressLevel[],
  outcomes: readonly StepOutcome[],
): CostStress {
  const rows = levels.flatMap((level, at) => {
    const run = runOf(outcomes[at]);
    return run === null ? [] : [{ ...level, ...run }];
  });
  const own: StressLevel = levels.some((level) => 'bps' in level) ? { bps: 0 } : { multiplier: 1 };
  return { levels: rows, breakEven: breakEvenOf([...rows, { ...own, ...baseline }]) };
}

/** Where the return first falls to zero as the cost rises, by linear interpolation; null: it does not. */
function breakEvenOf(rows: CostStress['levels']): number | null {
  const points = rows
    .map((row) => ({ cost: 'bps' in row ? row.bps : row.multiplier, gain: row.returnPct ?? NaN }))
    .sort((a, b) => a.cost - b.cost);
  for (let at = 1; at < points.length; at++) {
    const [low, high] = [points[at - 1], points[at]];
    if (low.gain > 0 && high.gain <= 0) return low.cost + ((high.cost - low.cost) * low.gain) / (low.gain - high.gain);
  }
  return null;
}
