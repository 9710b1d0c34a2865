// Robustness checks as the sweep task runs them: a claim as a job of the engine, and the outcomes of its parts as they
// are stored.
import type { RunnableVersion } from '../db/claims.ts';
import { strategyOf } from '../db/strategyVersions.ts';
import type { ShardClaim } from '../db/sweepShards.ts';
import { robustnessResult } from '../engine/index.ts';
import type {
  BacktestConfig,
  RobustnessJob,
  RobustnessResult,
  RobustnessSpec,
  RunError,
  StepOutcome,
} from '../engine/index.ts';

/** What is stored of a check in place of the request of a sweep. */
interface StoredCheck {
  readonly config: BacktestConfig;
  readonly robustness: RobustnessSpec;
}

/** What is stored was checked when it was accepted. */
export function robustnessJobOf(claim: ShardClaim, version: RunnableVersion): RobustnessJob {
  const { config, robustness } = claim.spec as StoredCheck;
  return {
    task: { id: claim.backtestId!, ...strategyOf(version), config },
    spec: robustness,
  };
}

export const encodeOutcomes = (outcomes: readonly StepOutcome[]): Uint8Array => Buffer.from(JSON.stringify(outcomes));

/** The result of the stored parts, in their order. */
export function robustnessResultOf(job: RobustnessJob, parts: readonly Uint8Array[]): RobustnessResult | RunError {
  return robustnessResult(
    job,
    parts.flatMap((bytes) => JSON.parse(Buffer.from(bytes).toString()) as StepOutcome[]),
  );
}
