// The registry of robustness analyses: requests, steps, results, findings, bounds and reports iterate it.
import type { Analysis } from './analysis.ts';
import { blockBootstrapAnalysis } from './blockBootstrap.ts';
import { counterfactualsAnalysis } from './counterfactuals.ts';
import { feeStressAnalysis } from './feeStress.ts';
import { lookAheadAnalysis } from './lookAheadAudit.ts';
import { monteCarloAnalysis } from './monteCarlo.ts';
import { parameterJitterAnalysis } from './parameterJitter.ts';
import { slippageStressAnalysis } from './slippageStress.ts';
import { startShiftAnalysis } from './startShift.ts';
import { warmUpAnalysis } from './warmUpAudit.ts';

/** In the order in which they run, and in which findings, bounds and rows of reports stand. */
const REGISTERED = [
  lookAheadAnalysis,
  warmUpAnalysis,
  monteCarloAnalysis,
  blockBootstrapAnalysis,
  feeStressAnalysis,
  slippageStressAnalysis,
  startShiftAnalysis,
  parameterJitterAnalysis,
  counterfactualsAnalysis,
] as const;
type Registered = (typeof REGISTERED)[number];
export type RobustnessAnalysis = Registered['name'];

/** The result of each analysis; absent: it was not requested. */
export type ResultsOfAnalyses = {
  readonly [Member in Registered as Member['name']]?: ReturnType<Member['resultOf']>;
};

/** Each with results of its own type: what is passed to an analysis comes from the same one. */
export const ANALYSES: readonly (Analysis<unknown> & { readonly name: RobustnessAnalysis })[] = REGISTERED;
export const ROBUSTNESS_ANALYSES: readonly RobustnessAnalysis[] = ANALYSES.map(({ name }) => name);
