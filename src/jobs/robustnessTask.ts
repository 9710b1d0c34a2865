// Robustness checks as the sweep task runs them: a claim as a job of the engine, and the outcomes of its parts as they
// are stored.
import type { Queryable } from '../db/connect.ts';
import type { RunnableVersion } from '../db/claims.ts';
import { lineageOf } from '../db/robustness.ts';
import { strategyOf } from '../db/strategyVersions.ts';
import type { ShardClaim } from '../db/sweepShards.ts';
import { isPortfolio, resolveConfig, robustnessResult } from '../engine/index.ts';
import type {
  BacktestConfig,
  Lineage,
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

/** The result of the stored parts, in their order, in the light of what the workspace has tried. */
export async function robustnessResultOf(
  sql: Queryable,
  claim: ShardClaim,
  job: RobustnessJob,
  parts: readonly Uint8Array[],
): Promise<RobustnessResult | RunError> {
  return robustnessResult(
    job,
    parts.flatMap((bytes) => JSON.parse(Buffer.from(bytes).toString()) as StepOutcome[]),
    await readLineage(sql, claim, job),
  );
}

/**
 * A backtest is of a sweep when it runs the same version on bars that the sweep has seen, and both run portfolios or
 * neither does.
 */
async function readLineage(sql: Queryable, claim: ShardClaim, { task }: RobustnessJob): Promise<Lineage> {
  const { trials, sweeps } = await lineageOf(sql, claim);
  return {
    trials,
    sweeps: sweeps.map(({ id, strategyVersionId, config, verdict, overfitting, top }) => ({
      name: id,
      isOfBacktest: strategyVersionId === claim.strategyVersionId && isAlike(config as BacktestConfig, task.config),
      verdict,
      overfitting,
      top,
    })),
  };
}

function isAlike(a: BacktestConfig, b: BacktestConfig): boolean {
  const configs = [resolveConfig(a), resolveConfig(b)] as const;
  const [one, other] = configs.map(({ range }) => range);
  const overlaps =
    (one.start ?? -Infinity) < (other.end ?? Infinity) && (other.start ?? -Infinity) < (one.end ?? Infinity);
  return overlaps && isPortfolio(configs[0]) === isPortfolio(configs[1]);
}
