// The ready version that a run is asked for by its id; agents often send the id of its strategy.
import type { Queryable } from '../../db/connect.ts';
import { findStrategy } from '../../db/strategies.ts';
import { findVersion, type StrategyVersion } from '../../db/strategyVersions.ts';
import { problem } from '../http/problems.ts';
import { requireReady } from './backtestChecks.ts';

/** @throws NOT_FOUND, which names the ready version where `id` is that of a strategy; STRATEGY_VERSION_NOT_READY */
export async function findReady(sql: Queryable, workspaceId: string, id: string): Promise<StrategyVersion> {
  const version = await findVersion(sql, workspaceId, id);
  const strategy = version === undefined ? await findStrategy(sql, workspaceId, id) : undefined;
  if (strategy === undefined) return requireReady(version, id);
  const ready = strategy.versions.findLast(({ status }) => status === 'ready');
  throw problem('NOT_FOUND', {
    message:
      `${id} is the id of a strategy, and a strategyVersionId is that of one of its versions. ` +
      (ready === undefined
        ? 'None of its newest versions is ready; finalize one first.'
        : `Its newest ready version, number ${ready.version}, is ${ready.id}.`),
    extras: {
      nextSteps: [
        ready === undefined
          ? `POST /public/v1/strategies/${id}/versions/finalize`
          : `Send strategyVersionId ${ready.id}`,
      ],
    },
  });
}
