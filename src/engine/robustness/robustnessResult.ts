// The result of a robustness check: what each analysis found, what it means in plain words, the bounds that a robust
// result must keep, and the verdict (docs/robustness.md).
import type { RunError } from '../task.ts';
import { ANALYSES, type ResultsOfAnalyses } from './analyses/registeredAnalyses.ts';
import { unexpected } from './analyses/partOutcomes.ts';
import { bound, type Bound } from './bound.ts';
import { percent, type Finding } from './finding.ts';
import { findingsOf, CODES_OF_LUCK, CODES_OF_DOUBT } from './findings.ts';
import type { RobustnessAnalyses } from './findings.ts';
import { deflationOf, isLuck, type Lineage } from './lineage.ts';
import type { RobustnessJob } from './robustnessRequest.ts';
import { partOf, stepsOf, type StepOutcome } from './robustnessSteps.ts';
import { FEW_POSITIONS } from '../report/diagnosis.ts';
import { MIN_DEFLATED } from '../sweep/verdict.ts';

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

/** Below this many trades, quantiles of Student's t are more than 4 % beyond those of the normal distribution. */
const MIN_TRADES = FEW_POSITIONS;
const MAX_OPEN_SHARE = 0.5;
const MIN_PLATEAU = 0.5;

/** Every bound that applies to the backtest, whether or not its analysis was requested. */
export function boundsOf(found: RobustnessAnalyses): Bound[] {
  const { evidence, luck, baseline } = found;
  const plateau = luck.sweeps.find(({ rank }) => rank !== null)?.plateau;
  return [
    bound('independentTrades', null, evidence.independentTrades, '>=', MIN_TRADES),
    bound('openProfitShare', null, evidence.openProfitShare, '<=', MAX_OPEN_SHARE),
    bound('deflatedSharpe', null, luck.deflatedSharpe, '>=', MIN_DEFLATED),
    bound('sweepsCallingItLuck', null, luck.sweeps.filter(isLuck).length, '<=', 0),
    ...(plateau == null ? [] : [bound('sweepPlateau', null, plateau, '>=', MIN_PLATEAU)]),
    ...ANALYSES.flatMap((analysis) => analysis.boundsOf(found[analysis.name], baseline)),
  ];
}

interface RobustnessVerdict {
  /**
   * `broken`: it looks ahead; `unprofitable`: there is no gain to defend; `luck`: so many tries explain it, or its
   * sweep calls it luck; `fragile`: a bound is broken; `inconclusive`: not enough to tell; `robust`: every bound holds.
   */
  readonly code: 'broken' | 'unprofitable' | 'luck' | 'fragile' | 'inconclusive' | 'robust';
  readonly text: string;
}

/** The worst that any finding says. */
export function verdictOf(
  { baseline }: Pick<RobustnessAnalyses, 'baseline'>,
  findings: readonly Finding[],
  bounds: readonly Bound[],
): RobustnessVerdict {
  const [error] = findings.filter(({ severity }) => severity === 'error');
  if (error !== undefined) return { code: 'broken', text: `Do not use this result. ${error.message}` };
  const gain = baseline.returnPct ?? 0;
  if (!(gain > 0)) {
    const earned = gain === 0 ? 'earns nothing' : `loses ${gain > -0.0005 ? 'less than 0.1 %' : percent(-gain)}`;
    return { code: 'unprofitable', text: `The backtest ${earned}: there is no gain whose robustness could be tested.` };
  }
  const warnings = findings.filter(({ severity }) => severity === 'warning');
  const luck = warnings.filter(({ code }) => CODES_OF_LUCK.has(code));
  const doubts = warnings.filter(({ code }) => CODES_OF_DOUBT.has(code));
  const weaknesses = warnings.filter((finding) => !luck.includes(finding) && !doubts.includes(finding));
  if (luck.length > 0) return { code: 'luck', text: `Treat this result as luck. ${luck[0].message}` };
  if (weaknesses.length > 0) {
    const { length } = weaknesses;
    const count = length === 1 ? 'One weakness found.' : `${length} weaknesses found; this is the first.`;
    return { code: 'fragile', text: `${count} ${weaknesses[0].message}` };
  }
  const unmet = bounds.filter(({ passed }) => passed !== true).map(({ name }) => name);
  if (doubts.length > 0 || unmet.length > 0) {
    const reasons = doubts.map(({ message }) => message).join(' ');
    return {
      code: 'inconclusive',
      text: `Not enough to tell. ${reasons === '' ? `Bounds that do not hold: ${unmet.join(', ')}.` : reasons}`,
    };
  }
  const count = findings.length === 1 ? 'One finding' : `${findings.length} findings`;
  const remarks = findings.length === 0 ? '' : ` ${count} of severity info should be read.`;
  return { code: 'robust', text: `All ${bounds.length} bounds hold.${remarks}` };
}
