// What a robustness check has found: the baseline, its evidence and its lineage, and the result of each analysis.
import type { ResultsOfAnalyses } from './analyses/registeredAnalyses.ts';
import type { RunNumbers } from './checkRuns.ts';
import type { Evidence } from './evidence.ts';
import type { Deflation } from './lineage.ts';

/** The analyses that were requested; the others are absent. */
export interface RobustnessAnalyses extends ResultsOfAnalyses {
  readonly seed: number;
  readonly baseline: RunNumbers;
  readonly evidence: Omit<Evidence, 'sample' | 'firstSignalBars'>;
  readonly luck: Deflation;
}
