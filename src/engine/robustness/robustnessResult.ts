// The result of a robustness check: what each analysis found, and what it means in plain words.
import type { RunError } from '../task.ts';
import { ANALYSES, type ResultsOfAnalyses } from './analyses/registeredAnalyses.ts';
import { unexpected } from './analyses/partOutcomes.ts';
import type { Bound } from './bound.ts';
import type { Finding } from './finding.ts';
import { findingsOf } from './findings.ts';
import type { RobustnessAnalyses } from './foundAnalyses.ts';
import { deflationOf, type Lineage } from './lineage.ts';
import { boundsOf } from './robustBounds.ts';
import type { RobustnessJob } from './robustnessRequest.ts';
import { partOf, stepsOf, type StepOutcome } from './robustnessSteps.ts';
import { verdictOf, type RobustnessVerdict } from './robustnessVerdict.ts';

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
  const ended = { task, spec, baseline, bars: first.bars };
  const results = [...new Set(spec.analyses)].map((name) => {
    const parts = outcomes.flatMap((outcome, at) => (steps[at].analysis === name ? [partOf(outcome, name)] : []));
    const analysis = ANALYSES.find((each) => each.name === name)!;
    return [name, analysis.resultOf({ ...ended, outcomes: parts })] as const;
  });
  // Each member is the result of the analysis of its name.
  const analyses = Object.fromEntries(results) as ResultsOfAnalyses;
  const { sample: _sample, firstSignalBars: _first, ...evidence } = first.evidence;
  const luck = deflationOf(lineage, spec.trials, baseline, first.evidence);
  const found = { seed: spec.seed, baseline, evidence, luck, ...analyses };
  const bounds = boundsOf(found);
  const findings = findingsOf(found, bounds);
  return { verdict: verdictOf(found, findings, bounds), findings, bounds, ...found };
}
