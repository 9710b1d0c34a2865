// Ready versions: the only ones that backtests and sweeps run.
import type { StrategyVersion } from '../../db/strategyVersions.ts';
import { notFound } from '../http/routeSchemas.ts';
import { problem } from '../http/problems.ts';

/** @throws NOT_FOUND, STRATEGY_VERSION_NOT_READY */
export function requireReady(version: StrategyVersion | undefined, id: string): StrategyVersion {
  if (version === undefined) throw notFound('strategy version', id);
  if (version.status !== 'ready')
    throw problem('STRATEGY_VERSION_NOT_READY', {
      message: `Version ${version.version} of the strategy is a draft; finalize it first.`,
      extras: { nextSteps: [`POST /public/v1/strategies/${version.strategyId}/versions/finalize`] },
    });
  return version;
}
