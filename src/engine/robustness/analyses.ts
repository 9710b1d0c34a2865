// The result of each analysis of a robustness check.
import type { RunError } from '../task.ts';
import type { Distribution } from './distribution.ts';
import type { LookAheadAudit } from './lookAheadAudit.ts';
import type { Evidence } from './evidence.ts';
import type { Deflation } from './lineage.ts';
import type { MonteCarlo } from './monteCarlo.ts';
import type { Jittered } from './parameterJitter.ts';
import type { RunNumbers } from './checkRuns.ts';
import type { Removable, StressLevel } from './stress.ts';
import type { WarmUpAudit } from './warmUpAudit.ts';

/** Runs of random variations: how their numbers are distributed, and how many could not be run. */
export interface SampledRuns {
  /** The run that is varied, measured as its variations are; null: it could not be run. */
  readonly original: RunNumbers | null;
  readonly runs: number;
  readonly failed: number;
  readonly returnPct: Distribution;
  readonly excessReturnPct: Distribution;
  readonly sharpeRatio: Distribution;
  readonly maxDrawdown: Distribution;
  /** Share of the runs that lose money. */
  readonly lossProbability: number | null;
}
export interface CostStress {
  readonly levels: readonly (StressLevel & RunNumbers)[];
  /**
   * The multiple, or the bps, at which the return reaches zero, by linear interpolation; null: not within the levels.
   */
  readonly breakEven: number | null;
}
/** A run, or why there is none. */
export type RunOrError = RunNumbers | { readonly error: RunError };

/** The analyses that were requested; the others are absent. */
export interface RobustnessAnalyses {
  readonly seed: number;
  readonly baseline: RunNumbers;
  readonly evidence: Omit<Evidence, 'sample' | 'firstSignalBars'>;
  readonly luck: Deflation;
  readonly lookAheadAudit?: LookAheadAudit;
  readonly warmUpAudit?: WarmUpAudit;
  /** null: fewer than two positions. */
  readonly monteCarlo?: MonteCarlo | null;
  readonly blockBootstrap?: SampledRuns & { readonly blockBars: number };
  readonly feeStress?: CostStress;
  readonly slippageStress?: CostStress;
  /** Counted from the start; each leaves out the first trade, because an earlier one could change nothing. */
  readonly startShift?: { readonly shifts: readonly ({ readonly bars: number } & RunNumbers)[] };
  /** null: the strategy has no number to move. */
  readonly parameterJitter?: (SampledRuns & { readonly numbers: readonly JitteredNumber[] }) | null;
  readonly counterfactuals?: readonly ({ readonly without: Removable } & RunOrError)[];
}
type JitteredNumber = Pick<Jittered, 'name' | 'value' | 'low' | 'high'>;
