// The ready version that a run is asked for by its id; agents often send the id of its strategy.
import type { Queryable } from '../../db/connect.ts';
import { findStrategy, type Strategy } from '../../db/strategies.ts';
import { findVersion, type StrategyVersion } from '../../db/strategyVersions.ts';
import { problem, type ProblemError } from '../http/problems.ts';
import { requireReady } from './backtestChecks.ts';

/** @throws NOT_FOUND, which names the ready version where `id` is that of a strategy; STRATEGY_VERSION_NOT_READY */
export async function findReady(sql: Queryable, workspaceId: string, id: string): Promise<StrategyVersion> {
  const version = await findVersion(sql, workspaceId, id);
  const strategy = version === undefined ? await findStrategy(sql, workspaceId, id) : undefined;
  if (strategy === undefined) return requireReady(version, id);
  throw isStrategyId(id, strategy);
}

/** Ids of a batch that are looked up; a batch with more mistaken ids has the same mistake again. */
const MAX_EXPLAINED = 20;

/** @returns the refusals of those `ids`, which no version has, that are ids of strategies */
export async function explainUnknown(
  sql: Queryable,
  workspaceId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, ProblemError>> {
  const explained = new Map<string, ProblemError>();
  for (const id of ids.slice(0, MAX_EXPLAINED)) {
    const strategy = await findStrategy(sql, workspaceId, id);
    if (strategy !== undefined) explained.set(id, isStrategyId(id, strategy));
  }
  return explained;
}

function isStrategyId(id: string, { versions }: Strategy): ProblemError {
  const ready = versions.findLast(({ status }) => status === 'ready');
  return problem('NOT_FOUND', {
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
