// Acceptance of robustness checks: whether the backtest can be checked, and the shards the check is run in.
import type { Queryable } from '../../db/connect.ts';
import { findCheckedBacktest, type CheckedBacktest } from '../../db/robustness.ts';
import { findVersions, strategyOf } from '../../db/strategyVersions.ts';
import type { NewSweep } from '../../db/sweeps.ts';
import { estimateBacktest, isPortfolio, runCountOf, stepsOf, symbolsOf } from '../../engine/index.ts';
import type { BacktestConfig, RobustnessJob, RobustnessSpec } from '../../engine/index.ts';
import { TIER_LIMITS, type Tier } from '../../tiers.ts';
import type { Caller } from '../http/auth/authentication.ts';
import { problem } from '../http/problems.ts';
import { notFound } from '../http/routeSchemas.ts';
import { barsOfWork, COST_PER_RUN, COST_PER_SHARD } from './backtestCost.ts';

/**
 * Checks the request.
 * @returns what is stored of it
 * @throws NOT_FOUND, TIER_LIMIT_REACHED
 */
export async function acceptCheck(
  sql: Queryable,
  caller: Caller,
  backtestId: string,
  robustness: RobustnessSpec,
): Promise<NewSweep> {
  const backtest = await requireCheckable(sql, caller.workspaceId, backtestId);
  const [version] = await findVersions(sql, caller.workspaceId, [backtest.strategyVersionId]);
  if (version === undefined) throw notFound('strategy version', backtest.strategyVersionId);
  const config = backtest.config as BacktestConfig;
  const job: RobustnessJob = {
    task: { id: backtestId, ...strategyOf(version), config },
    spec: robustness,
  };
  const runs = runCountOf(job);
  refuseManyRuns(runs, caller.tier);
  const stepCount = stepsOf(job).length;
  return {
    backtestId,
    strategyId: backtest.strategyId,
    strategyVersionId: backtest.strategyVersionId,
    spec: { config, robustness },
    markets: [marketOf(config, backtest.snapshots)],
    variants: runs,
    indexes: stepCount,
    shards: stepShards(job, stepCount, costPerRun(job, backtest.bars)),
  };
}

async function requireCheckable(sql: Queryable, workspaceId: string, backtestId: string): Promise<CheckedBacktest> {
  const backtest = await findCheckedBacktest(sql, workspaceId, backtestId);
  if (backtest === undefined) throw notFound('backtest', backtestId);
  if (backtest.status === 'completed') return backtest;
  throw problem('NOT_FOUND', {
    message: `The backtest is ${backtest.status}; only the robustness of a completed one can be checked.`,
  });
}

function refuseManyRuns(runs: number, tier: Tier): void {
  const limit = TIER_LIMITS[tier].sweepVariants;
  if (runs <= limit) return;
  const advice = 'Ask for fewer samples or fewer analyses.';
  throw problem('TIER_LIMIT_REACHED', {
    message: `This check takes ${runs} runs; the ${tier} tier allows ${limit}. ${advice}`,
    extras: { limitName: 'sweepVariants', limit, usage: runs },
  });
}

/** What the runs of a check read: the bars of one instrument, or of all instruments of a portfolio. */
function marketOf(config: BacktestConfig, snapshots: readonly string[]): NewSweep['markets'][number] {
  const symbols = symbolsOf(config);
  const { timeframe } = config;
  return isPortfolio(config) ? { symbols, timeframe, snapshots } : { symbol: symbols[0], timeframe, snapshots };
}

/**
 * In bars of work. Another series of the strategy is taken to have as many bars as the one that it trades, and each
 * instrument of a portfolio to have a bar at every instant.
 */
function costPerRun({ task }: RobustnessJob, bars: number): number {
  const estimate = estimateBacktest(task, () => bars);
  return bars * symbolsOf(task.config).length + barsOfWork(estimate?.ns ?? 0) + COST_PER_RUN;
}

/** Consecutive steps of some tenths of a second together. */
function stepShards(job: RobustnessJob, stepCount: number, costPerRun: number): NewSweep['shards'] {
  const size = Math.max(1, Math.floor(COST_PER_SHARD / costPerRun));
  return Array.from({ length: Math.ceil(stepCount / size) }, (_, shard) => {
    const first = shard * size;
    const last = Math.min(stepCount, first + size);
    return { first, last, cost: costPerRun * runCountOf(job, { first, last }) };
  });
}
